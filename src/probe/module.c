// SPDX-License-Identifier: MIT
/*
 * The extension module cunei._probe: what Python sees of the probe.
 *
 * It records the main interpreter of its process; in any other one it can be imported
 * and refuses to start.  Whoever starts, stops or goes on recording has control: see
 * probe/world.h.
 */
#include <Python.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/argument.h"
#include "probe/ccall.h"
#include "probe/code.h"
#include "probe/collect.h"
#include "probe/compat.h"
#include "probe/cost.h"
#include "probe/describe.h"
#include "probe/exception.h"
#include "probe/frames.h"
#include "probe/greenlet.h"
#include "probe/monitor.h"
#include "probe/process.h"
#include "probe/task.h"
#include "probe/threadname.h"
#include "probe/world.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/refusal.h"
#include "wire/session.h"

struct probe_state {
    struct cunei_monitor monitor;
    struct cunei_collect collect;
    PyTypeObject *callback_type;
    PyTypeObject *tracer_type;
    struct cunei_session session; /* of the recording that is on, or awaited */
    uint64_t event_cost_ps;
    bool inside; /* started by the program itself */
    bool hooked; /* into the interpreter's exit and fork */
};

/*
 * The main interpreter's state while it records or waits to: callbacks from the runtime
 * library carry no argument.
 */
static struct probe_state *active;

/* Set by the fork handler of the C library, before Python runs in the child. */
static bool forked;

static struct probe_state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static void when_selected(PyCodeObject *code)
{
    cunei_monitor_select(&active->monitor, code);
}

static void when_watched(PyCodeObject *code)
{
    cunei_monitor_watch(&active->monitor, code);
}

static void forget_watched(PyCodeObject *code)
{
    cunei_monitor_unwatch(&active->monitor, code);
}

static void forget_code(PyCodeObject *code)
{
    cunei_monitor_forget(&active->monitor, code);
}

static void unmute(PyCodeObject *code)
{
    cunei_monitor_unmute(&active->monitor, code);
}

static void when_forked(void)
{
    forked = true;
}

/* A thread has begun a packet, or was poked. */
static void when_poked(bool top_is_open)
{
    struct probe_state *state = active;

    cunei_threadname_check(top_is_open);
    cunei_greenlet_attach();
    if (state)
        cunei_collect_hook(&state->collect);
}

/*
 * Whether events are set for each code object that is selected.  Not where that, and
 * switching them off for what is not, stops the world each time.
 */
static bool is_selective(const struct probe_state *state)
{
    return CUNEI_COMPAT_HAS_GIL && state->session.patterns.count > 0;
}

/* Everything off, all ids given back; the recording itself has ended. */
static void release(struct probe_state *state)
{
    const struct cunei_code_hooks none = {0};

    cunei_collect_end(&state->collect);
    cunei_greenlet_detach();
    if (state->monitor.tool >= 0) {
        cunei_monitor_pause(&state->monitor);
        cunei_code_visit_watched(forget_watched);
        if (is_selective(state))
            cunei_code_visit(forget_code);
        if (cunei_code_has_muted() && !cunei_monitor_unmute_all(&state->monitor))
            cunei_code_visit_muted(unmute);
    }
    cunei_monitor_release(&state->monitor);
    cunei_code_reset(NULL, &none);
    cunei_argument_choose(NULL);
    cunei_task_reset();
    cunei_process_begin_later(NULL);
    cunei_session_fini(&state->session);
    active = NULL;
}

/* 0, or a negative errno with nothing started and no exception set. */
static int start_recorder(struct probe_state *state, bool is_forked)
{
    struct cunei_process process = {.event_cost_ps = state->event_cost_ps,
                                    .started_inside = state->inside,
                                    .c_calls = state->session.c_calls,
                                    .forked = is_forked};
    struct cunei_recorder_options options = {
        .directory = state->session.directory,
        /* The launcher has made it, and may have removed it by now. */
        .make_directory = !is_forked && !state->session.frequency,
        .frequency = state->session.frequency,
        .max_bytes = state->session.max_bytes,
        .hooks = {.stack = cunei_greenlet_stack,
                  .name = cunei_threadname_copy,
                  .poked = when_poked,
                  .forked = when_forked},
    };

    cunei_task_reset();
    cunei_greenlet_begin(state->tracer_type);
    cunei_exception_reset();
    cunei_describe(&process, &state->session.patterns);
    if (is_forked)
        process.name = cunei_process_forked_name();
    int rc = cunei_recorder_start(&options, &process);
    cunei_process_fini(&process);
    return rc;
}

/* Frames that are open already: their code must be heard of when they end. */
static void resolve_open(void *unused, PyCodeObject *code, PyObject *globals)
{
    (void)unused;
    (void)cunei_code_resolve(code, globals);
}

/* Before there is a recording: late events of the one before get no words then. */
static void forget_words(struct probe_state *state)
{
    const struct cunei_code_hooks hooks = {
        .selected = is_selective(state) ? when_selected : NULL,
        .watched = when_watched,
    };

    cunei_code_reset(&state->session.patterns, &hooks);
    cunei_argument_choose(&state->session);
    cunei_ccall_reset();
}

static int start_events(struct probe_state *state)
{
    bool selective = is_selective(state);

    if (cunei_monitor_record(&state->monitor, selective) < 0)
        return -1;
    if (selective)
        cunei_frames_visit_all(resolve_open, NULL);
    cunei_collect_begin(&state->collect);
    cunei_greenlet_attach(); /* its first event may be a switch */
    return 0;
}

static void stop_recorder(void *unused)
{
    (void)unused;
    (void)cunei_recorder_stop();
}

/*
 * The recording cannot be begun: the launcher hears of it, and who debugs.  The program
 * does not.
 */
static void refuse(struct probe_state *state, int error)
{
    const char *debug = getenv("CUNEI_DEBUG");

    cunei_refusal_leave(state->session.directory, error);
    if (debug && strcmp(debug, "1") == 0)
        (void)dprintf(STDERR_FILENO, "cunei: not recording into '%s': %s\n",
                      state->session.directory, strerror(error));
    release(state);
}

/* In a process that the launcher armed. */
static void begin_main(struct probe_state *state)
{
    int rc = cunei_monitor_register(&state->monitor, is_selective(state));
    forget_words(state);
    rc = rc < 0 ? -EBUSY : start_recorder(state, false);
    if (rc == 0 && start_events(state) < 0) {
        cunei_world_stop(stop_recorder, NULL);
        rc = -EBUSY;
    }
    PyErr_Clear();
    if (rc < 0)
        refuse(state, -rc);
}

/* The same in __main__'s first frame. */
static void main_begins(void)
{
    if (!cunei_world_take_control())
        return;
    if (active)
        begin_main(active);
    cunei_world_leave_control();
}

/* Go on in another folder: in a forked child, or where os._exit came back. */
static void begin_again(bool is_forked)
{
    if (!cunei_world_take_control())
        return;
    if (active) {
        cunei_code_renew();
        cunei_ccall_reset();
        int rc = start_recorder(active, is_forked);
        if (rc < 0)
            refuse(active, -rc);
    }
    cunei_world_leave_control();
}

static void begin_forked(void)
{
    begin_again(true);
}

static void begin_staying(void)
{
    begin_again(false);
}

static void leave_recorder(void *status)
{
    (void)cunei_recorder_leave(*(int *)status);
}

/* The process is about to leave by os._exit. */
static void when_leaving(int status)
{
    if (!cunei_world_take_control())
        return;
    if (active && cunei_recorder_is_on()) {
        cunei_process_tell_end();
        cunei_exception_end();
        cunei_world_stop(leave_recorder, &status);
        /* A call with one argument too many comes back. */
        cunei_process_begin_later(begin_staying);
    }
    cunei_world_leave_control();
}

static PyObject *probe_stop(PyObject *module, PyObject *unused)
{
    struct probe_state *state = state_of(module);
    (void)unused;

    if (!cunei_world_take_control())
        Py_RETURN_NONE;
    if (state == active) {
        /* Events first: after that hardly any thread is in the middle of one. */
        cunei_monitor_pause(&state->monitor);
        cunei_process_tell_end();
        cunei_exception_end();
        cunei_world_stop(stop_recorder, NULL);
        release(state);
    }
    cunei_world_leave_control();
    Py_RETURN_NONE;
}

/*
 * In a forked child: events and tool ids are on as in its parent.  It records at once,
 * so that its first packet says what is open.
 */
static PyObject *probe_forked(PyObject *module, PyObject *unused)
{
    struct probe_state *state = state_of(module);
    uint64_t now = cunei_clock_read();
    (void)unused;

    if (state == active && state->session.only_pid)
        release(state); /* and must not pay for it, either */
    else if (state == active && forked && !cunei_process_defers(begin_forked)) {
        begin_forked();
        (void)cunei_recorder_room(&now, 0, true);
    }
    forked = false;
    Py_RETURN_NONE;
}

/* Call `module.function(callable)`, or with it as the keyword argument `keyword`. */
static int hook_into(const char *module, const char *function, const char *keyword,
                     PyObject *callable)
{
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *target = imported ? PyObject_GetAttrString(imported, function) : NULL;
    PyObject *args = keyword ? PyTuple_New(0) : PyTuple_Pack(1, callable);
    PyObject *names = keyword ? Py_BuildValue("{sO}", keyword, callable) : NULL;
    PyObject *result = NULL;

    if (target && args && (names || !keyword))
        result = PyObject_Call(target, args, names);
    Py_XDECREF(imported);
    Py_XDECREF(target);
    Py_XDECREF(args);
    Py_XDECREF(names);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static int hook_once(PyObject *module)
{
    struct probe_state *state = state_of(module);
    PyObject *stop = NULL, *child = NULL;
    int rc = -1;

    if (state->hooked)
        return 0;
    stop = PyObject_GetAttrString(module, "stop");
    child = PyObject_GetAttrString(module, "_forked");
    if (stop && child && hook_into("atexit", "register", NULL, stop) == 0 &&
        hook_into("posix", "register_at_fork", "after_in_child", child) == 0) {
        state->hooked = true;
        rc = 0;
    }
    Py_XDECREF(stop);
    Py_XDECREF(child);
    return rc;
}

/* Take what recording needs of the interpreter; the session is set already. */
static int prepare(PyObject *module)
{
    struct probe_state *state = state_of(module);

    if (hook_once(module) < 0)
        return -1;
    active = state;
    state->monitor.c_calls = state->session.c_calls;
    if (cunei_monitor_take(&state->monitor, is_selective(state)) < 0)
        return -1;
    uint64_t cost_ps = cunei_cost_measure(&state->monitor);
    if (cost_ps)
        state->event_cost_ps = cost_ps;
    return PyErr_Occurred()
               ? -1
               : cunei_monitor_register(&state->monitor, is_selective(state));
}

static bool is_main_interpreter(void)
{
    return PyInterpreterState_Get() == PyInterpreterState_Main();
}

static bool take_control(void)
{
    if (cunei_world_take_control())
        return true;
    PyErr_SetString(PyExc_RuntimeError,
                    "a recording is just being started or stopped by this thread");
    return false;
}

/* Whether this is an interpreter, and a moment, to record in; else an exception. */
static bool may_start(void)
{
    if (!is_main_interpreter())
        PyErr_SetString(PyExc_RuntimeError,
                        "only the main interpreter of a process can be recorded");
    else if (active)
        PyErr_Format(
            PyExc_RuntimeError,
            "this process is being recorded already, into '%s'; stop that first",
            active->session.directory);
    else
        return true;
    return false;
}

static int parse_patterns(struct cunei_patterns *patterns, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        int include;
        const char *text;
        char error[128] = "";

        /* Nobody else has the list: the package has just made it. */
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ps", &include, &text))
            return -1;
        int rc = cunei_patterns_add(patterns, include, text, error, sizeof(error));
        if (rc < 0) {
            PyErr_Format(PyExc_RuntimeError, "the pattern '%s' makes no sense: %s",
                         text, rc == -EINVAL ? error : strerror(-rc));
            return -1;
        }
    }
    return 0;
}

/* The session that the arguments of start describe; -1 with an exception set. */
static int parse_session(struct cunei_session *session, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"directory", "patterns", "max_bytes", "c_calls", "args",
                               "results",   "max_repr", "full_repr", NULL};
    PyObject *directory = NULL, *patterns = NULL, *arguments = NULL, *results = NULL;
    unsigned long long max_bytes = 0, max_repr = 0;
    int c_calls = 0, full_repr = 0;

    if (!PyArg_ParseTupleAndKeywords(
            args, names, "O&O!K|$pO!O!Kp:start", keywords, PyUnicode_FSConverter,
            &directory, &PyList_Type, &patterns, &max_bytes, &c_calls, &PyList_Type,
            &arguments, &PyList_Type, &results, &max_repr, &full_repr))
        return -1;
    *session = (struct cunei_session){
        .directory = strdup(PyBytes_AS_STRING(directory)),
        .max_bytes = max_bytes,
        .c_calls = c_calls,
        .max_repr = max_repr,
        .full_repr = full_repr,
    };
    Py_DECREF(directory);
    if (!session->directory) {
        PyErr_NoMemory();
        return -1;
    }
    if (parse_patterns(&session->patterns, patterns) == 0 &&
        (!arguments || parse_patterns(&session->arguments, arguments) == 0) &&
        (!results || parse_patterns(&session->results, results) == 0))
        return 0;
    cunei_session_fini(session);
    return -1;
}

/* The exception that says why stays set. */
static void undo_start(struct probe_state *state)
{
    PyObject *error = PyErr_GetRaisedException();

    release(state);
    PyErr_SetRaisedException(error);
}

/* The session is set already; -1 with an exception set, and things half done. */
static int start(PyObject *module)
{
    struct probe_state *state = state_of(module);

    if (prepare(module) < 0)
        return -1;
    forget_words(state);
    int rc = start_recorder(state, false);
    if (rc < 0) {
        PyErr_Format(PyExc_OSError, "cannot record into '%s': %s",
                     state->session.directory, strerror(-rc));
        return -1;
    }
    if (start_events(state) == 0)
        return 0;
    PyObject *error = PyErr_GetRaisedException();
    cunei_world_stop(stop_recorder, NULL);
    PyErr_SetRaisedException(error);
    return -1;
}

static PyObject *probe_start(PyObject *module, PyObject *args, PyObject *names)
{
    struct probe_state *state = state_of(module);
    struct cunei_session session = {0};
    int rc = -1;

    if (parse_session(&session, args, names) < 0)
        return NULL;
    if (!take_control()) {
        cunei_session_fini(&session);
        return NULL;
    }
    if (may_start()) {
        state->session = session;
        state->inside = true;
        rc = start(module);
        if (rc < 0)
            undo_start(state);
    } else
        cunei_session_fini(&session);
    cunei_world_leave_control();
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* As the environment asks; -1 with an exception set. */
static int boot(PyObject *module, const char *text)
{
    struct probe_state *state = state_of(module);

    if (!may_start())
        return -1;
    int rc = cunei_session_parse(&state->session, text);
    if (rc < 0) {
        PyErr_Format(PyExc_RuntimeError, "%s is not understood: %s",
                     CUNEI_SESSION_VARIABLE, strerror(-rc));
        return -1;
    }
    if (state->session.only_pid && state->session.only_pid != (uint64_t)getpid()) {
        cunei_session_fini(&state->session);
        return 0;
    }
    state->inside = false;
    if (prepare(module) < 0 ||
        (!state->session.startup && cunei_monitor_await_main(&state->monitor) < 0)) {
        cunei_refusal_leave(state->session.directory, EBUSY);
        undo_start(state);
        return -1;
    }
    if (state->session.startup)
        begin_main(state);
    return 0;
}

static PyObject *probe_boot(PyObject *module, PyObject *unused)
{
    const char *text = getenv(CUNEI_SESSION_VARIABLE);
    (void)unused;

    if (!text)
        Py_RETURN_NONE;
    if (!is_main_interpreter())
        cunei_recorder_count_interpreter();
    if (!take_control())
        return NULL;
    int rc = boot(module, text);
    cunei_world_leave_control();
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *probe_is_recording(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(is_main_interpreter() && cunei_recorder_is_on());
}

static PyMethodDef methods[] = {
    {"start", (PyCFunction)(void (*)(void))probe_start, METH_VARARGS | METH_KEYWORDS,
     "start(directory, patterns, max_bytes, *, …): record all threads of this "
     "process."},
    {"stop", probe_stop, METH_NOARGS, "End the recording, if one is on."},
    {"is_recording", probe_is_recording, METH_NOARGS, "Whether a recording is on."},
    {"boot", probe_boot, METH_NOARGS,
     "Record from __main__'s first frame, if the environment asks for it."},
    {"_forked", probe_forked, METH_NOARGS, "Called in a forked child."},
    {NULL, NULL, 0, NULL},
};

static int probe_exec(PyObject *module)
{
    struct probe_state *state = state_of(module);
    struct cunei_callback_shared shared = {.main_begins = main_begins};

    cunei_world_init();
    if (PyModule_AddStringConstant(module, "__version__", CUNEI_VERSION) < 0)
        return -1;
    /* The place on code objects is the main interpreter's: elsewhere start refuses. */
    if (!is_main_interpreter())
        return 0;
    if (cunei_code_init(&shared.extra_index, &shared.extra_inline) < 0 ||
        cunei_process_init(when_leaving) < 0 || cunei_collect_init(&state->collect) < 0)
        return -1;
    state->tracer_type = cunei_greenlet_type(module);
    if (!state->tracer_type)
        return -1;
    state->callback_type = cunei_callback_type(module);
    PyObject *monitoring = cunei_compat_sys("monitoring");
    if (!monitoring)
        PyErr_SetString(PyExc_ImportError, "cunei needs sys.monitoring (CPython 3.12)");
    int rc = state->callback_type && monitoring
                 ? cunei_monitor_init(&state->monitor, monitoring, state->callback_type,
                                      &shared)
                 : -1;
    Py_XDECREF(monitoring);
    return rc;
}

static int probe_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct probe_state *state = state_of(module);
    Py_VISIT(state->callback_type);
    Py_VISIT(state->tracer_type);
    int rc = cunei_collect_traverse(&state->collect, visit, arg);
    return rc ? rc : cunei_monitor_traverse(&state->monitor, visit, arg);
}

static int probe_clear(PyObject *module)
{
    struct probe_state *state = state_of(module);
    Py_CLEAR(state->callback_type);
    Py_CLEAR(state->tracer_type);
    cunei_collect_clear(&state->collect);
    cunei_monitor_clear(&state->monitor);
    return 0;
}

static void probe_free(void *module)
{
    struct probe_state *state = state_of(module);

    if (state == active)
        active = NULL;
    (void)probe_clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, probe_exec},
    /* There is nothing that it shares with the main one but the count of them. */
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#if PY_VERSION_HEX >= 0x030d0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cunei._probe",
    .m_doc = "Records the calls of this interpreter; use the package cunei instead.",
    .m_size = sizeof(struct probe_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = probe_traverse,
    .m_clear = probe_clear,
    .m_free = probe_free,
};

PyMODINIT_FUNC PyInit__probe(void);

PyMODINIT_FUNC PyInit__probe(void)
{
    return PyModuleDef_Init(&definition);
}
