// SPDX-License-Identifier: MIT
/* Streams of tokens as Python objects: each object is one stream after another. */
#ifndef CUNEI_PROBE_USER_TOKENS_H
#define CUNEI_PROBE_USER_TOKENS_H

#include <Python.h>

/* Add the function `tokens` to the module; the type, or NULL with an exception. */
PyTypeObject *cunei_tokens_add(PyObject *module);

#endif
