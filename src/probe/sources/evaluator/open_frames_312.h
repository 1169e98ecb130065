// SPDX-License-Identifier: MIT
/*
 * Frames that were open when a recording began, with an evaluator of frames on CPython
 * 3.12 and later, which does not hear of their end.
 *
 * It is found out when the thread next enters a function from one of them, and told
 * then, as a return: nobody has said how they ended, or when.
 *
 *     begin    the frames are those that are open now
 *     catch_up the calling thread enters a function that none has called which was
 *              entered in this recording, or the recording is about to end
 *     end      there are none any more
 *
 * Needs the GIL.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_OPEN_FRAMES_312_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_OPEN_FRAMES_312_H

#include <Python.h>

void cunei_lateropen_begin(void);
void cunei_lateropen_catch_up(PyThreadState *thread);
void cunei_lateropen_end(void);

#endif
