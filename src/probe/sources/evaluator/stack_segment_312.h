// SPDX-License-Identifier: MIT
/*
 * Deep recursion with an evaluator of frames on CPython 3.12 and later.  The
 * interpreter limits recursion in C apart from that in Python, and calls of Python
 * functions become such with an evaluator: 3.12 allows 750 of them, 3.13 5 000, and
 * later ones what the C stack holds, some 9 000.  So they are not counted, and where
 * the stack comes to its end they go on in memory of our own
 * (probe/core/stack_segment.h).
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_STACK_SEGMENT_312_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_STACK_SEGMENT_312_H

#include <Python.h>

#include "probe/core/frame_312.h"

/* Have the frame run by this evaluator, and give what it returns. */
PyObject *cunei_laterdeep_run(PyThreadState *thread,
                              struct cunei_frame_312_frame *frame, int throws,
                              _PyFrameEvalFunction evaluator);

#endif
