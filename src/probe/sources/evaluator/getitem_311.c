// SPDX-License-Identifier: MIT
#define Py_BUILD_CORE 1
#include <Python.h>

#include "probe/sources/evaluator/getitem_311.h"

#include <internal/pycore_interp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/core/compat.h"

/* So many times a place may run until it is specialized. */
#define PATIENCE 100

/* The instruction that uses up the function versions, and the function that it gives
 * them to. */
static struct {
    PyFunctionObject *function;
    _Py_CODEUNIT *place;
    int misses; /* how often it got none, one after another */
} own;

/*
 * Called by that function: whether no version is left.  Else it is to get another one,
 * and its place to be specialized anew at once.
 */
static PyObject *is_done(PyObject *self)
{
    uint32_t version = own.function->func_version;

    (void)self;
    own.misses = version ? 0 : own.misses + 1;
    if (version > UINT16_MAX || own.misses > PATIENCE)
        Py_RETURN_TRUE;
    if (version) {
        own.function->func_version = 0;
        own.place[0] =
            _Py_MAKECODEUNIT(BINARY_SUBSCR_ADAPTIVE, _Py_OPARG(own.place[0]));
        own.place[1] = 0; /* the counter until then */
    }
    Py_RETURN_FALSE;
}

/* Before it has run: what holds its numbers is empty then, and no instruction. */
static _Py_CODEUNIT *find_place(PyObject *function)
{
    PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(function);
    _Py_CODEUNIT *place = (_Py_CODEUNIT *)(void *)code->co_code_adaptive;

    for (Py_ssize_t i = 0; i < Py_SIZE(code); i++) {
        if (_Py_OPCODE(place[i]) == BINARY_SUBSCR)
            return &place[i];
    }
    return NULL;
}

/*
 * An object, new, that is_done is the negative of, and that has such a `__getitem__`.
 * Its type is kept: as garbage it would count in what gc.collect() returns.
 */
static PyObject *make_item(PyObject *getitem)
{
    static PyType_Slot slots[] = {{Py_nb_negative, is_done}, {0, NULL}};
    static PyType_Spec spec = {.name = "cunei._probe.Item",
                               .basicsize = sizeof(PyObject),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    static PyObject *type;

    if (!type)
        type = PyType_FromSpec(&spec);
    if (!type || PyObject_SetAttrString(type, "__getitem__", getitem) < 0)
        return NULL;
    return PyObject_CallNoArgs(type);
}

/* No builtins in it: the program may have put others in their place. */
static int use_up(PyObject *globals)
{
    static const char text[] = "def getitem(_, item): return -item\n"
                               "def use_up(item):\n"
                               "    while 1:\n"
                               "        if item[item]: return\n";
    PyObject *code = Py_CompileString(text, "<cunei>", Py_file_input);
    PyObject *result = code ? PyEval_EvalCode(code, globals, globals) : NULL;
    Py_XDECREF(code);
    if (!result)
        return -1;
    Py_DECREF(result);
    PyObject *getitem = PyDict_GetItemString(globals, "getitem"); /* borrowed */
    PyObject *loop = PyDict_GetItemString(globals, "use_up");     /* borrowed */
    PyObject *item = getitem && loop ? make_item(getitem) : NULL;
    own.function = (PyFunctionObject *)getitem;
    own.place = item ? find_place(loop) : NULL;
    own.misses = 0;
    result = own.place ? PyObject_CallOneArg(loop, item) : NULL;
    Py_XDECREF(item);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/*
 * The same without events, and with signals blocked until it ends: the loop is no place
 * for their handlers.  Handlers of signals that other threads receive may still run
 * there.
 */
static int use_up_undisturbed(void)
{
    PyThreadState *thread = PyThreadState_Get();
    PyObject *globals = PyDict_New();
    sigset_t all, before;

    if (!globals)
        return -1;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    struct cunei_compat_311_silence silence = cunei_compat_311_enter_silence(thread);
    int rc = use_up(globals);
    cunei_compat_311_leave_silence(thread, &silence);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    PyDict_Clear(globals); /* the functions in it refer to it */
    Py_DECREF(globals);
    return rc;
}

static void renew_versions(PyGC_Head *list)
{
    PyGC_Head *head = _PyGCHead_NEXT(list);

    for (; head != list; head = _PyGCHead_NEXT(head)) {
        PyObject *object = (PyObject *)(head + 1);
        if (!PyFunction_Check(object))
            continue;
        PyFunctionObject *function = (PyFunctionObject *)object;
        if (function->func_version <= UINT16_MAX)
            function->func_version = 0;
    }
}

int cunei_getitem_311_record_all(void)
{
    struct _gc_runtime_state *gc = &PyInterpreterState_Main()->gc;
    static bool is_shown;

    if (is_shown || Py_Version >= 0x030b0400)
        return 0;
    if (use_up_undisturbed() < 0)
        return -1;
    for (int i = 0; i < NUM_GENERATIONS; i++)
        renew_versions(&gc->generations[i].head);
    renew_versions(&gc->permanent_generation.head);
    is_shown = true;
    return 0;
}
