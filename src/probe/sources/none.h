// SPDX-License-Identifier: MIT
/*
 * A source that tells of no function but those that the program has decorated itself:
 * a recording has the process and what else is heard of, and nothing that the program
 * calls pays for it.
 *
 * That __main__ begins is heard of from the Python's own source.  So are decorated
 * functions, from the first of them on: with sys.monitoring by events of their code
 * alone, before 3.12 by an evaluator that leaves out all others.
 */
#ifndef CUNEI_PROBE_SOURCES_NONE_H
#define CUNEI_PROBE_SOURCES_NONE_H

#include "probe/core/source.h"

extern const struct cunei_source_kind cunei_source_none;

#endif
