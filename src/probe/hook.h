// SPDX-License-Identifier: MIT
/*
 * The C hooks that sys.setprofile and sys.settrace have, as sources of events: what the
 * two have in common.
 *
 * A hook is a thread's own.  It is put into all that there are, and newthread.h puts it
 * into those to come.  One that another tool has is never replaced: it is refused to
 * record.  If the program sets one later, in a thread of its, or takes ours away, that
 * thread is not heard any more, which is counted.
 *
 * The functions that set a hook are heard by audit hooks, and may be forbidden by them;
 * before 3.12 it is put in place past them.  sys.getprofile and sys.gettrace go on
 * saying None: ours has no object.
 *
 *     open     the source
 *     enter    the hook was told that a frame begins, or goes on
 *     leave    that it is left; `result` is NULL where an exception does so
 *     line     that a line begins in it
 *     raise    that an exception is raised in it; `told` is as in thrown.h
 *
 * The frame is the one on top, and no exception is set.
 */
#ifndef CUNEI_PROBE_HOOK_H
#define CUNEI_PROBE_HOOK_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/source.h"

enum cunei_hook_kind {
    CUNEI_HOOK_PROFILE,
    CUNEI_HOOK_TRACE,
};

/* A source that is one of them. */
struct cunei_hook {
    struct cunei_source source;
    enum cunei_hook_kind kind;
    Py_tracefunc function;
    bool (*main_begins)(void);
    bool awaits;       /* that __main__ begins */
    bool is_recording; /* and not just on its way out */
};

/* Where the words of code objects are: see code.h. */
void cunei_hook_init(Py_ssize_t index, bool is_inline);

struct cunei_source *cunei_hook_open(struct cunei_hook *hook,
                                     bool (*main_begins)(void));

void cunei_hook_enter(struct cunei_hook *hook, PyFrameObject *frame);
void cunei_hook_leave(struct cunei_hook *hook, PyFrameObject *frame, PyObject *result);
void cunei_hook_line(PyFrameObject *frame);
void cunei_hook_raise(PyFrameObject *frame, PyObject *told);

#endif
