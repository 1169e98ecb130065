// SPDX-License-Identifier: MIT
/*
 * What a program says itself, by the functions of the package: regions, counters,
 * marks, parameters, metadata, tokens.  The package takes them from this module.
 *
 * Each of them is a look at one variable where nothing is recorded.  What is wrong with
 * arguments is said whether something is recorded or not, so that a recording changes
 * nothing; whatever comes from recording is counted, and never raised.
 */
#ifndef CUNEI_PROBE_USER_USER_EVENT_H
#define CUNEI_PROBE_USER_USER_EVENT_H

#include <Python.h>

#include <stdbool.h>

#include "probe/core/compat.h"
#include "probe/user/with_block.h"
#include "rt/recorder.h"

struct cunei_user_name;

/* Of a module: types and what is known by its name, owned. */
struct cunei_user_events {
    PyTypeObject *region_type, *counter_type, *tokens_type, *switched_type;
    /* Dicts: the same name is the same object; streams are its copies. */
    PyObject *regions, *counters, *streams;
    PyObject *unswitched[2]; /* what disable and enable give where they do nothing */
};

/* As many names as are kept; more are made anew each time, as are long ones. */
#define CUNEI_USEREVENT_NAMES_MAX 16384
#define CUNEI_USEREVENT_NAME_MAX  256

/* Of the module that a function was called on; module.c knows where it is. */
struct cunei_user_events *cunei_user_events_of(PyObject *module);

/* Add the functions and types to the module; -1 with an exception. */
int cunei_user_events_init(PyObject *module, struct cunei_user_events *events);
int cunei_user_events_traverse(struct cunei_user_events *events, visitproc visit,
                               void *arg);
void cunei_user_events_clear(struct cunei_user_events *events);

/* The parts of it: a type, and the functions that are the module's. */
PyTypeObject *cunei_region_type_new(PyObject *module);
PyTypeObject *cunei_counter_type_new(PyObject *module);
PyTypeObject *cunei_tokens_type_new(PyObject *module);
int cunei_switch_type_init(PyObject *module, struct cunei_user_events *events);
extern PyMethodDef cunei_region_functions[];
extern PyMethodDef cunei_counter_functions[];
extern PyMethodDef cunei_tokens_functions[];
extern PyMethodDef cunei_switch_functions[];

/* Objects of these types begin so. */
struct cunei_named {
    struct cunei_with_block block;
    struct cunei_user_name *said; /* owned */
};

/* What all objects of one of these types have in common. */
struct cunei_named_kind {
    const char *file;    /* of their cunei_user_name */
    const char *what;    /* their name is, in what is raised */
    vectorcallfunc call; /* of those that are for `with` */
};

/* The object of `type` by this name: one that `known` has, or a new one. */
PyObject *cunei_user_events_find(PyTypeObject *type,
                                 const struct cunei_named_kind *kind, PyObject *known,
                                 PyObject *name);

void cunei_named_dealloc(PyObject *self);
PyObject *cunei_named_name(PyObject *self, void *unused);

/*
 * As the function of the package that makes it is written; and how pickle and copy get
 * at it again.  What a program leaves in its objects must not keep it from copying or
 * sending them: the same name is the same object, in another process of its own.
 */
PyObject *cunei_named_repr(PyObject *self, const char *function);
PyObject *cunei_named_reduce(PyObject *self, const char *function);

/* A mark that says what the program has done wrong. */
void cunei_user_event_tell_error(const char *name, const char *sentence);

/* Write again what was said of the whole process: another recording has begun. */
void cunei_user_event_tell_metadata(bool top_is_open);

/*
 * Around what is written.  Only where events are recorded, and by the interpreter that
 * is: others share its process.
 */
static inline bool cunei_user_event_is_on(void)
{
    return __builtin_expect(cunei_recorder_is_on(), 0) &&
           PyInterpreterState_Get() == PyInterpreterState_Main();
}

#endif
