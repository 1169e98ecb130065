// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/monitor.h"

#include "probe/ccall.h"
#include "probe/lineevent.h"
#include "wire/reason.h"

#define TOOL_COUNT 6

/* Debugger, coverage and profiler expect to find 0, 1 and 2 free. */
static const int tool_ids[] = {4, 3, 5};

/* What sys.monitoring calls the events, and who answers them on the tool id. */
static const struct row {
    const char *name;
    enum cunei_callback_kind kind;
    enum cunei_callback_kind kind_for_all; /* where one id does discovery, too */
} rows[CUNEI_MONITOR_EVENTS] = {
    [CUNEI_MONITOR_START] = {"PY_START", CUNEI_CALLBACK_ENTER,
                             CUNEI_CALLBACK_SELECT_ENTER},
    [CUNEI_MONITOR_RESUME] = {"PY_RESUME", CUNEI_CALLBACK_RESUME,
                              CUNEI_CALLBACK_SELECT_RESUME},
    [CUNEI_MONITOR_RETURN] = {"PY_RETURN", CUNEI_CALLBACK_LEAVE, CUNEI_CALLBACK_LEAVE},
    [CUNEI_MONITOR_YIELD] = {"PY_YIELD", CUNEI_CALLBACK_YIELD, CUNEI_CALLBACK_YIELD},
    [CUNEI_MONITOR_THROW] = {"PY_THROW", CUNEI_CALLBACK_THROW, CUNEI_CALLBACK_THROW},
    [CUNEI_MONITOR_UNWIND] = {"PY_UNWIND", CUNEI_CALLBACK_UNWIND,
                              CUNEI_CALLBACK_UNWIND},
    [CUNEI_MONITOR_RAISE] = {"RAISE", CUNEI_CALLBACK_RAISE, CUNEI_CALLBACK_RAISE},
    [CUNEI_MONITOR_RERAISE] = {"RERAISE", CUNEI_CALLBACK_RERAISE,
                               CUNEI_CALLBACK_RERAISE},
    [CUNEI_MONITOR_HANDLED] = {"EXCEPTION_HANDLED", CUNEI_CALLBACK_HANDLED,
                               CUNEI_CALLBACK_HANDLED},
    [CUNEI_MONITOR_CALL] = {"CALL", CUNEI_CALLBACK_CALL, CUNEI_CALLBACK_CALL},
    [CUNEI_MONITOR_C_RETURN] = {"C_RETURN", CUNEI_CALLBACK_C_RETURN,
                                CUNEI_CALLBACK_C_RETURN},
    [CUNEI_MONITOR_LINE] = {"LINE", CUNEI_CALLBACK_LINE, CUNEI_CALLBACK_LINE},
    [CUNEI_MONITOR_INSTRUCTION] = {"INSTRUCTION", CUNEI_CALLBACK_INSTRUCTION,
                                   CUNEI_CALLBACK_INSTRUCTION},
    [CUNEI_MONITOR_C_RAISE] = {"C_RAISE", CUNEI_CALLBACK_C_RAISE,
                               CUNEI_CALLBACK_C_RAISE},
};

static struct cunei_monitor *monitor_of(struct cunei_source *source)
{
    return (struct cunei_monitor *)source;
}

/* Call a function of sys.monitoring for its effect. */
static int call(struct cunei_monitor *monitor, const char *name, const char *format,
                ...)
{
    va_list values;

    va_start(values, format);
    PyObject *args = Py_VaBuildValue(format, values);
    va_end(values);
    PyObject *function = PyObject_GetAttrString(monitor->module, name);
    PyObject *result = args && function ? PyObject_CallObject(function, args) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(function);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static int find_events(struct cunei_monitor *monitor)
{
    PyObject *events = PyObject_GetAttrString(monitor->module, "events");
    if (!events)
        return -1;
    for (int i = 0; i < CUNEI_MONITOR_EVENTS; i++) {
        PyObject *number = PyObject_GetAttrString(events, rows[i].name);
        monitor->events[i] = number ? PyLong_AsLong(number) : -1;
        Py_XDECREF(number);
    }
    Py_DECREF(events);
    return PyErr_Occurred() ? -1 : 0;
}

/* Whether nobody uses the tool id; -1 with an exception set. */
static int is_free(struct cunei_monitor *monitor, int id)
{
    PyObject *owner = PyObject_CallMethod(monitor->module, "get_tool", "i", id);
    if (!owner)
        return -1;
    int free = Py_IsNone(owner);
    Py_DECREF(owner);
    return free;
}

static int count_others(struct cunei_source *source)
{
    struct cunei_monitor *monitor = monitor_of(source);
    int others = 0;

    for (int id = 0; id < TOOL_COUNT; id++) {
        int free = is_free(monitor, id);
        if (free < 0)
            return -1;
        others += !free && id != monitor->tool && id != monitor->discovery;
    }
    return others;
}

/* A free id, taken; -1 without an exception: there is none, -2 with one. */
static int take_id(struct cunei_monitor *monitor)
{
    for (size_t i = 0; i < sizeof(tool_ids) / sizeof(tool_ids[0]); i++) {
        int free = is_free(monitor, tool_ids[i]);
        if (free < 0)
            return -2;
        if (free)
            return call(monitor, "use_tool_id", "(is)", tool_ids[i], "cunei") < 0
                       ? -2
                       : tool_ids[i];
    }
    return -1;
}

static int take(struct cunei_source *source, bool selective)
{
    struct cunei_monitor *monitor = monitor_of(source);
    source->refusal = 0;
    monitor->tool = take_id(monitor);
    if (monitor->tool == -1) {
        source->refusal = CUNEI_REASON_MONITORING;
        PyErr_SetString(PyExc_RuntimeError, cunei_reason_text(source->refusal));
    }
    if (monitor->tool < 0) {
        monitor->tool = -1;
        return -1;
    }
    source->is_taken = true;
    if (!selective)
        return 0;
    monitor->discovery = take_id(monitor);
    if (monitor->discovery != -2)
        return 0;
    monitor->discovery = -1;
    return -1;
}

static int set_callback(struct cunei_monitor *monitor, int tool,
                        enum cunei_monitor_event event, enum cunei_callback_kind kind)
{
    return call(monitor, "register_callback", "(ilO)", tool, monitor->events[event],
                monitor->callbacks[kind]);
}

static int set_events(struct cunei_monitor *monitor, int tool, long events)
{
    return call(monitor, "set_events", "(il)", tool, events);
}

static int await_main(struct cunei_source *source)
{
    struct cunei_monitor *monitor = monitor_of(source);
    if (set_callback(monitor, monitor->tool, CUNEI_MONITOR_START,
                     CUNEI_CALLBACK_AWAIT_MAIN) < 0)
        return -1;
    return set_events(monitor, monitor->tool, monitor->events[CUNEI_MONITOR_START]);
}

static enum cunei_callback_kind kind_of(const struct cunei_monitor *monitor, int event,
                                        bool one_for_all)
{
    if (event == CUNEI_MONITOR_CALL && monitor->source.c_calls)
        return CUNEI_CALLBACK_C_CALL;
    return one_for_all ? rows[event].kind_for_all : rows[event].kind;
}

static int prepare(struct cunei_source *source, bool selective)
{
    struct cunei_monitor *monitor = monitor_of(source);
    bool one_for_all = selective && monitor->discovery < 0;
    int last = monitor->source.c_calls ? CUNEI_MONITOR_C_RAISE : CUNEI_MONITOR_CALL;

    for (int i = 0; i <= last; i++) {
        if (set_callback(monitor, monitor->tool, (enum cunei_monitor_event)i,
                         kind_of(monitor, i, one_for_all)) < 0)
            return -1;
    }
    if (source->lines &&
        (set_callback(monitor, monitor->tool, CUNEI_MONITOR_LINE, CUNEI_CALLBACK_LINE) <
             0 ||
         set_callback(monitor, monitor->tool, CUNEI_MONITOR_INSTRUCTION,
                      CUNEI_CALLBACK_INSTRUCTION) < 0))
        return -1;
    if (monitor->discovery < 0)
        return 0;
    if (set_callback(monitor, monitor->discovery, CUNEI_MONITOR_START,
                     CUNEI_CALLBACK_DISCOVER_ENTER) < 0)
        return -1;
    return set_callback(monitor, monitor->discovery, CUNEI_MONITOR_RESUME,
                        CUNEI_CALLBACK_DISCOVER_RESUME);
}

static long add_events(const struct cunei_monitor *monitor, int first, int last)
{
    long events = 0;

    for (int i = first; i <= last; i++)
        events |= monitor->events[i];
    return events;
}

/* Those of C functions, if they are recorded. */
static long c_events(const struct cunei_monitor *monitor)
{
    return monitor->source.c_calls
               ? add_events(monitor, CUNEI_MONITOR_CALL, CUNEI_MONITOR_C_RAISE)
               : 0;
}

/*
 * The global events of the tool id where something is selected.  PY_THROW and those of
 * exceptions are global before 3.15.  The first may be how a suspended generator is
 * discovered; the others cost whenever an exception flies, and stay off until something
 * is selected.
 */
static long global_events(const struct cunei_monitor *monitor)
{
    long events = monitor->events[CUNEI_MONITOR_THROW];

    if (monitor->unwinds)
        events |= add_events(monitor, CUNEI_MONITOR_UNWIND, CUNEI_MONITOR_HANDLED);
    if (monitor->discovery < 0)
        events |= add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME);
    return events;
}

static int record(struct cunei_source *source, bool selective)
{
    struct cunei_monitor *monitor = monitor_of(source);
    if (!selective)
        return set_events(
            monitor, monitor->tool,
            add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_ALWAYS_LAST) |
                c_events(monitor));
    /* __main__ was awaited on this id: from now on its events are others. */
    if (set_events(monitor, monitor->tool, global_events(monitor)) < 0)
        return -1;
    if (monitor->discovery < 0)
        return 0;
    return set_events(monitor, monitor->discovery,
                      add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME));
}

static void pause_events(struct cunei_source *source)
{
    struct cunei_monitor *monitor = monitor_of(source);
    if (set_events(monitor, monitor->tool, 0) < 0)
        PyErr_Clear();
    if (monitor->discovery >= 0 && set_events(monitor, monitor->discovery, 0) < 0)
        PyErr_Clear();
}

/* Some code cannot be instrumented, such as Cython's stand-ins. */
static void set_local_events(struct cunei_monitor *monitor, int tool,
                             PyCodeObject *code, long events)
{
    if (call(monitor, "set_local_events", "(iOl)", tool, code, events) < 0)
        PyErr_Clear();
}

static void select_code(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    int first = monitor->discovery < 0 ? CUNEI_MONITOR_RETURN : CUNEI_MONITOR_START;
    long local =
        add_events(monitor, first, CUNEI_MONITOR_LOCAL_LAST) | c_events(monitor);

    set_local_events(monitor, monitor->tool, code, local);
    if (monitor->unwinds)
        return;
    monitor->unwinds = true;
    if (set_events(monitor, monitor->tool, global_events(monitor)) < 0)
        PyErr_Clear();
}

/* The events of the code object alone. */
static long local_events(struct cunei_monitor *monitor, PyCodeObject *code)
{
    PyObject *events = PyObject_CallMethod(monitor->module, "get_local_events", "iO",
                                           monitor->tool, code);
    long known = events ? PyLong_AsLong(events) : 0;

    PyErr_Clear();
    Py_XDECREF(events);
    return known > 0 ? known : 0;
}

static void watch(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    set_local_events(monitor, monitor->tool, code,
                     local_events(monitor, code) | monitor->events[CUNEI_MONITOR_CALL]);
}

static void unwatch(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    set_local_events(monitor, monitor->tool, code,
                     local_events(monitor, code) &
                         ~monitor->events[CUNEI_MONITOR_CALL]);
}

/*
 * The line that a function begins in is told only where PY_START is on, too, which it
 * is for all that is recorded (gh-155992).
 */
static void add_lines(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    int event =
        cunei_lineevent_prepare(code) ? CUNEI_MONITOR_INSTRUCTION : CUNEI_MONITOR_LINE;
    set_local_events(monitor, monitor->tool, code,
                     local_events(monitor, code) | monitor->events[event]);
}

static void remove_lines(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    set_local_events(
        monitor, monitor->tool, code,
        local_events(monitor, code) &
            ~add_events(monitor, CUNEI_MONITOR_LINE, CUNEI_MONITOR_INSTRUCTION));
}

static void forget(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    int discovery = monitor->discovery < 0 ? monitor->tool : monitor->discovery;

    /* Events that are set and taken away again are on at the places where a callback
     * had switched them off: nothing else brings them back for one tool alone. */
    set_local_events(monitor, discovery, code,
                     add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME));
    set_local_events(monitor, discovery, code, 0);
    if (discovery != monitor->tool)
        set_local_events(monitor, monitor->tool, code, 0);
}

static void unmute(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitor *monitor = monitor_of(source);
    set_local_events(
        monitor, monitor->tool, code,
        add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_LOCAL_LAST) |
            monitor->events[CUNEI_MONITOR_CALL]);
    set_local_events(monitor, monitor->tool, code, 0);
}

static bool unmute_all(struct cunei_source *source)
{
    struct cunei_monitor *monitor = monitor_of(source);
    int others = count_others(source);

    if (others == 0 && call(monitor, "restart_events", "()") == 0)
        return true;
    PyErr_Clear();
    return false;
}

static void release_id(struct cunei_monitor *monitor, int *tool)
{
    if (*tool < 0)
        return;
    if (set_events(monitor, *tool, 0) < 0)
        PyErr_Clear();
    /*
     * Before 3.14 a freed id keeps its callbacks.  They may be kept at the end, when
     * nobody will have the id any more.
     */
    for (int i = 0; i < CUNEI_MONITOR_EVENTS && !monitor->source.ends; i++) {
        if (call(monitor, "register_callback", "(ilO)", *tool, monitor->events[i],
                 Py_None) < 0)
            PyErr_Clear();
    }
    if (call(monitor, "free_tool_id", "(i)", *tool) < 0)
        PyErr_Clear();
    *tool = -1;
}

static void release(struct cunei_source *source)
{
    struct cunei_monitor *monitor = monitor_of(source);
    release_id(monitor, &monitor->discovery);
    release_id(monitor, &monitor->tool);
    monitor->unwinds = false;
    source->is_taken = false;
}

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .release = release,
    .count_others = count_others,
    .select = select_code,
    .watch = watch,
    .unwatch = unwatch,
    .line = add_lines,
    .unline = remove_lines,
    .forget = forget,
    .unmute = unmute,
    .unmute_all = unmute_all,
};

int cunei_monitor_init(struct cunei_monitor *monitor, PyObject *module,
                       PyTypeObject *type, const struct cunei_callback_shared *shared)
{
    monitor->source.methods = &methods;
    monitor->module = Py_NewRef(module);
    monitor->tool = monitor->discovery = -1;
    monitor->disable = PyObject_GetAttrString(module, "DISABLE");
    monitor->missing = PyObject_GetAttrString(module, "MISSING");
    if (!monitor->disable || !monitor->missing || find_events(monitor) < 0)
        return -1;
    cunei_lineevent_init(shared->extra_index, shared->extra_inline, monitor->disable);
    cunei_ccall_init(shared->extra_index, shared->extra_inline, monitor->missing,
                     monitor->disable);

    struct cunei_callback_shared complete = *shared;
    complete.disable = monitor->disable;
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++) {
        monitor->callbacks[i] =
            cunei_callback_new(type, (enum cunei_callback_kind)i, &complete);
        if (!monitor->callbacks[i])
            return -1;
    }
    return 0;
}

int cunei_monitor_traverse(struct cunei_monitor *monitor, visitproc visit, void *arg)
{
    Py_VISIT(monitor->module);
    Py_VISIT(monitor->disable);
    Py_VISIT(monitor->missing);
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++)
        Py_VISIT(monitor->callbacks[i]);
    return 0;
}

void cunei_monitor_clear(struct cunei_monitor *monitor)
{
    Py_CLEAR(monitor->module);
    Py_CLEAR(monitor->disable);
    Py_CLEAR(monitor->missing);
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++)
        Py_CLEAR(monitor->callbacks[i]);
}
