// SPDX-License-Identifier: MIT
/*
 * Objects for `with` that also decorate functions.
 *
 * Before 3.14 a block creates two bound methods, __enter__ and __exit__, each time:
 * more than half of the cost of an empty block.  There such an object is its own bound
 * method: the block calls it without arguments at its start, and with three at its
 * end.  Called with one argument, it decorates that.
 */
#ifndef CUNEI_PROBE_USER_WITH_BLOCK_H
#define CUNEI_PROBE_USER_WITH_BLOCK_H

#include <Python.h>

/* The first member of such an object; its creator sets it. */
struct cunei_with_block {
    PyObject_HEAD vectorcallfunc call;
};

/*
 * Let a type do this, which has __enter__, __exit__ and PyVectorcall_Call as its
 * tp_call.  -1 with an exception.
 */
int cunei_with_block_adopt(PyTypeObject *type);

#endif
