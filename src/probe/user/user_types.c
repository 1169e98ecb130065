// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/user_types.h"

#include "probe/user/counter.h"
#include "probe/user/region_type.h"
#include "probe/user/tokens.h"
#include "probe/user/user_event.h"
#include "probe/user/user_state.h"

int cunei_user_types_init(PyObject *module, struct cunei_user_state *state)
{
    state->regions = PyDict_New();
    state->counters = PyDict_New();
    state->streams = PyDict_New();
    state->region_type = cunei_region_type_add(module);
    state->counter_type = cunei_counter_add(module);
    state->tokens_type = cunei_tokens_add(module);
    return state->regions && state->counters && state->streams && state->region_type &&
                   state->counter_type && state->tokens_type
               ? cunei_user_event_add_functions(module)
               : -1;
}

int cunei_user_types_traverse(struct cunei_user_state *state, visitproc visit,
                              void *arg)
{
    Py_VISIT(state->regions);
    Py_VISIT(state->counters);
    Py_VISIT(state->streams);
    Py_VISIT(state->region_type);
    Py_VISIT(state->counter_type);
    Py_VISIT(state->tokens_type);
    return 0;
}

void cunei_user_types_clear(struct cunei_user_state *state)
{
    Py_CLEAR(state->regions);
    Py_CLEAR(state->counters);
    Py_CLEAR(state->streams);
    Py_CLEAR(state->region_type);
    Py_CLEAR(state->counter_type);
    Py_CLEAR(state->tokens_type);
}
