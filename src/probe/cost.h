// SPDX-License-Identifier: MIT
/*
 * What an event costs the program on this machine and this Python, measured before
 * recording starts: a report subtracts nothing, but it says how much of the time was
 * ours.
 */
#ifndef CUNEI_PROBE_COST_H
#define CUNEI_PROBE_COST_H

#include <stdint.h>

#include "probe/source.h"

/*
 * Picoseconds per event, without what writing packets takes.  0: not measured, because
 * another tool would have seen the calls, or another thread have run between them.
 * Takes about half a millisecond; the tool id must have been taken, and no recording
 * may be on.  An exception is left where the program's own code raised it: a hook
 * or a handler.
 */
uint64_t cunei_cost_measure(struct cunei_source *source);

#endif
