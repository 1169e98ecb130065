// SPDX-License-Identifier: MIT
#include "model/facts/recording_off.h"

void cunei_recording_off_read(struct cunei_recording_off *gaps, enum cunei_phase phase,
                              uint64_t time)
{
    struct cunei_recording_off one = {0};

    if (phase == CUNEI_PHASE_ENTER)
        one =
            (struct cunei_recording_off){.begins = 1, .sum = -time, .last_begin = time};
    else
        one = (struct cunei_recording_off){.ends = 1, .sum = time, .first_end = time};
    cunei_recording_off_add(gaps, &one);
}

void cunei_recording_off_add(struct cunei_recording_off *gaps,
                             const struct cunei_recording_off *other)
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

uint64_t cunei_recording_off_ticks(const struct cunei_recording_off *gaps)
{
    uint64_t ticks = 0;

    if (gaps->begins == gaps->ends)
        ticks = gaps->sum;
    else if (gaps->begins == gaps->ends + 1)
        ticks = gaps->sum + gaps->last_begin;
    else if (gaps->begins + 1 == gaps->ends)
        ticks = gaps->sum - gaps->first_end;
    /* Of a trace that is damaged the sum of a damaged trace may be negative. */
    return ticks <= INT64_MAX ? ticks : 0;
}
