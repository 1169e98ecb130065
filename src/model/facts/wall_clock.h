// SPDX-License-Identifier: MIT
/*
 * Ticks as wall clock or as durations, for frequent use: cunei_metadata_wall_ns without
 * its division, to the same nanosecond.
 *
 *     struct cunei_wall_clock wall;
 *     cunei_wall_clock_init(&wall, &metadata);
 *     uint64_t ns = cunei_wall_clock_ns(&wall, tick);
 */
#ifndef CUNEI_MODEL_FACTS_WALL_CLOCK_H
#define CUNEI_MODEL_FACTS_WALL_CLOCK_H

#include <stdint.h>

#include "base/units.h"

struct cunei_metadata;

/*
 * Durations: ns = ticks * multiplier >> shift, the multiplier as precise as 63 bits
 * allow.  It is rounded up, so that a whole number of nanoseconds stays one.
 */
struct cunei_tick_scale {
    uint64_t frequency;
    uint64_t multiplier;
    unsigned shift;
};

/* Private. */
struct cunei_wall_clock {
    struct cunei_tick_scale scale;
    uint64_t offset;  /* ticks */
    uint64_t base_ns; /* the wall clock's at tick -offset */
};

/* 0: the frequency is unknown, and a tick is a nanosecond. */
struct cunei_tick_scale cunei_tick_scale(uint64_t frequency);

static inline uint64_t cunei_tick_scale_ns(const struct cunei_tick_scale *scale,
                                           unsigned __int128 ticks)
{
    return (uint64_t)(ticks * scale->multiplier >> scale->shift);
}

void cunei_wall_clock_init(struct cunei_wall_clock *wall,
                           const struct cunei_metadata *metadata);

static inline uint64_t cunei_wall_clock_ns(const struct cunei_wall_clock *wall,
                                           uint64_t tick)
{
    unsigned __int128 ticks = (unsigned __int128)tick + wall->offset;
    uint64_t ns = cunei_tick_scale_ns(&wall->scale, ticks);

    /* One too many, where it is: the multiplier is rounded up. */
    ns -= (unsigned __int128)ns * wall->scale.frequency > ticks * CUNEI_NS_PER_S;
    return wall->base_ns + ns;
}

/* The first tick that is not before a time; 0 where that is before all ticks. */
uint64_t cunei_wall_clock_tick(const struct cunei_wall_clock *wall, uint64_t ns);

#endif
