// SPDX-License-Identifier: MIT
/*
 * The clock of the events: the time-stamp counter where it is fit for that, else
 * CLOCK_MONOTONIC.
 *
 * The hot path only reads ticks.  Pairs of a tick and the system's clocks, taken now
 * and then, give them their meaning.
 */
#ifndef CUNEI_RT_CLOCK_H
#define CUNEI_RT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/units.h"

/* The counter of the processor; only meaningful if cunei_clock_has_counter. */
static inline uint64_t cunei_clock_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc(); /* x86intrin.h is slow to include */
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

static inline uint64_t cunei_clock_ns(clockid_t clock)
{
    struct timespec now = {0}; /* stays 0 for the clock of a thread that has ended */
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * CUNEI_NS_PER_S + (uint64_t)now.tv_nsec;
}

/*
 * Whether the counter runs at one rate, in step on all processors; if not, `*reason` is
 * the reason.  The first call reads a file.
 */
bool cunei_clock_has_counter(const char **reason);

/* The tick now, by whichever clock it is. */
uint64_t cunei_clock_read(void);

/* A tick and the two clocks of the system at one instant. */
struct cunei_clock_pair {
    uint64_t tick;
    uint64_t monotonic_ns;
    uint64_t wall_ns;
};

struct cunei_clock_pair cunei_clock_pair(void);

/* Ticks per second between two pairs; 0 if they are not at least 1 ms apart. */
uint64_t cunei_clock_frequency(const struct cunei_clock_pair *first,
                               const struct cunei_clock_pair *second);

/* Ticks per second, measured over about `microseconds` of waiting. */
uint64_t cunei_clock_calibrate(unsigned microseconds);

#endif
