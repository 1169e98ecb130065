// SPDX-License-Identifier: MIT
/*
 * Recordings that are watched together.
 *
 *     struct cunei_top_watch watch = {0};
 *     struct cunei_top_recording *recording = cunei_top_watch_add(&watch);
 *     … cunei_top_recording_open(recording, …) …
 *     while ((rc = cunei_top_watch_poll(&watch)) > 0)
 *         rc = cunei_top_watch_sum(&watch, &known, now_ns, &sums);
 *     cunei_top_watch_fini(&watch);
 */
#ifndef CUNEI_TOP_RECORDINGS_WATCH_H
#define CUNEI_TOP_RECORDINGS_WATCH_H

#include <stddef.h>

#include "top/recordings/recording.h"

struct cunei_top_known;

struct cunei_top_watched {
    struct cunei_top_recording *recording; /* owned; it stays where it is */
};

struct cunei_top_watch {
    struct cunei_top_watched *items; /* owned */
    size_t count;
};

/* A recording that is to be opened; NULL: no memory. */
struct cunei_top_recording *cunei_top_watch_add(struct cunei_top_watch *watch);
void cunei_top_watch_fini(struct cunei_top_watch *watch);

/* As cunei_top_recording_pause, of each. */
void cunei_top_watch_pause(struct cunei_top_watch *watch, bool is_paused);

/* 2: more is there already, 1: more may come, 0: all have ended; negative errno. */
int cunei_top_watch_poll(struct cunei_top_watch *watch);

/* What all of them add up to; `now_ns` is the clock before the last poll.  The sums are
 * the caller's to release, also after -ENOMEM. */
int cunei_top_watch_sum(struct cunei_top_watch *watch, struct cunei_top_known *known,
                        uint64_t now_ns, struct cunei_top_sums *sums);

/* The same for one analysis of a recording. */
int cunei_top_watch_sum_one(const struct cunei_top_recording *recording,
                            const struct cunei_analysis *analysis,
                            struct cunei_top_known *known, uint64_t now_ns,
                            struct cunei_top_sums *sums);

#endif
