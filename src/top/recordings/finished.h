// SPDX-License-Identifier: MIT
/*
 * A finished recording as it was at some moment of its life.
 *
 *     struct cunei_top_finished finished;
 *     rc = cunei_top_finished_open(&finished, path, NULL, &error);
 *     rc = cunei_top_finished_sum(&finished, finished.end_ns - CUNEI_NS_PER_S,
 * &analysis); … cunei_top_finished_close(&finished);
 *
 * Each sum reads the recording anew, with all cores.
 */
#ifndef CUNEI_TOP_RECORDINGS_FINISHED_H
#define CUNEI_TOP_RECORDINGS_FINISHED_H

#include "trace/directory/process_choice.h"
#include "trace/directory/trace.h"

struct cunei_analysis;
struct cunei_cut_options;

struct cunei_top_finished {
    struct cunei_trace trace;
    struct cunei_trace_choice choice;
    uint64_t begin_ns, end_ns;      /* wall clock: of the first event and the last */
    struct cunei_cut_options *cuts; /* private: owned, by process */
};

/* `word` chooses a process, and is borrowed; NULL: all.  Errors as from
 * cunei_trace_open, or -ENOMEM. */
int cunei_top_finished_open(struct cunei_top_finished *finished, const char *path,
                            const char *const *word, struct cunei_trace_error *error);
void cunei_top_finished_close(struct cunei_top_finished *finished);

/* Everything before that time; UINT64_MAX: all of it.  `has_all`: also lines, and what
 * the program records itself.  -ENOMEM, or of reading. */
int cunei_top_finished_sum(struct cunei_top_finished *finished, uint64_t until_ns,
                           bool has_all, struct cunei_analysis *analysis);

#endif
