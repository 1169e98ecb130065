// SPDX-License-Identifier: MIT
/*
 * Recording what the hooks of sys.setprofile and sys.settrace are called for
 * (probe/sources/hooks/hook.h):
 *
 *     enter         a frame begins, or resumes
 *     leave         it ends or yields; `result` is NULL where an exception ends it
 *     line          a line begins in it
 *     raise         an exception is raised in it, see exception_trace_hook.h
 *     check_resume  anything else, before that is written
 *
 * The frame is the one on top, and no exception is set.
 */
#ifndef CUNEI_PROBE_SOURCES_HOOKS_HOOK_EVENT_H
#define CUNEI_PROBE_SOURCES_HOOKS_HOOK_EVENT_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "probe/sources/hooks/hook.h"

/* Where the tags of code objects are: see code.h. */
void cunei_hook_event_init(Py_ssize_t index, bool is_inline);

void cunei_hook_event_enter(struct cunei_hook *hook, PyFrameObject *frame);
void cunei_hook_event_leave(struct cunei_hook *hook, PyFrameObject *frame,
                            PyObject *result);
void cunei_hook_event_line(const struct cunei_hook *hook, PyFrameObject *frame);
void cunei_hook_event_raise(const struct cunei_hook *hook, PyFrameObject *frame,
                            PyObject *recorded);
void cunei_hook_event_check_resume(const struct cunei_hook *hook, PyFrameObject *frame);

#endif
