// SPDX-License-Identifier: MIT
/*
 * Objects for `with` that also decorate functions, and what such a block costs.
 *
 * Before 3.14 a block makes two bound methods, __enter__ and __exit__, each time: that
 * is more than half of what a block costs that does nothing.  There such an object is
 * its own bound method: it is called without arguments where the block begins, and with
 * three where it ends.  Called with one, it decorates that.
 */
#ifndef CUNEI_PROBE_USER_WITH_BLOCK_H
#define CUNEI_PROBE_USER_WITH_BLOCK_H

#include <Python.h>

/* Such objects begin so; whoever makes one sets it. */
struct cunei_with_block {
    PyObject_HEAD vectorcallfunc call;
};

/*
 * Make that of a type, which has __enter__, __exit__ and, as its tp_call,
 * PyVectorcall_Call.  -1 with an exception.
 */
int cunei_with_block_adopt(PyTypeObject *type);

#endif
