// SPDX-License-Identifier: MIT
/*
 * What happened between two sums, function by function, and as rates.
 *
 *     struct cunei_top_rates rates;
 *     int rc = cunei_top_rates_make(&rates, &before, &now);
 *     …
 *     cunei_top_rates_fini(&rates);
 *
 * Shares of self time are of the time of all threads without waiting, those of total
 * times of the time of all threads: as in a report.
 */
#ifndef CUNEI_TOP_SUMS_RATES_H
#define CUNEI_TOP_SUMS_RATES_H

#include <stdint.h>

struct cunei_top_known;
struct cunei_top_sums;

struct cunei_top_rate {
    uint64_t calls, resumes, raised;
    uint64_t self_ns, total_ns;
};

struct cunei_top_rates {
    double seconds;
    struct cunei_top_rate *functions; /* owned: by number */
    uint32_t function_count;
    uint64_t threads_ns, waiting_ns;
    uint64_t work_ns; /* threads without waiting: what self times are a share of */
    uint64_t events, calls, raised, lost, missed;
    uint64_t cpu_ns;
    double cost_ns; /* of recording, an estimate; 0: unknown */
};

/* `before` NULL: from the begin.  -ENOMEM. */
int cunei_top_rates_make(struct cunei_top_rates *rates,
                         const struct cunei_top_sums *before,
                         const struct cunei_top_sums *now);
void cunei_top_rates_fini(struct cunei_top_rates *rates);

/* `later` - `earlier`; 0 where a corrected clock made it smaller. */
uint64_t cunei_top_rates_since(uint64_t later, uint64_t earlier);

/* So many in a second; 0 if no time has passed. */
double cunei_top_rates_per_second(const struct cunei_top_rates *rates, uint64_t count);

/* A share of `whole`, 0 to 1. */
double cunei_top_rates_share(uint64_t part, uint64_t whole);

#endif
