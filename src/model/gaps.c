// SPDX-License-Identifier: MIT
#include "model/gaps.h"

void cunei_gaps_read(struct cunei_gaps *gaps, enum cunei_phase phase, uint64_t time)
{
    struct cunei_gaps one = {0};

    if (phase == CUNEI_PHASE_ENTER)
        one = (struct cunei_gaps){.begins = 1, .sum = -time, .last_begin = time};
    else
        one = (struct cunei_gaps){.ends = 1, .sum = time, .first_end = time};
    cunei_gaps_add(gaps, &one);
}

void cunei_gaps_add(struct cunei_gaps *gaps, const struct cunei_gaps *other)
{
    gaps->begins += other->begins;
    gaps->ends += other->ends;
    gaps->sum += other->sum;
    if (other->last_begin > gaps->last_begin)
        gaps->last_begin = other->last_begin;
    if (other->first_end > 0 &&
        (gaps->first_end == 0 || other->first_end < gaps->first_end))
        gaps->first_end = other->first_end;
}

uint64_t cunei_gaps_ticks(const struct cunei_gaps *gaps)
{
    uint64_t ticks = 0;

    if (gaps->begins == gaps->ends)
        ticks = gaps->sum;
    else if (gaps->begins == gaps->ends + 1)
        ticks = gaps->sum + gaps->last_begin;
    else if (gaps->begins + 1 == gaps->ends)
        ticks = gaps->sum - gaps->first_end;
    /* Of a trace that is damaged it may come to nothing sensible. */
    return ticks <= INT64_MAX ? ticks : 0;
}
