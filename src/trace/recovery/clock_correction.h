// SPDX-License-Identifier: MIT
/* A better frequency of a process's clock than the one it started with. */
#ifndef CUNEI_TRACE_RECOVERY_CLOCK_CORRECTION_H
#define CUNEI_TRACE_RECOVERY_CLOCK_CORRECTION_H

struct cunei_metadata;
struct cunei_trace_process;

/*
 * Set the clock of `metadata` right by the pairs of ticks and CLOCK_MONOTONIC in the
 * packets of the stream files, such that the first keeps its wall time.  1: it differs
 * from the process's own, 0: it does not, or nothing better is known.
 */
int cunei_trace_clock_correct(const struct cunei_trace_process *process,
                              struct cunei_metadata *metadata);

#endif
