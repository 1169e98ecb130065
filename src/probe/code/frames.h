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

/* Whether the start of the frame on top has been told, as far as can be seen. */
bool cunei_frames_top_is_open(void);

/* The globals of the frame that runs; borrowed, NULL where there is none. */
PyObject *cunei_frames_globals(void);

/* How far callers are looked for: those of a helper, and of what wraps that. */
#define CUNEI_FRAMES_NEAR 8

/*
 * Whether the frame that runs is that of a generator out of which contextlib makes a
 * context manager: when it yields, the block begins, and what it begins is for that.
 */
bool cunei_frames_is_around_block(void);

/*
 * The innermost recorded one of the frames near the one that runs, beginning with its
 * caller or with itself, and see to it that its end is heard of; compared only.  Those
 * around a block are passed over, and without `generating` all that can be suspended.
 * NULL: there is none.
 */
const void *cunei_frames_find_recorded(bool callers, bool generating);

/* Those frames, from the innermost on, and how many there are. */
size_t cunei_frames_list_near(const void *frames[CUNEI_FRAMES_NEAR]);

/* Do `visit` for the code and the globals of each frame of each thread. */
void cunei_frames_visit_all(void (*visit)(void *context, PyCodeObject *code,
                                          PyObject *globals),
                            void *context);

#endif
