// SPDX-License-Identifier: MIT
/* Python objects that are known by a name: regions, counters, streams of tokens. */
#ifndef CUNEI_PROBE_USER_NAMED_OBJECT_H
#define CUNEI_PROBE_USER_NAMED_OBJECT_H

#include <Python.h>

#include "probe/user/with_block.h"

struct cunei_user_name;

/* Objects of these types begin so. */
struct cunei_named {
    struct cunei_with_block block;
    struct cunei_user_name *user_name; /* owned */
};

/* What all objects of one of these types have in common. */
struct cunei_named_kind {
    const char *file;    /* of their cunei_user_name */
    const char *what;    /* their name is, in what is raised */
    vectorcallfunc call; /* of those that are for `with` */
};

/* The object of `type` by this name: one that `known` has, or a new one. */
PyObject *cunei_named_find(PyTypeObject *type, const struct cunei_named_kind *kind,
                           PyObject *known, PyObject *name);

void cunei_named_dealloc(PyObject *self);
PyObject *cunei_named_name(PyObject *self, void *unused);

/*
 * As the function of the package that makes it is written; and how pickle and copy get
 * at it again.  What a program leaves in its objects must not keep it from copying or
 * sending them: the same name is the same object, in another process of its own.
 */
PyObject *cunei_named_repr(PyObject *self, const char *function);
PyObject *cunei_named_reduce(PyObject *self, const char *function);

#endif
