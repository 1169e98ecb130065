// SPDX-License-Identifier: MIT
/* Walks over the Python frames of a thread; every function needs the GIL. */
#ifndef CUNEI_PROBE_CODE_FRAMES_H
#define CUNEI_PROBE_CODE_FRAMES_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frame's caller, or NULL; consumes the frame. */
PyFrameObject *cunei_frames_back(PyFrameObject *frame);

/*
 * The tag of the frame's code, made at first sight; 0 where there is none, or where the
 * frame is not running: it is suspended, or a signal handler runs before its start.
 */
uint64_t cunei_frames_tag(PyFrameObject *frame, bool is_top);

/* Whether the start of the frame on top has been recorded, as far as can be seen. */
bool cunei_frames_top_is_open(void);

/* The globals of the running frame; borrowed, NULL: none runs. */
PyObject *cunei_frames_globals(void);

/* How many callers are searched: enough for a helper, and what wraps it. */
#define CUNEI_FRAMES_NEAR 8

/*
 * Whether the running frame is that of a generator which contextlib makes a context
 * manager of: its yield begins the block, and a region that it begins is the block's.
 */
bool cunei_frames_is_around_block(void);

/*
 * The innermost recorded frame near the running one, beginning with its caller or with
 * itself; from now on the end of that frame is handled.  Frames of contextlib
 * generators are skipped, and without `generating` all generators.  Only compared;
 * NULL: none.
 */
const void *cunei_frames_find_recorded(bool callers, bool generating);

/* Those near frames, the innermost first, and how many there are. */
size_t cunei_frames_list_near(const void *frames[CUNEI_FRAMES_NEAR]);

/* Call `visit` with the code and the globals of each frame of each thread. */
void cunei_frames_visit_all(void (*visit)(void *context, PyCodeObject *code,
                                          PyObject *globals),
                            void *context);

#endif
