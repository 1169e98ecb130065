// SPDX-License-Identifier: MIT
/*
 * What the module cunei._probe keeps for the functions that a program calls.  The
 * module's state begins with this struct.
 */
#ifndef CUNEI_PROBE_USER_USER_STATE_H
#define CUNEI_PROBE_USER_USER_STATE_H

#include <Python.h>

#include <stdbool.h>

#include "probe/core/compat.h"
#include "rt/recorder.h"

/* Types, and objects by name, owned. */
struct cunei_user_state {
    PyTypeObject *region_type, *counter_type, *tokens_type;
    /* Dicts: the same name is the same object; streams are its copies. */
    PyObject *regions, *counters, *streams;
};

static inline struct cunei_user_state *cunei_user_state_of(PyObject *module)
{
    return (struct cunei_user_state *)PyModule_GetState(module);
}

/*
 * Whether marks, regions and so on are recorded now: only those of the main
 * interpreter, since others share its process.  One load if there is no recording.
 */
static inline bool cunei_user_is_recorded(void)
{
    return __builtin_expect(cunei_recorder_is_on(), 0) &&
           PyInterpreterState_Get() == PyInterpreterState_Main();
}

#endif
