// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/monitoring.h"

#include "probe/core/compat.h"
#include "probe/events/c_call.h"
#include "probe/events/line_event.h"
#include "probe/sources/monitoring/exception_infer.h"
#include "probe/sources/monitoring/tool_id.h"
#include "python/refusal_reason.h"

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

static struct cunei_monitoring *monitor_of(struct cunei_source *source)
{
    return (struct cunei_monitoring *)source;
}

static int find_events(struct cunei_monitoring *monitor)
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

static int count_others(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    int others = 0;

    for (int id = 0; id < CUNEI_TOOL_COUNT; id++) {
        int free = cunei_tool_id_is_free(monitor->module, id);
        if (free < 0)
            return -1;
        others += !free && id != monitor->tool && id != monitor->discovery;
    }
    return others;
}

static int take(struct cunei_source *source, bool selective)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    source->refusal = 0;
    monitor->tool = cunei_tool_id_take(monitor->module);
    if (monitor->tool == -1) {
        source->refusal = CUNEI_REFUSAL_MONITORING;
        PyErr_SetString(PyExc_RuntimeError, cunei_refusal_reason_text(source->refusal));
    }
    if (monitor->tool < 0) {
        monitor->tool = -1;
        return -1;
    }
    source->is_taken = true;
    if (!selective || source->is_narrow)
        return 0;
    monitor->discovery = cunei_tool_id_take(monitor->module);
    if (monitor->discovery == -1 && source->switches) {
        source->refusal = CUNEI_REFUSAL_BUDGET;
        PyErr_SetString(PyExc_RuntimeError, cunei_refusal_reason_text(source->refusal));
        return -1;
    }
    if (monitor->discovery != -2)
        return 0;
    monitor->discovery = -1;
    return -1;
}

static int set_callback(struct cunei_monitoring *monitor, int tool,
                        enum cunei_monitoring_event event,
                        enum cunei_callback_kind kind)
{
    return cunei_tool_id_set_callback(monitor->module, tool, monitor->events[event],
                                      monitor->callbacks[kind]);
}

static int await_main(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    if (set_callback(monitor, monitor->tool, CUNEI_MONITOR_START,
                     CUNEI_CALLBACK_AWAIT_MAIN) < 0)
        return -1;
    return cunei_tool_id_set_events(monitor->module, monitor->tool,
                                    monitor->events[CUNEI_MONITOR_START]);
}

static enum cunei_callback_kind kind_of(const struct cunei_monitoring *monitor,
                                        int event, bool one_for_all)
{
    if (event == CUNEI_MONITOR_CALL && monitor->source.c_calls)
        return CUNEI_CALLBACK_C_CALL;
    if (event == CUNEI_MONITOR_UNWIND && monitor->selects)
        return CUNEI_INFER_IS_LOCAL ? CUNEI_CALLBACK_LOCAL_UNWIND
                                    : CUNEI_CALLBACK_INFER_UNWIND;
    if (event == CUNEI_MONITOR_HANDLED && monitor->selects)
        return CUNEI_INFER_IS_LOCAL ? CUNEI_CALLBACK_LOCAL_HANDLED
                                    : CUNEI_CALLBACK_INFER_HANDLED;
    return one_for_all ? rows[event].kind_for_all : rows[event].kind;
}

static int prepare(struct cunei_source *source, bool selective)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    bool discovers = selective && !source->is_narrow;
    /* A recording may become one of some functions while it runs. */
    if (discovers && monitor->discovery < 0)
        monitor->discovery = cunei_tool_id_take(monitor->module);
    if (monitor->discovery == -2) {
        monitor->discovery = -1;
        return -1;
    }
    bool one_for_all = discovers && monitor->discovery < 0;
    monitor->selects = selective || (!CUNEI_COMPAT_HAS_GIL && source->chooses);
    int last = monitor->source.c_calls ? CUNEI_MONITOR_C_RAISE : CUNEI_MONITOR_CALL;

    for (int i = 0; i <= last; i++) {
        if (set_callback(monitor, monitor->tool, (enum cunei_monitoring_event)i,
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

static long add_events(const struct cunei_monitoring *monitor, int first, int last)
{
    long events = 0;

    for (int i = first; i <= last; i++)
        events |= monitor->events[i];
    return events;
}

/* Those of C functions, if they are recorded. */
static long c_events(const struct cunei_monitoring *monitor)
{
    return monitor->source.c_calls
               ? add_events(monitor, CUNEI_MONITOR_CALL, CUNEI_MONITOR_C_RAISE)
               : 0;
}

/* Whether the tool id finds code, too, besides recording it. */
static bool discovers_itself(const struct cunei_monitoring *monitor)
{
    return monitor->discovery < 0 && !monitor->source.is_narrow;
}

/*
 * The global events of the tool id where something is selected.  PY_THROW may be how a
 * suspended generator is discovered.  Those of exceptions are global before 3.15 and
 * cost in all code, whenever an exception flies: they stay off until they are needed,
 * and those that probe/sources/monitoring/exception_infer.h can do without always are.
 */
static long global_events(const struct cunei_monitoring *monitor)
{
    long events = monitor->events[CUNEI_MONITOR_THROW];

    if (monitor->unwinds)
        events |= monitor->events[CUNEI_MONITOR_UNWIND];
    if (monitor->handles)
        events |= monitor->events[CUNEI_MONITOR_HANDLED];
    if (discovers_itself(monitor))
        events |= add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME);
    return events;
}

/* The same where all code has them. */
static long all_events(const struct cunei_monitoring *monitor)
{
    long inferred =
        monitor->selects && !CUNEI_INFER_IS_LOCAL
            ? add_events(monitor, CUNEI_MONITOR_RAISE, CUNEI_MONITOR_RERAISE)
            : 0;

    return add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_ALWAYS_LAST) &
           ~inferred;
}

static int record(struct cunei_source *source, bool selective)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    if (!selective)
        return cunei_tool_id_set_events(monitor->module, monitor->tool,
                                        all_events(monitor) | c_events(monitor));
    /* __main__ was awaited on this id: from now on its events are others. */
    if (cunei_tool_id_set_events(monitor->module, monitor->tool,
                                 global_events(monitor)) < 0)
        return -1;
    if (monitor->discovery < 0)
        return 0;
    return cunei_tool_id_set_events(
        monitor->module, monitor->discovery,
        add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME));
}

static void pause_events(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    if (cunei_tool_id_set_events(monitor->module, monitor->tool, 0) < 0)
        PyErr_Clear();
    if (monitor->discovery >= 0 &&
        cunei_tool_id_set_events(monitor->module, monitor->discovery, 0) < 0)
        PyErr_Clear();
}

static void forget_callbacks(struct cunei_monitoring *monitor, int tool)
{
    for (int i = 0; i < CUNEI_MONITOR_EVENTS; i++) {
        if (cunei_tool_id_set_callback(monitor->module, tool, monitor->events[i],
                                       Py_None) < 0)
            PyErr_Clear();
    }
}

static void hush(struct cunei_source *source)
{
    pause_events(source);
    forget_callbacks(monitor_of(source), monitor_of(source)->tool);
}

static long local_exceptions(const struct cunei_monitoring *monitor)
{
    return CUNEI_INFER_IS_LOCAL
               ? add_events(monitor, CUNEI_MONITOR_UNWIND, CUNEI_MONITOR_HANDLED)
               : 0;
}

/* Where they are global: an exception may end a frame, or may be taken by one, too. */
static void hear_exceptions(struct cunei_monitoring *monitor, bool handles)
{
    if (CUNEI_INFER_IS_LOCAL || (monitor->unwinds && (monitor->handles || !handles)))
        return;
    monitor->unwinds = true;
    monitor->handles |= handles;
    if (cunei_tool_id_set_events(monitor->module, monitor->tool,
                                 global_events(monitor)) < 0)
        PyErr_Clear();
}

/* With its entries, though all code may have those: in a pause nobody knows yet. */
static void select_code(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    long local = add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_LOCAL_LAST) |
                 local_exceptions(monitor) | c_events(monitor);

    cunei_tool_id_set_local_events(monitor->module, monitor->tool, code, local);
    hear_exceptions(monitor, PyBytes_GET_SIZE(code->co_exceptiontable) > 0);
}

/* One of them comes to code that may be left out: hear of what that does with it. */
static void follow(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    long known, wanted = local_exceptions(monitor);

    hear_exceptions(monitor, true);
    if (!wanted)
        return;
    known = cunei_tool_id_local_events(monitor->module, monitor->tool, code);
    if ((known & wanted) != wanted)
        cunei_tool_id_set_local_events(monitor->module, monitor->tool, code,
                                       known | wanted);
}

static void set_level(struct cunei_source *source, PyCodeObject *code,
                      enum cunei_level level)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    static const int last[CUNEI_LEVELS] = {
        [CUNEI_LEVEL_FULL] = CUNEI_MONITOR_LOCAL_LAST,
        [CUNEI_LEVEL_COUNTED] = CUNEI_MONITOR_RESUME,
        [CUNEI_LEVEL_OFF] = -1,
    };
    bool is_twice = source->twice && level == CUNEI_LEVEL_COUNTED;

    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        local_exceptions(monitor) |
            add_events(monitor, CUNEI_MONITOR_START,
                       is_twice ? CUNEI_MONITOR_LOCAL_LAST : last[level]));
}

static void watch(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        cunei_tool_id_local_events(monitor->module, monitor->tool, code) |
            monitor->events[CUNEI_MONITOR_CALL]);
}

static void unwatch(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        cunei_tool_id_local_events(monitor->module, monitor->tool, code) &
            ~monitor->events[CUNEI_MONITOR_CALL]);
}

/*
 * The line that a function begins in is told only where PY_START is on, too, which it
 * is for all that is recorded (gh-155992).
 */
static void add_lines(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    int event =
        cunei_line_event_prepare(code) ? CUNEI_MONITOR_INSTRUCTION : CUNEI_MONITOR_LINE;
    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        cunei_tool_id_local_events(monitor->module, monitor->tool, code) |
            monitor->events[event]);
}

static void remove_lines(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        cunei_tool_id_local_events(monitor->module, monitor->tool, code) &
            ~add_events(monitor, CUNEI_MONITOR_LINE, CUNEI_MONITOR_INSTRUCTION));
}

static void forget(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    int discovery = monitor->discovery < 0 ? monitor->tool : monitor->discovery;

    /* Events that are set and taken away again are on at the places where a callback
     * had switched them off: nothing else brings them back for one tool alone. */
    cunei_tool_id_set_local_events(
        monitor->module, discovery, code,
        add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME));
    cunei_tool_id_set_local_events(monitor->module, discovery, code, 0);
    if (discovery != monitor->tool)
        cunei_tool_id_set_local_events(monitor->module, monitor->tool, code, 0);
}

static void unmute(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        add_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_LOCAL_LAST) |
            monitor->events[CUNEI_MONITOR_CALL]);
    cunei_tool_id_set_local_events(monitor->module, monitor->tool, code, 0);
}

static bool unmute_all(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    int others = count_others(source);

    if (others == 0 && cunei_tool_id_restart_events(monitor->module) == 0)
        return true;
    PyErr_Clear();
    return false;
}

static void release_id(struct cunei_monitoring *monitor, int *tool)
{
    if (*tool < 0)
        return;
    if (cunei_tool_id_set_events(monitor->module, *tool, 0) < 0)
        PyErr_Clear();
    /*
     * Before 3.14 a freed id keeps its callbacks.  They may be kept at the end, when
     * nobody will have the id any more.
     */
    if (!monitor->source.ends)
        forget_callbacks(monitor, *tool);
    if (cunei_tool_id_free(monitor->module, *tool) < 0)
        PyErr_Clear();
    *tool = -1;
}

static void release(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = monitor_of(source);
    release_id(monitor, &monitor->discovery);
    release_id(monitor, &monitor->tool);
    monitor->unwinds = monitor->handles = false;
    source->is_taken = false;
}

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .hush = hush,
    .release = release,
    .count_others = count_others,
    .select = select_code,
    .follow = follow,
    .level = set_level,
    .watch = watch,
    .unwatch = unwatch,
    .line = add_lines,
    .unline = remove_lines,
    .forget = forget,
    .unmute = unmute,
    .unmute_all = unmute_all,
};

int cunei_monitoring_init(struct cunei_monitoring *monitor, PyObject *module,
                          PyTypeObject *type,
                          const struct cunei_callback_shared *shared)
{
    monitor->source.methods = &methods;
    monitor->module = Py_NewRef(module);
    monitor->tool = monitor->discovery = -1;
    monitor->disable = PyObject_GetAttrString(module, "DISABLE");
    monitor->missing = PyObject_GetAttrString(module, "MISSING");
    if (!monitor->disable || !monitor->missing || find_events(monitor) < 0)
        return -1;
    cunei_line_event_init(shared->extra_index, shared->extra_inline, monitor->disable);
    cunei_c_call_init(shared->extra_index, shared->extra_inline, monitor->missing,
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

int cunei_monitoring_traverse(struct cunei_monitoring *monitor, visitproc visit,
                              void *arg)
{
    Py_VISIT(monitor->module);
    Py_VISIT(monitor->disable);
    Py_VISIT(monitor->missing);
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++)
        Py_VISIT(monitor->callbacks[i]);
    return 0;
}

void cunei_monitoring_clear(struct cunei_monitoring *monitor)
{
    Py_CLEAR(monitor->module);
    Py_CLEAR(monitor->disable);
    Py_CLEAR(monitor->missing);
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++)
        Py_CLEAR(monitor->callbacks[i]);
}
