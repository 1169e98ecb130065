// SPDX-License-Identifier: MIT
/* Python objects that are known by a name: regions, counters, streams of tokens. */
#ifndef CUNEI_PROBE_USER_NAMED_OBJECT_H
#define CUNEI_PROBE_USER_NAMED_OBJECT_H

#include <Python.h>

#include "probe/user/with_block.h"

struct cunei_user_name;

/* What the objects of one type have in common. */
struct cunei_named_kind {
    const char *file;     /* of their cunei_user_name */
    const char *function; /* of the package, which returns one */
    const char *what;     /* what the name is, in exceptions */
    vectorcallfunc call;  /* for `with` and decorators; or NULL */
};

/* The first members of such an object. */
struct cunei_named {
    struct cunei_with_block block;
    const struct cunei_named_kind *kind;
    struct cunei_user_name *user_name; /* owned */
};

/* The object of `type` with this name: from the dict `known`, or a new one. */
PyObject *cunei_named_find(PyTypeObject *type, const struct cunei_named_kind *kind,
                           PyObject *known, PyObject *name);

/* Another object of the same type and name, new. */
PyObject *cunei_named_copy(PyObject *self);

void cunei_named_dealloc(PyObject *self);
PyObject *cunei_named_name(PyObject *self, void *unused);

/*
 * repr() is the call of the package's function that returns the object; pickle and copy
 * use the same call.  A program can copy and send objects that hold one: the same name
 * is the same object, also in another process.
 */
PyObject *cunei_named_repr(PyObject *self);
PyObject *cunei_named_reduce(PyObject *self, PyObject *unused);

#endif
