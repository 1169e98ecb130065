// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/raising.h"

#include <stdbool.h>

#include "probe/compat.h"
#include "probe/event.h"
#include "probe/exception.h"
#include "probe/infer.h"

static bool is_whole(PyObject *const *args, Py_ssize_t count)
{
    return count >= 3 && PyExceptionInstance_Check(args[2]);
}

void cunei_raising_raise(PyCodeObject *code, PyObject *const *args, Py_ssize_t count)
{
    if (is_whole(args, count))
        cunei_exception_raised(code, args[1], args[2]);
}

void cunei_raising_reraise(PyCodeObject *code, PyObject *const *args, Py_ssize_t count)
{
    if (is_whole(args, count))
        cunei_exception_raised_again(code, args[1], args[2]);
}

void cunei_raising_handled(PyCodeObject *code, PyObject *const *args, Py_ssize_t count)
{
    if (is_whole(args, count))
        cunei_exception_handled(code, args[1], args[2]);
}

void cunei_raising_unwind(PyCodeObject *code, PyObject *const *args, Py_ssize_t count)
{
    bool knows = is_whole(args, count);

    cunei_event_unwind(code, cunei_event_word(code), knows ? Py_TYPE(args[2]) : NULL,
                       knows ? args[1] : NULL, knows ? args[2] : NULL);
}

/* Who has called it may raise it again: `with`, where this is an __exit__. */
void cunei_raising_local_handled(PyCodeObject *code, PyObject *const *args,
                                 Py_ssize_t count)
{
    cunei_raising_handled(code, args, count);
    cunei_infer_taken();
}

/* It may come to code next that is left out. */
void cunei_raising_local_unwind(PyCodeObject *code, PyObject *const *args,
                                Py_ssize_t count)
{
    cunei_raising_unwind(code, args, count);
    if (is_whole(args, count))
        cunei_infer_unwound(args[2]);
}

void cunei_raising_infer_handled(PyCodeObject *code, PyObject *const *args,
                                 Py_ssize_t count)
{
    if (is_whole(args, count) && PyLong_CheckExact(args[1]))
        cunei_infer_raised(code, cunei_compat_small(args[1]), args[1], args[2]);
    cunei_raising_handled(code, args, count);
}

void cunei_raising_infer_unwind(PyCodeObject *code, PyObject *const *args,
                                Py_ssize_t count)
{
    if (is_whole(args, count))
        cunei_infer_raised(code, -1, args[1], args[2]);
    cunei_raising_local_unwind(code, args, count);
}
