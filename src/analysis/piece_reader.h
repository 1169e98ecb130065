// SPDX-License-Identifier: MIT
/*
 * Reads the chosen processes of a trace with all cores, into a profile for each:
 * private to analyzer.c.
 *
 *     struct cunei_piece_reader reader = {.options = …, .finish = …, .damage = …};
 *     int rc = cunei_piece_reader_init(&reader, &trace);
 *     if (rc == 0)
 *         rc = cunei_piece_reader_run(&reader);
 *     cunei_piece_reader_fini(&reader);
 *
 * Pieces are taken in order, so that few processes are in memory at a time.
 */
#ifndef CUNEI_ANALYSIS_PIECE_READER_H
#define CUNEI_ANALYSIS_PIECE_READER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analysis.h"
#include "model/facts/event_count.h"
#include "model/profile/profile.h"
#include "trace/directory/pieces.h"

/* What was read from a piece, besides the profile. */
struct cunei_piece_facts {
    struct cunei_piece span;
    struct cunei_event_count definitions;
};

/* A process that is being read. */
struct cunei_read_process {
    const struct cunei_trace_process *process;
    size_t first_piece, piece_count;
    size_t left; /* pieces that are not yet in `profile` */
    struct cunei_profile profile;
    bool has_profile;
};

struct cunei_piece_reader {
    /* Set by the caller. */
    const struct cunei_analysis_options *options;
    void *context;
    /* All pieces of a process are read; one call at a time. */
    int (*finish)(void *context, struct cunei_piece_reader *reader,
                  struct cunei_read_process *process);
    /* A piece is damaged; not while `finish` runs. */
    void (*damage)(void *context, const struct cunei_trace_error *error);

    struct cunei_read_process *processes; /* owned, as the next two */
    size_t process_count;
    struct cunei_trace_pieces pieces; /* `process` is an index of `processes` */
    struct cunei_piece_facts *facts;  /* by piece */

    /* Private. */
    struct cunei_piece_worker *workers; /* owned */
    unsigned worker_count;
    uint64_t total_bytes;
    _Atomic uint64_t done_bytes;
    pthread_mutex_t lock; /* of profiles, `left`, and around the caller's functions */
};

int cunei_piece_reader_init(struct cunei_piece_reader *reader,
                            const struct cunei_trace *trace);
int cunei_piece_reader_run(struct cunei_piece_reader *reader);
void cunei_piece_reader_fini(struct cunei_piece_reader *reader);

#endif
