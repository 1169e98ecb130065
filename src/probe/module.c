// SPDX-License-Identifier: MIT
/* The extension module cunei._probe. */
#include <Python.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/filter_file.h"
#include "base/regular_file.h"
#include "probe/armed/armed.h"
#include "probe/armed/arming.h"
#include "probe/budget/budget.h"
#include "probe/code/qualname.h"
#include "probe/code/registry.h"
#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/hook_into.h"
#include "probe/core/names.h"
#include "probe/core/world.h"
#include "probe/events/greenlet.h"
#include "probe/events/process.h"
#include "probe/recording/control.h"
#include "probe/recording/hidden_command.h"
#include "probe/recording/probe_state.h"
#include "probe/recording/switch.h"
#include "probe/recording/switch_type.h"
#include "probe/sources/hooks/thread_start_end.h"
#include "probe/sources/source_table.h"
#include "probe/user/decorated.h"
#include "probe/user/user_types.h"
#include "python/refusal_reason.h"
#include "rt/recorder.h"

struct module {
    struct cunei_probe probe; /* first: see cunei_probe_of */
    PyTypeObject *beginning_type;
};

static struct module *whole_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static struct cunei_probe *state_of(PyObject *module)
{
    return &whole_of(module)->probe;
}

static int hook_once(PyObject *module)
{
    struct cunei_probe *state = state_of(module);

    if (state->hooked || !cunei_probe_is_main())
        return 0;
    state->hooked =
        cunei_hook_into("atexit", "register", NULL, module, "_ended") == 0 &&
        cunei_hook_into("posix", "register_at_fork", "after_in_child", module,
                        "_forked") == 0;
    return state->hooked ? 0 : -1;
}

/*
 * `name` is that of the argument; patterns of the selection that exclude are named so.
 */
static int parse_patterns(struct cunei_patterns *patterns, PyObject *list,
                          const char *name)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        int include;
        const char *text;
        char error[128] = "";

        /* The list has no other owner: the package has just made it. */
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ps", &include, &text))
            return -1;
        int rc = cunei_patterns_add(patterns, include, text, error, sizeof(error));
        if (rc < 0) {
            PyErr_Format(PyExc_ValueError, "%s '%s' is not a valid pattern: %s",
                         include ? name : "exclude", text,
                         rc == -EINVAL ? error : strerror(-rc));
            return -1;
        }
    }
    return 0;
}

/* Add the patterns of the files in the list; -1 with an exception set. */
static int read_filters(struct cunei_patterns *patterns, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        struct cunei_syntax_error error;
        PyObject *path = NULL;

        if (!PyUnicode_FSConverter(PyList_GET_ITEM(list, i), &path))
            return -1;
        int rc = cunei_filter_file_read(patterns, PyBytes_AS_STRING(path), &error);
        if (rc == -EINVAL)
            PyErr_Format(PyExc_ValueError, "%s:%zd:%zd: %s", PyBytes_AS_STRING(path),
                         (Py_ssize_t)error.line, (Py_ssize_t)error.column, error.text);
        else if (rc < 0)
            PyErr_Format(PyExc_OSError, "cannot read the filter '%s': %s",
                         PyBytes_AS_STRING(path), cunei_regular_file_problem(rc));
        Py_DECREF(path);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* The arguments of start as a session; -1 with an exception set. */
static int parse_session(struct cunei_record_env *session, PyObject *args,
                         PyObject *names)
{
    static char *keywords[] = {
        "directory", "patterns", "max_bytes", "children", "c_calls",      "args",
        "results",   "max_repr", "full_repr", "lines",    "instrumenter", "filters",
        "project",   "budget",   "keep",      "keep_ns",  "keep_memory",  NULL};
    PyObject *directory = NULL, *patterns = NULL, *arguments = NULL, *results = NULL;
    PyObject *lines = NULL, *filters = NULL, *project = NULL;
    const char *instrumenter = NULL;
    unsigned long long max_bytes = 0, max_repr = 0, budget = 0;
    unsigned long long keep = 0, keep_ns = 0;
    int children = 1, c_calls = 0, full_repr = 0, keep_memory = 0;

    if (!PyArg_ParseTupleAndKeywords(
            args, names, "O&O!K|$ppO!O!KpO!zO!O!KKKp:start", keywords,
            PyUnicode_FSConverter, &directory, &PyList_Type, &patterns, &max_bytes,
            &children, &c_calls, &PyList_Type, &arguments, &PyList_Type, &results,
            &max_repr, &full_repr, &PyList_Type, &lines, &instrumenter, &PyList_Type,
            &filters, &PyList_Type, &project, &budget, &keep, &keep_ns, &keep_memory))
        return -1;
    enum cunei_instrumenter found =
        instrumenter ? cunei_instrumenter_find(instrumenter) : 0;
    *session = (struct cunei_record_env){
        .directory = strdup(PyBytes_AS_STRING(directory)),
        .max_bytes = max_bytes,
        .budget = budget,
        .keep = {.size = keep, .ns = keep_ns, .in_memory = keep_memory},
        .only_pid = children ? 0 : (uint64_t)getpid(),
        .c_calls = c_calls,
        .max_repr = max_repr,
        .full_repr = full_repr,
        .instrumenter = found,
    };
    Py_DECREF(directory);
    if (!session->directory) {
        PyErr_NoMemory();
        return -1;
    }
    if ((!project || parse_patterns(&session->patterns, project, "include") == 0) &&
        (!filters || read_filters(&session->patterns, filters) == 0) &&
        parse_patterns(&session->patterns, patterns, "include") == 0 &&
        (!arguments || parse_patterns(&session->arguments, arguments, "args") == 0) &&
        (!results || parse_patterns(&session->results, results, "return_") == 0) &&
        (!lines || parse_patterns(&session->lines, lines, "lines") == 0))
        return 0;
    cunei_record_env_fini(session);
    return -1;
}

static PyObject *probe_start(PyObject *module, PyObject *args, PyObject *names)
{
    struct cunei_record_env session = {0};

    if (hook_once(module) < 0 || parse_session(&session, args, names) < 0)
        return NULL;
    int rc = cunei_control_start(state_of(module), &session);
    cunei_record_env_fini(&session);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

static bool has_taken(const struct cunei_probe *probe)
{
    for (int i = 0; i < CUNEI_INSTRUMENTERS; i++) {
        if (probe->sources[i] && probe->sources[i]->is_taken)
            return true;
    }
    return false;
}

/*
 * Which instrumenters other tools block: the launcher asks.  While one of ours is
 * taken, the answer is empty.
 */
static PyObject *probe_check(PyObject *module, PyObject *unused)
{
    const struct cunei_source_config config = {0};
    char text[CUNEI_INSTRUMENTERS * 24] = "";
    size_t size = 0;
    (void)unused;

    /* Taking and releasing one would remove what another has installed. */
    bool is_asked = !has_taken(state_of(module));
    for (int i = CUNEI_INSTRUMENTER_MONITORING; is_asked && i < CUNEI_INSTRUMENTERS;
         i++) {
        struct cunei_source *source = state_of(module)->sources[i];
        if (!source)
            continue;
        if (source->methods->take(source, &config) == 0) {
            source->methods->release(source);
            continue;
        }
        PyErr_Clear();
        int n = snprintf(text + size, sizeof(text) - size, "%s%s %d", size ? " " : "",
                         cunei_instrumenter_name((enum cunei_instrumenter)i),
                         source->refusal ? source->refusal : CUNEI_REFUSAL_FORBIDDEN);
        size += (size_t)n;
    }
    return PyUnicode_FromString(text);
}

static PyObject *probe_stop(PyObject *module, PyObject *unused)
{
    (void)unused;
    cunei_control_stop(state_of(module));
    Py_RETURN_NONE;
}

static PyObject *probe_ended(PyObject *module, PyObject *unused)
{
    struct cunei_source *source = state_of(module)->source;

    cunei_armed_end(state_of(module));
    if (source && source->methods->process_exits)
        source->methods->process_exits(source);
    return probe_stop(module, unused);
}

static PyObject *probe_forked(PyObject *module, PyObject *unused)
{
    (void)unused;
    cunei_control_forked(state_of(module));
    cunei_armed_forked();
    Py_RETURN_NONE;
}

static PyObject *probe_boot(PyObject *module, PyObject *unused)
{
    const char *text = getenv(CUNEI_RECORD_ENV_VARIABLE);
    (void)unused;

    if (hook_once(module) < 0 ||
        (text && cunei_control_boot(state_of(module), text) < 0) ||
        cunei_arming_boot(module) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *probe_arm(PyObject *module, PyObject *by)
{
    return hook_once(module) < 0 ? NULL : cunei_arming_arm(module, by);
}

/* The directory of the recording that is on, as bytes, or None. */
static PyObject *probe_directory(PyObject *module, PyObject *unused)
{
    struct cunei_probe *state = cunei_probe_active();
    (void)module;
    (void)unused;

    if (!cunei_probe_is_main() || !state || !cunei_recorder_is_on())
        Py_RETURN_NONE;
    return PyBytes_FromString(state->session.directory);
}

static PyObject *probe_is_recording(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(cunei_probe_is_main() && cunei_recorder_is_on());
}

/* A recording that is full, or has lost its folder, also counts. */
static PyObject *probe_is_taken(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(cunei_probe_is_main() && cunei_probe_active());
}

static PyObject *probe_bursts(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLong(cunei_budget_bursts());
}

static PyMethodDef methods[] = {
    {"start", CUNEI_METHOD(probe_start), METH_VARARGS | METH_KEYWORDS,
     "start(directory, patterns, max_bytes, *, …): record all threads of this "
     "process."},
    {"check", probe_check, METH_NOARGS,
     "Which instrumenters are not available, each with the number of the reason."},
    {"stop", probe_stop, METH_NOARGS, "End the recording, if one is on."},
    {"is_recording", probe_is_recording, METH_NOARGS, "Whether a recording is on."},
    {"directory", probe_directory, METH_NOARGS,
     "The directory of the recording that is on, as bytes, or None."},
    {"run_hidden", cunei_hidden_command_run, METH_VARARGS,
     "run_hidden(words, wait): run a command that the program's wait does not see."},
    {"is_taken", probe_is_taken, METH_NOARGS,
     "Whether a recording was started and not ended."},
    {"name_process", cunei_process_name, METH_O, "Name the process, for reports."},
    {"bursts", probe_bursts, METH_NOARGS,
     "How many bursts there were in this recording, under a budget."},
    {"select", cunei_switch_select, METH_VARARGS,
     "select(include, texts, code=None): change which functions are recorded."},
    {"handed_on", cunei_switch_handed_on, METH_O,
     "handed_on(text): CUNEI_RECORD with the current patterns, or None."},
    {"boot", probe_boot, METH_NOARGS,
     "Record from __main__'s first frame, if the environment asks for it."},
    {"arm", probe_arm, METH_O, "arm(by): take requests of 'cunei attach'."},
    {"disarm", cunei_arming_disarm, METH_NOARGS, "Take no more requests."},
    {"is_armed", cunei_arming_is_armed, METH_NOARGS, "Whether it takes requests."},
    {"_before_fork", cunei_arming_before_fork, METH_NOARGS, "Called before a fork."},
    {"_after_fork", cunei_arming_after_fork, METH_NOARGS, "Called in the parent."},
    {"_ended", probe_ended, METH_NOARGS, "Called by atexit."},
    {"_forked", probe_forked, METH_NOARGS, "Called in a forked child."},
    {NULL, NULL, 0, NULL},
};

static int probe_exec(PyObject *module)
{
    const struct cunei_process_hooks leaving = {.exits = cunei_control_exiting,
                                                .executes = cunei_budget_write_all,
                                                .unrecorded =
                                                    cunei_control_child_unrecorded};
    struct cunei_probe *state = state_of(module);
    struct cunei_source_setup setup = {.main_begins = cunei_control_main_begins};

    cunei_world_init();
    cunei_decorated_init(cunei_switch_decorated);
    if (PyModule_AddStringConstant(module, "__version__", CUNEI_VERSION) < 0)
        return -1;
    if (cunei_user_types_init(module, &state->user) < 0 ||
        cunei_switch_type_init(module) < 0)
        return -1;
    /* co_extra belongs to the main interpreter: in others start refuses. */
    if (!cunei_probe_is_main()) {
        cunei_registry_share();
        return 0;
    }
    cunei_names_init();
    if (cunei_registry_init(&setup.extra_index, &setup.extra_inline) < 0 ||
        cunei_qualname_init() < 0 || cunei_process_init(&leaving) < 0 ||
        cunei_gc_init(&state->collect) < 0)
        return -1;
    state->tracer_type = cunei_greenlet_type(module);
    if (!state->tracer_type)
        return -1;
    whole_of(module)->beginning_type = cunei_thread_start_type(module);
    if (!whole_of(module)->beginning_type ||
        cunei_source_table_open(module, &setup, state->sources) < 0)
        return -1;
    state->source = state->sources[cunei_instrumenter_default(PY_MINOR_VERSION)];
    return 0;
}

/* Before 3.9 these are called for a module that has no state yet. */
static int probe_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct module *whole = whole_of(module);
    if (!whole)
        return 0;
    Py_VISIT(whole->probe.tracer_type);
    Py_VISIT(whole->probe.switched_type);
    Py_VISIT(whole->probe.unswitched[0]);
    Py_VISIT(whole->probe.unswitched[1]);
    Py_VISIT(whole->beginning_type);
    int rc = cunei_user_types_traverse(&whole->probe.user, visit, arg);
    if (rc == 0)
        rc = cunei_gc_traverse(&whole->probe.collect, visit, arg);
    return rc ? rc : cunei_source_table_traverse(whole->probe.sources, visit, arg);
}

static int probe_clear(PyObject *module)
{
    struct module *whole = whole_of(module);
    if (!whole)
        return 0;
    Py_CLEAR(whole->probe.tracer_type);
    Py_CLEAR(whole->probe.switched_type);
    Py_CLEAR(whole->probe.unswitched[0]);
    Py_CLEAR(whole->probe.unswitched[1]);
    Py_CLEAR(whole->beginning_type);
    cunei_user_types_clear(&whole->probe.user);
    cunei_gc_clear(&whole->probe.collect);
    cunei_source_table_clear(whole->probe.sources);
    return 0;
}

static void probe_free(void *module)
{
    if (!whole_of(module))
        return;
    cunei_probe_forget(state_of(module));
    (void)probe_clear(module);
    cunei_source_table_free(state_of(module)->sources);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, probe_exec},
#if PY_VERSION_HEX >= 0x030c0000
    /* It shares nothing with the main one but their number. */
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030d0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cunei._probe",
    .m_doc = "Records the calls of this interpreter; use the package cunei instead.",
    .m_size = sizeof(struct module),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = probe_traverse,
    .m_clear = probe_clear,
    .m_free = probe_free,
};

/* In 3.8 PyMODINIT_FUNC does not set the visibility. */
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__probe(void);

PyMODINIT_FUNC PyInit__probe(void)
{
    return PyModuleDef_Init(&definition);
}
