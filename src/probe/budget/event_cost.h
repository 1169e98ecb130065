// SPDX-License-Identifier: MIT
/*
 * What an event costs the program on this machine and this Python, measured before
 * recording starts: a report subtracts nothing, but it says how much of the time was
 * ours.
 */
#ifndef CUNEI_PROBE_BUDGET_EVENT_COST_H
#define CUNEI_PROBE_BUDGET_EVENT_COST_H

#include <stdint.h>

#include "probe/core/source.h"

/* Picoseconds, without what writing packets takes; 0: not measured. */
struct cunei_event_cost {
    uint64_t event_ps;
    /* Under a budget: of a call that is only counted, and the part of that which its
     * end costs if ends are counted as well. */
    uint64_t count_ps;
    double end_part;
};

/*
 * What of it can be measured: nothing, where another tool would see the calls, or
 * another thread would run between them; the rest stays as it is.  Takes about half a
 * millisecond, under a budget some more; the tool id must have been taken, and no
 * recording may be on.  An exception is left where the program's own code raised it: a
 * hook or a handler.
 */
void cunei_event_cost_measure(struct cunei_source *source,
                              struct cunei_event_cost *cost);

#endif
