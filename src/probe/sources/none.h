// SPDX-License-Identifier: MIT
/*
 * A source that records no functions but those that the program has decorated: other
 * calls cost nothing, and the recording has processes, exits, garbage collections and
 * the program's own events.
 *
 * The Python's default source notifies us when __main__ begins.  It also records the
 * decorated functions, from the first of them on: with sys.monitoring by local events
 * of their code, before 3.12 by an evaluator that skips all others.
 */
#ifndef CUNEI_PROBE_SOURCES_NONE_H
#define CUNEI_PROBE_SOURCES_NONE_H

#include "probe/core/source.h"

extern const struct cunei_source_kind cunei_source_none;

#endif
