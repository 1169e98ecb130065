// SPDX-License-Identifier: MIT
/* `cunei run --trace`: another process prints the calls while the program runs. */
#ifndef CUNEI_CMD_RUN_TRACE_H
#define CUNEI_CMD_RUN_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cmd/common/options.h"

/* What its options fill in. */
struct cunei_run_trace_values {
    bool is_asked;
    uint64_t min_time_ns;
    const char *thread;
};

extern const struct cunei_option cunei_run_trace_options[];

/* Whether the options fit together.  As cunei_options_parse. */
int cunei_run_trace_settle(const struct cunei_run_trace_values *values);

/*
 * Print the calls in the trace in `directory` to `out` from now on, those of the first
 * `depth` levels (0: all), in a process of its own.  Returns its pid, or a negative
 * errno.
 */
pid_t cunei_run_trace_start(const struct cunei_run_trace_values *values, uint64_t depth,
                            bool json, const char *directory, FILE *out);

/* The program has ended: print the rest. */
void cunei_run_trace_end(pid_t pid);

#endif
