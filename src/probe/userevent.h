// SPDX-License-Identifier: MIT
/*
 * What a program says itself, by the functions of the package: regions, counters,
 * marks, parameters, metadata, tokens.  The package takes them from this module.
 *
 * Each of them is a look at one variable where nothing is recorded.  What is wrong with
 * arguments is said whether something is recorded or not, so that a recording changes
 * nothing; whatever comes from recording is counted, and never raised.
 */
#ifndef CUNEI_PROBE_USEREVENT_H
#define CUNEI_PROBE_USEREVENT_H

#include <Python.h>

#include <stdbool.h>

#include "probe/block.h"
#include "probe/compat.h"
#include "rt/recorder.h"

struct cunei_said;

/* Of a module: types and what is known by its name, owned. */
struct cunei_userevents {
    PyTypeObject *region_type, *counter_type, *tokens_type, *switched_type;
    /* Dicts: the same name is the same object; streams are its copies. */
    PyObject *regions, *counters, *streams;
    PyObject *unswitched[2]; /* what disable and enable give where they do nothing */
};

/* As many names as are kept; more are made anew each time, as are long ones. */
#define CUNEI_USEREVENT_NAMES_MAX 16384
#define CUNEI_USEREVENT_NAME_MAX  256

/* Of the module that a function was called on; module.c knows where it is. */
struct cunei_userevents *cunei_userevents_of(PyObject *module);

/* Add the functions and types to the module; -1 with an exception. */
int cunei_userevents_init(PyObject *module, struct cunei_userevents *events);
int cunei_userevents_traverse(struct cunei_userevents *events, visitproc visit,
                              void *arg);
void cunei_userevents_clear(struct cunei_userevents *events);

/* The parts of it: a type, and the functions that are the module's. */
PyTypeObject *cunei_regiontype_new(PyObject *module);
PyTypeObject *cunei_countertype_new(PyObject *module);
PyTypeObject *cunei_tokenstype_new(PyObject *module);
int cunei_switchtype_init(PyObject *module, struct cunei_userevents *events);
extern PyMethodDef cunei_region_functions[];
extern PyMethodDef cunei_counter_functions[];
extern PyMethodDef cunei_tokens_functions[];
extern PyMethodDef cunei_switch_functions[];

/* Objects of these types begin so. */
struct cunei_named {
    struct cunei_block block;
    struct cunei_said *said; /* owned */
};

/* What all objects of one of these types have in common. */
struct cunei_named_kind {
    const char *file;    /* of their cunei_said */
    const char *what;    /* their name is, in what is raised */
    vectorcallfunc call; /* of those that are for `with` */
};

/* The object of `type` by this name: one that `known` has, or a new one. */
PyObject *cunei_userevents_find(PyTypeObject *type, const struct cunei_named_kind *kind,
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

/* A mark that says what the program has done wrong. */
void cunei_userevent_tell_error(const char *name, const char *sentence);

/* Write again what was said of the whole process: another recording has begun. */
void cunei_userevent_tell_metadata(bool top_is_open);

/*
 * Around what is written.  Only where events are recorded, and by the interpreter that
 * is: others share its process.
 */
static inline bool cunei_userevent_is_on(void)
{
    return __builtin_expect(cunei_recorder_is_on(), 0) &&
           PyInterpreterState_Get() == PyInterpreterState_Main();
}

#endif
