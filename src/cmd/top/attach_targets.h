// SPDX-License-Identifier: MIT
/*
 * Processes that are recorded for as long as top shows them.
 *
 *     struct cunei_top_attached attached = {0};
 *     status = cunei_top_attach(&attached, "4711", &options, &targets);
 *     …
 *     cunei_top_detach(&attached);
 */
#ifndef CUNEI_CMD_TOP_ATTACH_TARGETS_H
#define CUNEI_CMD_TOP_ATTACH_TARGETS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct cunei_attach_session;
struct cunei_attached_recording;
struct cunei_top_options;
struct cunei_top_targets;

struct cunei_top_attached {
    struct cunei_attach_session **items; /* owned, as what they point to */
    size_t count;
    struct cunei_attached_recording *recordings; /* owned: those that are on already */
    size_t recording_count;
    pthread_t thread; /* connects to forked processes */
    bool has_thread;
    atomic_bool is_ending;
};

/* Whether top has to attach to what a word names: a process that is not recorded. */
bool cunei_top_must_attach(const char *word);

/* Record it into a ring in a temporary directory, and add that to the targets; one that
 * is attached already is only watched.  Returns
 * 0, or the exit status after an error message. */
int cunei_top_attach(struct cunei_top_attached *attached, const char *word,
                     const struct cunei_top_options *options,
                     struct cunei_top_targets *targets);

/* Leave the processes as they were, and remove the directories. */
void cunei_top_detach(struct cunei_top_attached *attached);

#endif
