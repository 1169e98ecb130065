// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/process_call_hooks.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "probe/core/cold_event.h"
#include "probe/core/compat.h"
#include "probe/events/process.h"
#include "probe/events/started_python.h"
#include "rt/process_exit.h"

/* The arguments of a call: positional ones, then the values of keywords. */
struct arguments {
    PyObject *const *items;
    Py_ssize_t count;
};

/* Reports to be made before a call, and with the result after one that succeeded. */
static void report_leaving(PyObject *function, struct arguments arguments);
static void report_exec(PyObject *function, struct arguments arguments);
static void report_kill(PyObject *result, struct arguments arguments);
static void report_wait(PyObject *result, struct arguments arguments);
static void report_spawn(PyObject *result, struct arguments arguments);
static void report_start(PyObject *result, struct arguments arguments);

static const struct {
    const char *module, *name;
    void (*before)(PyObject *function, struct arguments arguments);
    void (*after)(PyObject *result, struct arguments arguments);
} functions[] = {
    {"posix", "_exit", report_leaving, NULL},
    {"posix", "execv", report_exec, NULL},
    {"posix", "execve", report_exec, NULL},
    {"posix", "chroot", report_leaving, NULL},
    {"posix", "kill", NULL, report_kill},
    {"posix", "wait", NULL, report_wait},
    {"posix", "waitpid", NULL, report_wait},
    {"posix", "wait3", NULL, report_wait},
    {"posix", "wait4", NULL, report_wait},
    {"posix", "posix_spawn", NULL, report_spawn},
    {"posix", "posix_spawnp", NULL, report_spawn},
    {"_posixsubprocess", "fork_exec", NULL, report_start}, /* the last */
};

enum {
    HOOKS = sizeof(functions) / sizeof(*functions),
    SENT = 256
};

/*
 * The last signal that was sent to a process whose pid has this remainder: pid and
 * signal, which may have ended it.  A program that sends signals to more children at a
 * time is not known to have ended some of them.
 */
static _Atomic uint64_t sent[SENT];

/* The slots as they were.  They stay: a thread may be inside `call`. */
static struct hook {
    PyCFunctionObject *function; /* owned; NULL: not found yet */
    vectorcallfunc original;
    PyMethodDef *method;
    PyMethodDef replaced;
} hooks[HOOKS];

static struct hook *find_hook(PyObject *function)
{
    for (int i = 0; i < HOOKS; i++) {
        if ((PyObject *)hooks[i].function == function)
            return &hooks[i];
    }
    return NULL;
}

/* The first value is the first argument, whatever its name.  With execve it may not be
 * a path, and none is recorded. */
static void report_leaving(PyObject *function, struct arguments arguments)
{
    if (arguments.count > 0)
        cunei_process_leaves(PyCFunction_GET_FUNCTION(function), arguments.items[0]);
}

/* A path, the program's arguments, and for execve its variables. */
static void report_exec(PyObject *function, struct arguments arguments)
{
    const struct cunei_start start = {
        .paths = arguments.count > 0 ? arguments.items[0] : Py_None,
        .arguments = arguments.count > 1 ? arguments.items[1] : Py_None,
        .environment = arguments.count > 2 ? arguments.items[2] : Py_None};

    if (!cunei_process_has_calls())
        report_leaving(function, arguments);
    cunei_started_python_executes(&start);
}

/* A number of 0 to INT_MAX; -1: another object. */
static int number_of(PyObject *object)
{
    if (!PyLong_Check(object))
        return -1;
    long value = PyLong_AsLong(object);
    PyErr_Clear();
    return value >= 0 && value <= INT_MAX ? (int)value : -1;
}

/* Whether the signal stops or continues a process, and so ends none. */
static bool is_job_control(int number)
{
    return number == SIGCONT || number == SIGSTOP || number == SIGTSTP ||
           number == SIGTTIN || number == SIGTTOU;
}

static void report_kill(PyObject *result, struct arguments arguments)
{
    (void)result;
    if (arguments.count != 2)
        return;
    int pid = number_of(arguments.items[0]), number = number_of(arguments.items[1]);
    if (pid > 0 && number > 0 && !is_job_control(number))
        atomic_store(&sent[pid % SENT], (uint64_t)pid << 32 | (uint32_t)number);
}

/* The signal that was sent to the process; 0: none is known.  It is forgotten. */
static int take_sent(pid_t pid)
{
    uint64_t found = atomic_load(&sent[pid % SENT]);

    if (found >> 32 != (uint64_t)pid)
        return 0;
    atomic_compare_exchange_strong(&sent[pid % SENT], &found, 0);
    return (int)(uint32_t)found;
}

/* A tuple of the pid, 0 if no child has changed, the status, and for some more.  A
 * child that was stopped or continued has not ended. */
static void report_wait(PyObject *result, struct arguments arguments)
{
    (void)arguments;
    if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) < 2)
        return;
    int pid = number_of(PyTuple_GET_ITEM(result, 0));
    int status = number_of(PyTuple_GET_ITEM(result, 1));
    if (pid > 0 && status >= 0 && (WIFEXITED(status) || WIFSIGNALED(status))) {
        cunei_process_exit_note_child(pid, status, take_sent(pid));
        cunei_started_python_ended(pid);
    }
}

/* Its arguments are a path, the program's arguments, and a mapping or None. */
static void report_spawn(PyObject *result, struct arguments arguments)
{
    int pid = number_of(result);

    if (pid <= 0 || arguments.count < 3)
        return;
    const struct cunei_start start = {.paths = arguments.items[0],
                                      .arguments = arguments.items[1],
                                      .environment = arguments.items[2]};
    cunei_started_python_started(pid, &start);
}

/* The program's arguments, its possible paths, and as the sixth its variables or None.
 */
static void report_start(PyObject *result, struct arguments arguments)
{
    int pid = number_of(result);

    if (pid <= 0 || arguments.count < 6)
        return;
    const struct cunei_start start = {.paths = arguments.items[1],
                                      .arguments = arguments.items[0],
                                      .environment = arguments.items[5]};
    cunei_started_python_started(pid, &start);
}

static bool is_recorded(void)
{
    /* Other interpreters may have the same functions, and are not recorded. */
    return PyInterpreterState_Get() == PyInterpreterState_Main();
}

static void report_result(const struct hook *hook, PyObject *result,
                          struct arguments arguments)
{
    if (!result || !functions[hook - hooks].after || !is_recorded())
        return;
    struct cunei_cold_event event = cunei_cold_event_begin();
    functions[hook - hooks].after(result, arguments);
    cunei_cold_event_end(&event);
}

static PyObject *call(PyObject *function, PyObject *const *args, size_t count,
                      PyObject *keywords)
{
    const struct hook *hook = find_hook(function);
    const struct arguments arguments = {
        args, PyVectorcall_NARGS(count) + (keywords ? PyTuple_GET_SIZE(keywords) : 0)};

    if (functions[hook - hooks].before && is_recorded()) {
        struct cunei_cold_event event = cunei_cold_event_begin();
        functions[hook - hooks].before(function, arguments);
        cunei_cold_event_end(&event);
    }
    PyObject *result = hook->original(function, args, count, keywords);
    report_result(hook, result, arguments);
    return result;
}

/* The same for the last row, which has no vectorcall slot before CPython 3.12. */
static PyObject *call_with_tuple(PyObject *self, PyObject *tuple)
{
    const struct hook *hook = &hooks[HOOKS - 1];
    const struct arguments arguments = {&PyTuple_GET_ITEM(tuple, 0),
                                        PyTuple_GET_SIZE(tuple)};

    PyObject *result = hook->method->ml_meth(self, tuple);
    report_result(hook, result, arguments);
    return result;
}

static bool is_watched(const PyCFunctionObject *function)
{
    return function->vectorcall == call || function->m_ml->ml_meth == call_with_tuple;
}

/*
 * A specialized call uses the function in the method, not the slot.  It is not
 * specialized if the flags are of a kind without a specialized form.
 */
static void prevent_specialization(struct hook *hook)
{
    hook->replaced.ml_flags = METH_KEYWORDS;
    hook->function->m_ml = &hook->replaced;
}

static void replace_method(struct hook *hook)
{
    hook->replaced.ml_meth = call_with_tuple;
    hook->function->m_ml = &hook->replaced;
}

static void watch(struct hook *hook, PyObject *function)
{
    PyCFunctionObject *builtin = (PyCFunctionObject *)function;

    if (!PyCFunction_Check(function) || is_watched(builtin) ||
        (hook->function && hook->function != builtin))
        return;
    bool has_tuple =
        builtin->m_ml->ml_flags == METH_VARARGS && hook == &hooks[HOOKS - 1];
    if (!builtin->vectorcall && !has_tuple)
        return;
    if (!hook->function) {
        hook->function = (PyCFunctionObject *)Py_NewRef(function);
        hook->method = builtin->m_ml;
    }
    hook->replaced = *hook->method;
    hook->original = builtin->vectorcall;
    if (has_tuple) {
        replace_method(hook);
        return;
    }
    builtin->vectorcall = call;
    if (PY_VERSION_HEX >= 0x030b0000)
        prevent_specialization(hook);
}

/* A module that is imported, or NULL: an import would run the program's __import__. */
static PyObject *find_module(PyObject *modules, const char *name)
{
    PyObject *module = cunei_compat_dict_get(modules, name);

    if (module && !PyModule_Check(module))
        Py_CLEAR(module);
    return module;
}

void cunei_process_call_hooks_watch(void)
{
    PyObject *modules = cunei_compat_sys("modules");

    for (int i = 0; modules && PyDict_Check(modules) && i < HOOKS; i++) {
        if (functions[i].before == report_leaving && cunei_process_has_calls())
            continue;
        PyObject *module = find_module(modules, functions[i].module);
        PyObject *function =
            module ? cunei_compat_dict_get(PyModule_GetDict(module), functions[i].name)
                   : NULL;
        if (function)
            watch(&hooks[i], function);
        Py_XDECREF(function);
        Py_XDECREF(module);
    }
    PyErr_Clear();
    Py_XDECREF(modules);
}

void cunei_process_call_hooks_unwatch(void)
{
    for (int i = 0; i < HOOKS; i++) {
        PyCFunctionObject *function = hooks[i].function;
        if (!function || !is_watched(function))
            continue;
        function->vectorcall = hooks[i].original;
        function->m_ml = hooks[i].method;
    }
}
