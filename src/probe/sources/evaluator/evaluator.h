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

#include <Python.h>

#include <stdbool.h>

#include "probe/core/source.h"

/*
 * Where the words of code objects are (see code.h), and what is to be called in the
 * first frame of __main__.
 */
struct cunei_source *cunei_evaluator_open(Py_ssize_t extra_index, bool extra_inline,
                                          bool (*main_begins)(void));

#endif
