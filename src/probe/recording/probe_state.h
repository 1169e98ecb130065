// SPDX-License-Identifier: MIT
/*
 * The state of the module cunei._probe, and of its recording.  Callbacks from the
 * runtime library carry no argument, so the main interpreter's state is global while a
 * recording is on, or waits for __main__.
 */
#ifndef CUNEI_PROBE_RECORDING_PROBE_STATE_H
#define CUNEI_PROBE_RECORDING_PROBE_STATE_H

#include <Python.h>

#include <stdbool.h>

#include "probe/budget/event_cost.h"
#include "probe/events/garbage_collection.h"
#include "probe/sources/source_table.h"
#include "probe/user/user_state.h"
#include "wire/record_env.h"

struct cunei_probe {
    struct cunei_user_state user; /* first: see cunei_user_state_of */
    struct cunei_source *source;  /* of the recording, one of the following */
    cunei_source_table sources;
    struct cunei_gc_callback collect;
    PyTypeObject *tracer_type, *switched_type;
    PyObject *unswitched[2]; /* what disable and enable return where they do nothing */
    struct cunei_record_env session; /* of the recording that is on, or awaited */
    struct cunei_event_cost cost;    /* measured once */
    unsigned pauses;                 /* not resumed yet (probe/recording/switch.h) */
    bool is_lost; /* events could not be switched on again: reported once */
    bool inside;  /* started by the program itself */
    bool hooked;  /* into the interpreter's exit and fork */
};

/* The module's state begins with this struct. */
static inline struct cunei_probe *cunei_probe_of(PyObject *module)
{
    return (struct cunei_probe *)PyModule_GetState(module);
}

/* Whether this is the interpreter that can be recorded. */
bool cunei_probe_is_main(void);

/* The state of the recording that is on or awaited, or NULL. */
struct cunei_probe *cunei_probe_active(void);
void cunei_probe_set_active(struct cunei_probe *state);

/* The state is about to be freed. */
void cunei_probe_forget(struct cunei_probe *state);

#endif
