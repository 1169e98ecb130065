// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/arg_parse.h"

/* The position of the argument with this name; -1: there is none. */
static int find_word(const struct cunei_args_form *form, PyObject *name)
{
    for (int i = 0; i < form->most; i++) {
        if (PyUnicode_CompareWithASCIIString(name, form->words[i]) == 0)
            return i;
    }
    return -1;
}

static int match_names(const struct cunei_args_form *form, PyObject *const *named,
                       PyObject *names, PyObject *values[CUNEI_ARGS_MAX])
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int place = find_word(form, name);
        if (place < 0 || values[place]) {
            PyErr_Format(PyExc_TypeError, "%s() got %s argument '%U'", form->function,
                         place < 0 ? "an unexpected" : "more than one", name);
            return -1;
        }
        values[place] = named[i];
    }
    return 0;
}

int cunei_args_match(const struct cunei_args_form *form, PyObject *const *args,
                     Py_ssize_t count, PyObject *names,
                     PyObject *values[CUNEI_ARGS_MAX])
{
    if (count > form->most) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd argument%s, not %zd",
                     form->function, form->most, form->most == 1 ? "" : "s", count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < CUNEI_ARGS_MAX; i++)
        values[i] = i < count ? args[i] : NULL;
    if (names && match_names(form, args + count, names, values) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < form->least; i++) {
        if (!values[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'",
                         form->function, form->words[i]);
            return -1;
        }
    }
    return 0;
}
