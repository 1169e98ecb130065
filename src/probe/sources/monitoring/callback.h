// SPDX-License-Identifier: MIT
/*
 * What sys.monitoring calls: objects of a type of our own with a vectorcall slot, 3 to
 * 4 ns an event cheaper than builtin functions.
 *
 * What a callback does is decided when it is made: for which phase, by which clock, how
 * it reads a code object's word.  None of them ever raises.
 */
#ifndef CUNEI_PROBE_SOURCES_MONITORING_CALLBACK_H
#define CUNEI_PROBE_SOURCES_MONITORING_CALLBACK_H

#include <Python.h>

#include <stdbool.h>

enum cunei_callback_kind {
    CUNEI_CALLBACK_ENTER, /* the first four are the phases of wire/event.h */
    CUNEI_CALLBACK_LEAVE,
    CUNEI_CALLBACK_RESUME,
    CUNEI_CALLBACK_YIELD,
    CUNEI_CALLBACK_THROW, /* a resume, but never to be switched off where it was seen */
    CUNEI_CALLBACK_UNWIND,
    CUNEI_CALLBACK_RAISE,
    CUNEI_CALLBACK_RERAISE,
    CUNEI_CALLBACK_HANDLED,
    CUNEI_CALLBACK_LOCAL_UNWIND,    /* PY_UNWIND with a selection and RAISE */
    CUNEI_CALLBACK_LOCAL_HANDLED,   /* EXCEPTION_HANDLED there */
    CUNEI_CALLBACK_INFER_UNWIND,    /* PY_UNWIND without RAISE */
    CUNEI_CALLBACK_INFER_HANDLED,   /* EXCEPTION_HANDLED there */
    CUNEI_CALLBACK_CALL,            /* CALL in code that is watched */
    CUNEI_CALLBACK_C_CALL,          /* CALL where C functions are recorded */
    CUNEI_CALLBACK_C_RETURN,        /* C_RETURN there */
    CUNEI_CALLBACK_C_RAISE,         /* C_RAISE there */
    CUNEI_CALLBACK_LINE,            /* LINE where lines are recorded */
    CUNEI_CALLBACK_INSTRUCTION,     /* INSTRUCTION there */
    CUNEI_CALLBACK_SELECT_ENTER,    /* PY_START where one tool id must do it all */
    CUNEI_CALLBACK_SELECT_RESUME,   /* PY_RESUME there */
    CUNEI_CALLBACK_DISCOVER_ENTER,  /* PY_START on the discovery tool id */
    CUNEI_CALLBACK_DISCOVER_RESUME, /* PY_RESUME there */
    CUNEI_CALLBACK_AWAIT_MAIN,      /* PY_START until __main__ begins */
    CUNEI_CALLBACK_KINDS,
};

struct cunei_callback_shared {
    Py_ssize_t extra_index;
    bool extra_inline;
    PyObject *disable; /* borrowed: sys.monitoring.DISABLE */
    /* Called once, in the first frame of __main__; whether to record that frame. */
    bool (*main_begins)(void);
};

/* The type; a new reference. */
PyTypeObject *cunei_callback_type(PyObject *module);

/* A callback; `shared` is copied into it. */
PyObject *cunei_callback_new(PyTypeObject *type, enum cunei_callback_kind kind,
                             const struct cunei_callback_shared *shared);

#endif
