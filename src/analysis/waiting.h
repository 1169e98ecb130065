// SPDX-License-Identifier: MIT
/* Waiting, which a report shows apart from work (model/facts/waiting_functions.h). */
#ifndef CUNEI_ANALYSIS_WAITING_H
#define CUNEI_ANALYSIS_WAITING_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_analysis;

/* The time of all threads, and the part of it in functions that only wait. */
struct cunei_waiting {
    uint64_t threads_ns; /* from the first event of each thread to its last */
    uint64_t waiting_ns;
    uint64_t base_ns; /* what shares of self times are of: the time in which threads
                         worked, or with `idle` all of it */
    uint32_t function_count; /* that waited */
};

struct cunei_waiting cunei_waiting_of(const struct cunei_analysis *analysis, bool idle);

#endif
