// SPDX-License-Identifier: MIT
/*
 * Parses the arguments of the package's functions, positional or by keyword.
 *
 *     static const struct cunei_args_form form = {"mark", {"name", "value"}, 1, 2};
 *     PyObject *values[2];
 *     if (cunei_args_parse(&form, args, count, names, values) < 0)
 *         return NULL;
 *
 * Positional arguments cost next to nothing: the compiler knows the form.
 */
#ifndef CUNEI_PROBE_CORE_ARG_PARSE_H
#define CUNEI_PROBE_CORE_ARG_PARSE_H

#include <Python.h>

#define CUNEI_ARGS_MAX 2

/* A function with any arguments, for a PyMethodDef. */
#define CUNEI_METHOD(function) ((PyCFunction)(void (*)(void))(function))

struct cunei_args_form {
    const char *function;
    const char *words[CUNEI_ARGS_MAX];
    Py_ssize_t least, most; /* how many arguments it has; the first ones are required */
};

/* The same, where some are keyword arguments. */
int cunei_args_match(const struct cunei_args_form *form, PyObject *const *args,
                     Py_ssize_t count, PyObject *names,
                     PyObject *values[CUNEI_ARGS_MAX]);

/*
 * The arguments, borrowed, of a function with METH_FASTCALL | METH_KEYWORDS; NULL for
 * one that was omitted.  -1 with an exception: they do not fit the form.
 */
static inline int cunei_args_parse(const struct cunei_args_form *form,
                                   PyObject *const *args, Py_ssize_t count,
                                   PyObject *names, PyObject *values[CUNEI_ARGS_MAX])
{
    if (__builtin_expect(names || count < form->least || count > form->most, 0))
        return cunei_args_match(form, args, count, names, values);
    for (Py_ssize_t i = 0; i < CUNEI_ARGS_MAX; i++)
        values[i] = i < count ? args[i] : NULL;
    return 0;
}

/* The argument of a function that has only one; NULL with an exception. */
static inline PyObject *cunei_args_one(const struct cunei_args_form *form,
                                       PyObject *const *args, Py_ssize_t count,
                                       PyObject *names)
{
    PyObject *values[CUNEI_ARGS_MAX];

    return cunei_args_parse(form, args, count, names, values) < 0 ? NULL : values[0];
}

#endif
