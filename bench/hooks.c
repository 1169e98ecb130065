// SPDX-License-Identifier: MIT
/*
 * The extension module cunei_hooks: the least that a recorder can cost on the hooks
 * that are older than sys.monitoring, on any CPython from 3.8 on.
 *
 *     cunei_hooks.evaluator(True)    each frame runs through ours (PEP 523), which
 *                                    reads the clock before and after it
 *     cunei_hooks.profile(True)      a profile function in C that counts calls
 *     cunei_hooks.trace(True)        a trace function in C that reads the clock for
 *                                    each line
 *
 * The last two are those of the calling thread; False switches off again.
 */
#include <Python.h>

#include <frameobject.h>
#include <stdbool.h>

#include "rt/clock.h"

#if PY_VERSION_HEX >= 0x030b0000
typedef struct _PyInterpreterFrame frame_type;
#else
typedef PyFrameObject frame_type;
#endif

static _Thread_local volatile uint64_t last __attribute__((tls_model("initial-exec")));
static _Thread_local volatile uint64_t calls __attribute__((tls_model("initial-exec")));

#if PY_VERSION_HEX >= 0x03090000
static PyObject *evaluate(PyThreadState *thread, frame_type *frame, int throws)
{
    last = cunei_clock_counter();
    PyObject *result = _PyEval_EvalFrameDefault(thread, frame, throws);
    last = cunei_clock_counter();
    return result;
}

static void set_evaluator(bool is_on)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Main(),
                                         is_on ? evaluate : _PyEval_EvalFrameDefault);
}
#else
#define Py_BUILD_CORE 1
#include <internal/pycore_pystate.h>

static PyObject *evaluate(frame_type *frame, int throws)
{
    last = cunei_clock_counter();
    PyObject *result = _PyEval_EvalFrameDefault(frame, throws);
    last = cunei_clock_counter();
    return result;
}

static void set_evaluator(bool is_on)
{
    PyInterpreterState_Main()->eval_frame = is_on ? evaluate : _PyEval_EvalFrameDefault;
}
#endif

static int count_call(PyObject *object, PyFrameObject *frame, int what,
                      PyObject *argument)
{
    (void)object;
    (void)frame;
    (void)argument;
    calls += what == PyTrace_CALL;
    return 0;
}

static int read_clock(PyObject *object, PyFrameObject *frame, int what,
                      PyObject *argument)
{
    (void)object;
    (void)frame;
    (void)argument;
    if (what == PyTrace_LINE)
        last = cunei_clock_counter();
    return 0;
}

static PyObject *hooks_evaluator(PyObject *module, PyObject *is_on)
{
    (void)module;
    set_evaluator(is_on == Py_True);
    Py_RETURN_NONE;
}

static PyObject *hooks_profile(PyObject *module, PyObject *is_on)
{
    (void)module;
    PyEval_SetProfile(is_on == Py_True ? count_call : NULL, NULL);
    Py_RETURN_NONE;
}

static PyObject *hooks_trace(PyObject *module, PyObject *is_on)
{
    (void)module;
    PyEval_SetTrace(is_on == Py_True ? read_clock : NULL, NULL);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"evaluator", hooks_evaluator, METH_O, "Let frames run through ours, or not."},
    {"profile", hooks_profile, METH_O, "Count calls in a profile function, or not."},
    {"trace", hooks_trace, METH_O, "Read the clock for each line, or not."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cunei_hooks",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit_cunei_hooks(void);

PyMODINIT_FUNC PyInit_cunei_hooks(void)
{
    return PyModuleDef_Init(&definition);
}
