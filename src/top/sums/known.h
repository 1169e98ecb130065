// SPDX-License-Identifier: MIT
/*
 * What a live view has seen so far: functions, ways through the call tree, threads and
 * the like.  Each has a number that stays the same from one sum to the next, also where
 * several recordings are shown together.
 *
 *     struct cunei_top_known known;
 *     cunei_top_known_init(&known);
 *     int64_t index = cunei_top_known_function(&known, function, process);
 *     …
 *     cunei_top_known_fini(&known);
 */
#ifndef CUNEI_TOP_SUMS_KNOWN_H
#define CUNEI_TOP_SUMS_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/facts/functions.h"
#include "top/sums/keys.h"

struct cunei_edges;
struct cunei_process;
struct cunei_tree;

/* How a function is called on the screen; texts are owned and safe to print. */
struct cunei_top_name {
    char *name;     /* qualified name */
    char *place;    /* file:line */
    char *class;    /* module.Class, or the module of a plain function */
    bool waits;     /* it only waits */
    bool is_region; /* the rest is neither a function nor a region */
    bool is_function;
};

struct cunei_top_known {
    struct cunei_functions functions; /* their texts are owned here */
    struct cunei_top_name *names;     /* owned: by the same index */
    uint32_t name_capacity;
    struct cunei_tree *tree; /* owned, as all: slots are indices of functions plus 1 */
    struct cunei_edges *edges;       /* the same */
    struct cunei_top_keys processes; /* by path */
    struct cunei_top_keys threads;   /* by process and serial number */
    uint64_t *thread_events;         /* by a thread's number: those of the last sum */
    uint32_t thread_event_count;
    struct cunei_top_keys raises; /* by function, line and type */
};

/* -ENOMEM. */
int cunei_top_known_init(struct cunei_top_known *known);
void cunei_top_known_fini(struct cunei_top_known *known);

/* The index of a function; files are shown relative to the directory of `home`, which
 * may be NULL.  -ENOMEM. */
int64_t cunei_top_known_function(struct cunei_top_known *known,
                                 const struct cunei_function *function,
                                 const struct cunei_process *home);

/* Its name; "?" for a number that no function has. */
const char *cunei_top_known_name(const struct cunei_top_known *known,
                                 uint32_t function);

#endif
