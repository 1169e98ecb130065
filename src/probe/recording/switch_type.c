// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/switch_type.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/sealed_type.h"
#include "probe/recording/probe_state.h"
#include "probe/recording/switch.h"
#include "probe/user/with_block.h"
#include "rt/recorder.h"

struct switched {
    struct cunei_with_block block;
    bool enables;
    atomic_bool is_due; /* to be switched back */
};

static bool turn(bool on)
{
    return on ? cunei_switch_resume() : cunei_switch_pause();
}

static void turn_back(PyObject *self)
{
    struct switched *switched = (struct switched *)self;

    if (atomic_load_explicit(&switched->is_due, memory_order_relaxed) &&
        atomic_exchange(&switched->is_due, false))
        (void)turn(!switched->enables);
}

static PyObject *switched_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *switched_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args;
    (void)count;
    turn_back(self);
    Py_RETURN_NONE;
}

/* The function with the switch around it, which is written in Python. */
static PyObject *wrap(PyObject *function, bool enables)
{
    const char *name = enables ? "enable" : "disable";
    PyObject *probe = PyImport_ImportModule("cunei._probe");
    PyObject *python = PyImport_ImportModule("cunei._switch");
    PyObject *turns = probe ? PyObject_GetAttrString(probe, name) : NULL;
    PyObject *wrapped =
        python && turns ? PyObject_CallMethod(python, "_wrap", "OO", function, turns)
                        : NULL;

    Py_XDECREF(turns);
    Py_XDECREF(python);
    Py_XDECREF(probe);
    return wrapped;
}

/*
 * Called by a `with` block, or as a decorator: then the switch is on while the function
 * runs.
 */
static PyObject *switched_call(PyObject *self, PyObject *const *args, size_t flags,
                               PyObject *names)
{
    Py_ssize_t count = names ? -1 : PyVectorcall_NARGS(flags);

    if (count == 0)
        return switched_enter(self, NULL);
    if (count == 3)
        return switched_exit(self, args, count);
    if (count != 1) {
        PyErr_SetString(PyExc_TypeError, "takes a function to decorate");
        return NULL;
    }
    turn_back(self);
    return wrap(args[0], ((struct switched *)self)->enables);
}

static PyObject *switched_new(PyTypeObject *type, bool enables, bool is_due)
{
    struct switched *switched = (struct switched *)type->tp_alloc(type, 0);

    if (switched) {
        switched->block.call = switched_call;
        switched->enables = enables;
        atomic_init(&switched->is_due, is_due);
    }
    return (PyObject *)switched;
}

static PyMethodDef methods[] = {
    {"__enter__", switched_enter, METH_NOARGS, NULL},
    {"__exit__", CUNEI_METHOD(switched_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cunei_sealed_type_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_doc, "Switches back at the end of a `with` block; also a decorator."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Switched",
    .basicsize = sizeof(struct switched),
    .flags = CUNEI_SEALED_TYPE_FLAGS,
    .slots = slots,
};

static PyObject *on_switch(PyObject *module, PyObject *const *args, Py_ssize_t count,
                           bool enables)
{
    const struct cunei_probe *state = cunei_probe_of(module);

    if (count > 1) {
        PyErr_SetString(PyExc_TypeError,
                        "takes at most one argument, a function to decorate");
        return NULL;
    }
    if (count == 1 && args[0] != Py_None)
        return wrap(args[0], enables);
    if (!cunei_recorder_is_on() || !turn(enables))
        return Py_NewRef(state->unswitched[enables]);
    return switched_new(state->switched_type, enables, true);
}

static PyObject *on_disable(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return on_switch(module, args, count, false);
}

static PyObject *on_enable(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return on_switch(module, args, count, true);
}

static PyMethodDef functions[] = {
    {"disable", CUNEI_METHOD(on_disable), METH_FASTCALL,
     "Record no calls, in all threads, until enable() is called as often as this.\n"
     "\n"
     "`with cunei.disable():` does so for a block, `@cunei.disable` while a function\n"
     "runs.  Without a recording nothing happens."},
    {"enable", CUNEI_METHOD(on_enable), METH_FASTCALL,
     "Undo one disable(); without one, do nothing.\n"
     "\n"
     "`with cunei.enable():` does so for a block, `@cunei.enable` while a function\n"
     "runs."},
    {NULL, NULL, 0, NULL},
};

int cunei_switch_type_init(PyObject *module)
{
    struct cunei_probe *state = cunei_probe_of(module);
    PyTypeObject *type = cunei_sealed_type_add(module, &spec, functions);

    state->switched_type = type;
    if (!type || cunei_with_block_adopt(type) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        state->unswitched[i] = switched_new(type, i, false);
    return state->unswitched[0] && state->unswitched[1] ? 0 : -1;
}
