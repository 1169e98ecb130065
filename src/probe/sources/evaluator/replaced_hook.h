// SPDX-License-Identifier: MIT
/* A hook of the program that one of ours replaces in a thread, and calls. */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_REPLACED_HOOK_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_REPLACED_HOOK_H

#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

struct cunei_replaced_hook {
    Py_tracefunc function; /* NULL: there was none */
    bool is_called; /* it runs now: it may be a tool's, which calls ours in its turn */
};

/* Its exceptions are the program's. */
static inline int cunei_replaced_hook_call(struct cunei_replaced_hook *hook,
                                           PyObject *object, PyFrameObject *frame,
                                           int what, PyObject *argument)
{
    if (!hook->function || hook->is_called)
        return 0;
    hook->is_called = true;
    int rc = hook->function(object, frame, what, argument);
    hook->is_called = false;
    return rc;
}

#endif
