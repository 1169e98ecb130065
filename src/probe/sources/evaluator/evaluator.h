// SPDX-License-Identifier: MIT
/*
 * The frame evaluator (PEP 523) as a source of events, before CPython 3.12.
 *
 * The interpreter hands each frame that is to run to a function of ours, in all threads
 * and at once, and that one hands it on to whose place it took.  So each entry has its
 * exit.  Of frames that are open when a recording begins
 * probe/sources/evaluator/open_frames.h hears.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_H

#include "probe/core/source.h"

extern const struct cunei_source_kind cunei_source_frame;

#endif
