// SPDX-License-Identifier: MIT
/*
 * The functions and types of the module cunei._probe with which a program describes
 * itself: regions, counters, marks, parameters, metadata, tokens.  The package cunei
 * takes them from that module.
 */
#ifndef CUNEI_PROBE_USER_USER_TYPES_H
#define CUNEI_PROBE_USER_USER_TYPES_H

#include <Python.h>

struct cunei_user_state;

/* Add the functions and types to the module; -1 with an exception. */
int cunei_user_types_init(PyObject *module, struct cunei_user_state *state);
int cunei_user_types_traverse(struct cunei_user_state *state, visitproc visit,
                              void *arg);
void cunei_user_types_clear(struct cunei_user_state *state);

#endif
