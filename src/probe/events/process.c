// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/process.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code/qualname.h"
#include "probe/core/compat.h"
#include "probe/core/names.h"
#include "probe/events/started_python.h"
#include "probe/events/thread_name.h"
#include "rt/recorder.h"

/* The C functions of os._exit, os.execv and os.execve, and os.chroot. */
static PyCFunction leave, execute[2], change_root;

static struct cunei_process_hooks hooks;

static bool has_calls;

/* To be called at the next event of a thread; `call` is set last. */
static struct {
    void (*_Atomic call)(void); /* NULL: nothing */
    unsigned long thread;
    const void *code; /* only at an event of this code, borrowed; NULL: of any */
} later;

static PyCFunction find_function(PyObject *module, const char *name)
{
    PyObject *found = PyObject_GetAttrString(module, name);
    PyCFunction function =
        found && PyCFunction_Check(found) ? PyCFunction_GET_FUNCTION(found) : NULL;

    Py_XDECREF(found);
    return function;
}

int cunei_process_init(const struct cunei_process_hooks *wanted)
{
    hooks = *wanted;
    cunei_started_python_init(hooks.unrecorded);
    PyObject *posix = PyImport_ImportModule("posix");
    if (!posix)
        return -1;
    leave = find_function(posix, "_exit");
    execute[0] = find_function(posix, "execv");
    execute[1] = find_function(posix, "execve");
    change_root = find_function(posix, "chroot");
    Py_DECREF(posix);
    return PyErr_Occurred() ? -1 : 0;
}

static bool is_text(PyObject *text, const char *wanted)
{
    return PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, wanted) == 0;
}

static bool names_way_out(PyCodeObject *code)
{
    PyObject *names = code->co_names;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        Py_ssize_t length = PyUnicode_GET_LENGTH(name);
        if ((length == 5 && (is_text(name, "_exit") || is_text(name, "execv"))) ||
            (length == 6 && (is_text(name, "execve") || is_text(name, "chroot"))))
            return true;
    }
    return false;
}

/* The first function in a process of multiprocessing, a method of its Process. */
static bool is_bootstrap(PyCodeObject *code)
{
    return cunei_qualname_is(code, "BaseProcess._bootstrap");
}

void cunei_process_set_has_calls(bool exist)
{
    has_calls = exist;
}

bool cunei_process_has_calls(void)
{
    return has_calls;
}

bool cunei_process_starts_programs(PyCodeObject *code)
{
    return cunei_qualname_is(code, "Popen._execute_child") ||
           cunei_qualname_is(code, "spawnv_passfds");
}

bool cunei_process_watches(PyCodeObject *code)
{
    return has_calls && (names_way_out(code) || is_bootstrap(code) ||
                         cunei_thread_name_watches(code));
}

bool cunei_process_sets_names(PyCodeObject *code)
{
    return !has_calls && (is_bootstrap(code) || cunei_thread_name_watches(code));
}

/* The name of a Process, which may be NULL. */
static char *name_of(PyObject *process)
{
    PyObject *name = process ? cunei_names_attribute(process, "_name") : NULL;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    char *copy = text ? strdup(text) : NULL;

    PyErr_Clear();
    Py_XDECREF(name);
    return copy;
}

/* The same for a local variable of the running frame. */
static char *name_in_frame(const char *variable)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyObject *process = frame ? PyFrame_GetVarString(frame, variable) : NULL;
    char *name = name_of(process);

    PyErr_Clear();
    Py_XDECREF(process);
    Py_XDECREF(frame);
    return name;
}

static void record_name(char *name)
{
    if (name)
        cunei_recorder_set_name(name);
    free(name);
}

/* Whether the running frame is that of this function. */
static bool runs(const char *qualname)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyCodeObject *code = frame ? PyFrame_GetCode(frame) : NULL;
    bool yes = code && cunei_qualname_is(code, qualname);

    Py_XDECREF(code);
    Py_XDECREF(frame);
    return yes;
}

char *cunei_process_forked_name(void)
{
    return runs("Popen._launch") ? name_in_frame("process_obj") : NULL;
}

static void count_interpreters(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Head();
    unsigned count = 0;

    for (; interpreter; interpreter = PyInterpreterState_Next(interpreter))
        count += interpreter != PyInterpreterState_Main();
    cunei_recorder_note_interpreters(count);
}

PyObject *cunei_process_name(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    (void)module;

    if (!text)
        return NULL;
    cunei_recorder_set_name(text);
    Py_RETURN_NONE;
}

void cunei_process_record_end(void)
{
    count_interpreters();
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *module = modules && PyDict_Check(modules)
                           ? cunei_compat_dict_get(modules, "multiprocessing.process")
                           : NULL;
    PyObject *current =
        module && PyModule_Check(module)
            ? cunei_compat_dict_get(PyModule_GetDict(module), "_current_process")
            : NULL;
    char *name = name_of(current);

    /* The default name, of every process that multiprocessing did not start. */
    if (name && strcmp(name, "MainProcess") == 0) {
        free(name);
        name = NULL;
    }
    record_name(name);
    PyErr_Clear();
    Py_XDECREF(current);
    Py_XDECREF(module);
    Py_XDECREF(modules);
}

/* Whether os._exit accepts it; otherwise it raises. */
static bool is_status(PyObject *argument, int *status)
{
    if (!argument || !PyLong_Check(argument))
        return false;
    long value = PyLong_AsLong(argument);
    bool fits = !PyErr_Occurred() && value >= INT_MIN && value <= INT_MAX;

    PyErr_Clear();
    *status = (int)value;
    return fits;
}

/* The path of os.execv, as far as it is known without running code. */
static void record_exec(PyObject *path)
{
    PyObject *bytes = NULL;

    if (path && PyUnicode_Check(path))
        bytes = PyUnicode_EncodeFSDefault(path);
    else if (path && PyBytes_Check(path))
        bytes = Py_NewRef(path);
    hooks.executes();
    cunei_recorder_set_exec(bytes ? PyBytes_AS_STRING(bytes) : "?");
    PyErr_Clear();
    Py_XDECREF(bytes);
}

static void set_later(void (*begin)(void), const void *code)
{
    later.call = NULL;
    later.code = code;
    later.thread = PyThread_get_thread_ident();
    later.call = begin;
}

void cunei_process_call_later(void (*begin)(void))
{
    set_later(begin, NULL);
}

/*
 * The code of a preexec_fn; NULL: unknown, any.  Other functions run before it, with
 * which Python's own modules handle forks.
 */
static const void *code_of(PyObject *function)
{
    if (function && PyMethod_Check(function))
        function = PyMethod_GET_FUNCTION(function);
    if (function && PyFunction_Check(function))
        return PyFunction_GET_CODE(function);
    return function && PyCFunction_Check(function) ? function
                                                   : NULL; /* it has no code */
}

bool cunei_process_defer(void (*begin)(void))
{
    if (!runs("Popen._execute_child"))
        return false;
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyObject *function = PyFrame_GetVarString(frame, "preexec_fn");
    set_later(begin, code_of(function));
    PyErr_Clear();
    Py_XDECREF(function);
    Py_DECREF(frame);
    return true;
}

void cunei_process_event(PyCodeObject *code)
{
    void (*call)(void) = later.call;

    if (!call || later.thread != PyThread_get_thread_ident() ||
        (later.code && later.code != code))
        return;
    later.call = NULL;
    call();
}

void cunei_process_leaves(PyCFunction function, PyObject *argument)
{
    int status;

    if (!function)
        return;
    if (function == execute[0] || function == execute[1])
        record_exec(argument);
    if (function == change_root)
        cunei_recorder_hold_folder();
    if (function == leave && is_status(argument, &status))
        hooks.exits(status);
}

void cunei_process_call(PyCodeObject *code, PyObject *callable, PyObject *argument)
{
    if (is_bootstrap(code))
        record_name(name_in_frame("self"));
    if (cunei_thread_name_watches(code))
        cunei_thread_name_changes();
    if (PyCFunction_Check(callable))
        cunei_process_leaves(PyCFunction_GET_FUNCTION(callable), argument);
}

void cunei_process_frame(PyCodeObject *code, bool begins)
{
    if (begins && is_bootstrap(code))
        record_name(name_in_frame("self"));
    if (!begins && cunei_thread_name_watches(code))
        cunei_thread_name_changes();
}
