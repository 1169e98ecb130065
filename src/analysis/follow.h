// SPDX-License-Identifier: MIT
/*
 * An analysis that is updated while a trace is recorded, not redone.
 *
 *     struct cunei_analysis_follow *follow = NULL;
 *     int rc = cunei_analysis_follow_open(&follow, path, &options, &error);
 *     while (rc >= 0 && (rc = cunei_analysis_follow_poll(follow)) > 0) {
 *         struct cunei_analysis analysis;
 *         rc = cunei_analysis_follow_sum(follow, &analysis);
 *         …
 *         cunei_analysis_fini(&analysis);
 *     }
 *     cunei_analysis_follow_close(follow);
 *
 * Rates are differences between two sums.
 */
#ifndef CUNEI_ANALYSIS_FOLLOW_H
#define CUNEI_ANALYSIS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/analysis.h"

struct cunei_analysis_follow;

/* As cunei_trace_follow_open; the options are copied, what they refer to is borrowed.
 * Workers, pieces and progress do not apply. */
int cunei_analysis_follow_open(struct cunei_analysis_follow **follow, const char *path,
                               const struct cunei_analysis_options *options,
                               struct cunei_trace_error *error);

/* Take in what is new.  As cunei_trace_follow_poll. */
int cunei_analysis_follow_poll(struct cunei_analysis_follow *follow);

/*
 * Everything up to the last poll, as cunei_analyze would make it of a trace that was
 * cut there.  Takes time in proportion to functions, threads and open frames, not to
 * events; but lines, and events of the program, if they are asked for and there are
 * any, are read again from what is in the folder then.  A function has the same index
 * in each sum; what a sum borrows is as cunei_trace_follow_trace says.  The caller
 * calls cunei_analysis_fini.  -ENOMEM, or an error of reading.
 */
int cunei_analysis_follow_sum(struct cunei_analysis_follow *follow,
                              struct cunei_analysis *analysis);

/*
 * Whether a sum is exactly what cunei_analyze makes of the files.  When a process ends,
 * or when it is recovered, its clock may be corrected by some millionths; what was read
 * by then was measured with the clock as it was.
 */
bool cunei_analysis_follow_is_exact(const struct cunei_analysis_follow *follow);

const struct cunei_trace *cunei_analysis_follow_trace(
    const struct cunei_analysis_follow *follow);
uint64_t cunei_analysis_follow_missed(const struct cunei_analysis_follow *follow);
void cunei_analysis_follow_close(struct cunei_analysis_follow *follow);

#endif
