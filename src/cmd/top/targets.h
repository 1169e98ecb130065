// SPDX-License-Identifier: MIT
/* What is to be watched: the words of the command line as recordings. */
#ifndef CUNEI_CMD_TOP_TARGETS_H
#define CUNEI_CMD_TOP_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "top/recordings/watch.h"

struct cunei_top_options;

struct cunei_top_target {
    char *path; /* owned: trace directory or folder of a process */
    char *real; /* owned: the same, without links */
    char *pid;  /* owned: of the process to watch; NULL: all */
};

struct cunei_top_targets {
    struct cunei_top_target *items; /* owned */
    size_t count;
};

/* What another target holds already is not watched twice.  -ENOMEM. */
int cunei_top_targets_add(struct cunei_top_targets *targets, const char *path,
                          const char *pid);
void cunei_top_targets_fini(struct cunei_top_targets *targets);

/* Whether a word begins a program rather than names a recording: it is not a pid, not a
 * trace, and not the name of a program that is being recorded. */
bool cunei_top_targets_is_program(const char *word);

/* Add what a word names: a pid, a trace directory, or the name of programs that are
 * being recorded.  Returns 0, or the exit status after an error message. */
int cunei_top_targets_find(struct cunei_top_targets *targets, const char *word);

/* Open them all.  Returns as above. */
int cunei_top_targets_open(const struct cunei_top_targets *targets,
                           const struct cunei_top_options *options,
                           struct cunei_top_watch *watch);

#endif
