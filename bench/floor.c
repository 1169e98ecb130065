// SPDX-License-Identifier: MIT
/*
 * The extension module cunei_floor: the least that a recorder on sys.monitoring can
 * cost, to compare the probe with.
 *
 * Callbacks are objects with a vectorcall slot, like the probe's; they read the
 * time-stamp counter and do nothing else.
 *
 *     cunei_floor.callback()    a new callback for any event
 *     cunei_floor.idle()        one that does not even read the counter
 */
#include <Python.h>

#include <stddef.h>

#include "rt/clock.h"

struct callback {
    PyObject_HEAD vectorcallfunc call;
};

/* Of each thread: without a GIL, threads that store to one place slow each other. */
static _Thread_local volatile uint64_t last __attribute__((tls_model("initial-exec")));

static PyObject *read_clock(PyObject *self, PyObject *const *args, size_t count,
                            PyObject *names)
{
    (void)self;
    (void)args;
    (void)count;
    (void)names;
    last = cunei_clock_counter();
    Py_RETURN_NONE;
}

static PyObject *do_nothing(PyObject *self, PyObject *const *args, size_t count,
                            PyObject *names)
{
    (void)self;
    (void)args;
    (void)count;
    (void)names;
    Py_RETURN_NONE;
}

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(struct callback, call),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, callback_members},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "cunei_floor.Callback",
    .basicsize = sizeof(struct callback),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = callback_slots,
};

static PyObject *new_callback(PyObject *module, vectorcallfunc call)
{
    PyTypeObject *type = *(PyTypeObject **)PyModule_GetState(module);
    struct callback *callback = PyObject_New(struct callback, type);
    if (callback)
        callback->call = call;
    return (PyObject *)callback;
}

static PyObject *floor_callback(PyObject *module, PyObject *unused)
{
    (void)unused;
    return new_callback(module, read_clock);
}

static PyObject *floor_idle(PyObject *module, PyObject *unused)
{
    (void)unused;
    return new_callback(module, do_nothing);
}

static PyMethodDef methods[] = {
    {"callback", floor_callback, METH_NOARGS, "A new callback for any event."},
    {"idle", floor_idle, METH_NOARGS, "One that does nothing at all."},
    {NULL, NULL, 0, NULL},
};

static int floor_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &callback_spec, NULL);
    *(PyObject **)PyModule_GetState(module) = type;
    return type ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, floor_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "cunei_floor", .m_size = sizeof(PyObject *),
    .m_methods = methods,  .m_slots = slots,
};

PyMODINIT_FUNC PyInit_cunei_floor(void);

PyMODINIT_FUNC PyInit_cunei_floor(void)
{
    return PyModuleDef_Init(&definition);
}
