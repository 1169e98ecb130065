// SPDX-License-Identifier: MIT
/*
 * What was read of each process becomes an analysis: private to the room.
 *
 *     cunei_process_sum_begin(&analysis, trace, options, processes, count);
 *     for each process with streams:
 *         cunei_process_sum_add(&analysis, &sum, options);
 *     cunei_process_sum_end(&analysis);
 *
 * The caller calls cunei_analysis_fini, also after a failure.  -ENOMEM, from each, or
 * an error of reading lines or events of the program.
 */
#ifndef CUNEI_ANALYSIS_PROCESS_SUM_H
#define CUNEI_ANALYSIS_PROCESS_SUM_H

#include "analysis/analysis.h"
#include "analysis/piece_reader.h"

struct cunei_process_sum {
    size_t index; /* of the process in the analysis */
    /* Sealed, and its budget closed; borrowed, as the next. */
    const struct cunei_profile *profile;
    /* What lines and events of the program are read from; NULL: the process. */
    const struct cunei_trace_process *source;
    const struct cunei_piece_facts *pieces; /* finished, one for each stream at least */
    size_t piece_count;
};

int cunei_process_sum_begin(struct cunei_analysis *analysis,
                            const struct cunei_trace *trace,
                            const struct cunei_analysis_options *options,
                            const struct cunei_trace_process *const *processes,
                            size_t count);
int cunei_process_sum_add(struct cunei_analysis *analysis,
                          const struct cunei_process_sum *sum,
                          const struct cunei_analysis_options *options);
int cunei_process_sum_end(struct cunei_analysis *analysis);

void cunei_process_sum_note_damage(struct cunei_analysis *analysis,
                                   const struct cunei_trace_error *error);

/* The time of the process's last event, in ticks. */
uint64_t cunei_process_sum_last_tick(const struct cunei_process_sum *sum);

#endif
