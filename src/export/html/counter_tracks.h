// SPDX-License-Identifier: MIT
/*
 * How the counters of a page went: of each what it stood at when, thinned out so that
 * its extremes stay.
 *
 *     struct cunei_counter_tracks tracks = {.duration_ns = …};
 *     for each process:
 *         cunei_counter_tracks_add(&tracks, counter, time_ns, number);   in any order
 *         cunei_counter_tracks_end(&tracks, process);
 *     … tracks.text …
 *     cunei_counter_tracks_fini(&tracks);
 */
#ifndef CUNEI_EXPORT_HTML_COUNTER_TRACKS_H
#define CUNEI_EXPORT_HTML_COUNTER_TRACKS_H

#include <stdint.h>

#include "base/buffer.h"

#define CUNEI_TRACKS_MAX 64u /* on a page */

struct cunei_trace_process;
struct cunei_track;

struct cunei_counter_tracks {
    uint64_t duration_ns;
    struct cunei_buffer text; /* {"pid":…,"name":…,"points":[time,number,…]},… */
    uint64_t left_out;        /* events of counters that have no track */

    /* Private. */
    struct cunei_track *items; /* owned: of the process */
    uint32_t count;
    uint32_t total; /* with those of earlier processes */
};

/* -ENOMEM, as of the next. */
int cunei_counter_tracks_add(struct cunei_counter_tracks *tracks, uint32_t counter,
                             uint64_t time_ns, double number);

/* All of a process has come. */
int cunei_counter_tracks_end(struct cunei_counter_tracks *tracks,
                             const struct cunei_trace_process *process);
void cunei_counter_tracks_fini(struct cunei_counter_tracks *tracks);

#endif
