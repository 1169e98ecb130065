// SPDX-License-Identifier: MIT
#include "model/facts/wall_clock.h"

#include "wire/metadata.h"

struct cunei_tick_scale cunei_tick_scale(uint64_t frequency)
{
    unsigned shift = 63;

    if (frequency == 0)
        frequency = CUNEI_NS_PER_S;
    while (shift > 0 && ((unsigned __int128)CUNEI_NS_PER_S << shift) / frequency >=
                            UINT64_C(1) << 63)
        shift--;
    unsigned __int128 ratio = (unsigned __int128)CUNEI_NS_PER_S << shift;
    return (struct cunei_tick_scale){
        .frequency = frequency,
        .multiplier = (uint64_t)((ratio + frequency - 1) / frequency),
        .shift = shift,
    };
}

void cunei_wall_clock_init(struct cunei_wall_clock *wall,
                           const struct cunei_metadata *metadata)
{
    *wall = (struct cunei_wall_clock){
        .scale = cunei_tick_scale(metadata->frequency),
        .offset = metadata->offset,
        .base_ns = metadata->offset_s * CUNEI_NS_PER_S,
    };
}

uint64_t cunei_wall_clock_tick(const struct cunei_wall_clock *wall, uint64_t ns)
{
    if (ns <= wall->base_ns)
        return 0;
    unsigned __int128 ticks =
        ((unsigned __int128)(ns - wall->base_ns) * wall->scale.frequency +
         CUNEI_NS_PER_S - 1) /
        CUNEI_NS_PER_S;
    if (ticks <= wall->offset)
        return 0;
    ticks -= wall->offset;
    return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX;
}
