// SPDX-License-Identifier: MIT
/*
 * The frame evaluator (PEP 523) as a source of events, before CPython 3.12.
 *
 * In all threads, the interpreter calls our function for each frame that is to run; our
 * function calls the evaluator that was installed before.  So each entry has its exit.
 * Frames that are open when a recording begins are recorded by
 * probe/sources/evaluator/open_frames.h.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_EVALUATOR_H

#include "probe/core/source.h"

extern const struct cunei_source_kind cunei_source_frame;

#endif
