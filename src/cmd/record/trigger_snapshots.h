// SPDX-License-Identifier: MIT
/*
 * Snapshots that triggers make of a recording: when, where, and what is said of them.
 *
 *     struct cunei_trigger_snapshots snapshots = {.options = &options, …};
 *     const struct cunei_trigger_listener listener =
 *         {cunei_trigger_snapshots_fired, NULL, &snapshots};
 *     … after each poll of a watch (trigger/watch.h) …
 *     cunei_trigger_snapshots_make(&snapshots, is_last);
 *     …
 *     cunei_trigger_snapshots_finish(&snapshots);
 *     cunei_trigger_snapshots_fini(&snapshots);
 *
 * Nothing here prints: it may run in a thread of a launcher whose program owns stderr.
 */
#ifndef CUNEI_CMD_RECORD_TRIGGER_SNAPSHOTS_H
#define CUNEI_CMD_RECORD_TRIGGER_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "trigger/causes.h"
#include "trigger/limits.h"

struct cunei_buffer;
struct cunei_trigger_firing;
struct cunei_trigger_options;

struct cunei_trigger_snapshots {
    const struct cunei_trigger_options *options; /* borrowed, as the next two */
    const char *trace;
    const char *shown;   /* the trace as the user named it */
    uint64_t last_ns;    /* how much of it; 0: all that is kept */
    uint64_t ring_bytes; /* that a process may keep, which must be free on the disk */
    /* A sentence about a snapshot, made or failed. */
    void (*say)(void *context, const char *sentence);
    void *context;
    struct cunei_causes causes; /* of the next one … */
    uint64_t since_ns;          /* … since then, monotonic */
    struct cunei_snapshot_tally tally;
};

/* For a struct cunei_trigger_listener. */
void cunei_trigger_snapshots_fired(void *context,
                                   const struct cunei_trigger_firing *firing);

/* Make one if triggers have fired, and what fires together with them has had time to;
 * or, with `is_last`, at once. */
void cunei_trigger_snapshots_make(struct cunei_trigger_snapshots *snapshots,
                                  bool is_last);

/* Say what the limits did not let through. */
void cunei_trigger_snapshots_finish(struct cunei_trigger_snapshots *snapshots);
void cunei_trigger_snapshots_fini(struct cunei_trigger_snapshots *snapshots);

#endif
