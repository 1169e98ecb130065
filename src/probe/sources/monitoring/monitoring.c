// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/monitoring.h"

#include "probe/core/compat.h"
#include "probe/events/c_call.h"
#include "probe/events/line_event.h"
#include "probe/events/process_call_hooks.h"
#include "probe/sources/monitoring/code_events.h"
#include "probe/sources/monitoring/exception_infer.h"
#include "probe/sources/monitoring/monitoring_state.h"
#include "probe/sources/monitoring/tool_id.h"
#include "python/refusal_reason.h"

/* Which callback an event has on the tool id. */
static const struct row {
    enum cunei_callback_kind kind;
    enum cunei_callback_kind kind_for_all; /* where one id discovers as well */
} rows[CUNEI_MONITOR_EVENTS] = {
    [CUNEI_MONITOR_START] = {CUNEI_CALLBACK_ENTER, CUNEI_CALLBACK_SELECT_ENTER},
    [CUNEI_MONITOR_RESUME] = {CUNEI_CALLBACK_RESUME, CUNEI_CALLBACK_SELECT_RESUME},
    [CUNEI_MONITOR_RETURN] = {CUNEI_CALLBACK_LEAVE, CUNEI_CALLBACK_LEAVE},
    [CUNEI_MONITOR_YIELD] = {CUNEI_CALLBACK_YIELD, CUNEI_CALLBACK_YIELD},
    [CUNEI_MONITOR_THROW] = {CUNEI_CALLBACK_THROW, CUNEI_CALLBACK_THROW},
    [CUNEI_MONITOR_UNWIND] = {CUNEI_CALLBACK_UNWIND, CUNEI_CALLBACK_UNWIND},
    [CUNEI_MONITOR_RAISE] = {CUNEI_CALLBACK_RAISE, CUNEI_CALLBACK_RAISE},
    [CUNEI_MONITOR_RERAISE] = {CUNEI_CALLBACK_RERAISE, CUNEI_CALLBACK_RERAISE},
    [CUNEI_MONITOR_HANDLED] = {CUNEI_CALLBACK_HANDLED, CUNEI_CALLBACK_HANDLED},
    [CUNEI_MONITOR_CALL] = {CUNEI_CALLBACK_CALL, CUNEI_CALLBACK_CALL},
    [CUNEI_MONITOR_C_RETURN] = {CUNEI_CALLBACK_C_RETURN, CUNEI_CALLBACK_C_RETURN},
    [CUNEI_MONITOR_LINE] = {CUNEI_CALLBACK_LINE, CUNEI_CALLBACK_LINE},
    [CUNEI_MONITOR_INSTRUCTION] = {CUNEI_CALLBACK_INSTRUCTION,
                                   CUNEI_CALLBACK_INSTRUCTION},
    [CUNEI_MONITOR_C_RAISE] = {CUNEI_CALLBACK_C_RAISE, CUNEI_CALLBACK_C_RAISE},
};

static int count_others(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    int others = 0;

    for (int id = 0; id < CUNEI_TOOL_COUNT; id++) {
        int free = cunei_tool_id_is_free(monitor->module, id);
        if (free < 0)
            return -1;
        others += !free && id != monitor->tool && id != monitor->discovery;
    }
    return others;
}

static int take(struct cunei_source *source, const struct cunei_source_config *config)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    source->config = *config;
    source->refusal = 0;
    monitor->is_exiting = false;
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
    if (!config->is_selective || config->only_decorated)
        return 0;
    monitor->discovery = cunei_tool_id_take(monitor->module);
    if (monitor->discovery == -1 && config->has_budget) {
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
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    if (set_callback(monitor, monitor->tool, CUNEI_MONITOR_START,
                     CUNEI_CALLBACK_AWAIT_MAIN) < 0)
        return -1;
    return cunei_tool_id_set_events(monitor->module, monitor->tool,
                                    monitor->events[CUNEI_MONITOR_START]);
}

static enum cunei_callback_kind kind_of(const struct cunei_monitoring *monitor,
                                        int event, bool one_for_all)
{
    if (event == CUNEI_MONITOR_CALL && monitor->source.config.c_calls)
        return CUNEI_CALLBACK_C_CALL;
    if (event == CUNEI_MONITOR_UNWIND && monitor->selects)
        return CUNEI_EXCEPTION_INFER_IS_LOCAL ? CUNEI_CALLBACK_LOCAL_UNWIND
                                              : CUNEI_CALLBACK_INFER_UNWIND;
    if (event == CUNEI_MONITOR_HANDLED && monitor->selects)
        return CUNEI_EXCEPTION_INFER_IS_LOCAL ? CUNEI_CALLBACK_LOCAL_HANDLED
                                              : CUNEI_CALLBACK_INFER_HANDLED;
    return one_for_all ? rows[event].kind_for_all : rows[event].kind;
}

static int prepare(struct cunei_source *source,
                   const struct cunei_source_config *config)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    bool discovers = config->is_selective && !config->only_decorated;

    source->config = *config;
    /* A recording may become one of some functions while it runs. */
    if (discovers && monitor->discovery < 0)
        monitor->discovery = cunei_tool_id_take(monitor->module);
    if (monitor->discovery == -2) {
        monitor->discovery = -1;
        return -1;
    }
    bool one_for_all = discovers && monitor->discovery < 0;
    monitor->selects =
        config->is_selective || (!CUNEI_COMPAT_HAS_GIL && config->has_patterns);
    int last = config->c_calls ? CUNEI_MONITOR_C_RAISE : CUNEI_MONITOR_CALL;

    for (int i = 0; i <= last; i++) {
        if (set_callback(monitor, monitor->tool, (enum cunei_monitoring_event)i,
                         kind_of(monitor, i, one_for_all)) < 0)
            return -1;
    }
    if (config->lines &&
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

static int record(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    cunei_process_call_hooks_watch();
    if (!source->config.is_selective)
        return cunei_tool_id_set_events(monitor->module, monitor->tool,
                                        cunei_monitoring_all_events(monitor) |
                                            cunei_monitoring_c_events(monitor));
    /* __main__ was awaited on this id: from now on its events are others. */
    if (cunei_tool_id_set_events(monitor->module, monitor->tool,
                                 cunei_monitoring_global_events(monitor)) < 0)
        return -1;
    if (monitor->discovery < 0)
        return 0;
    return cunei_tool_id_set_events(
        monitor->module, monitor->discovery,
        cunei_monitoring_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME));
}

static void pause_events(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    cunei_process_call_hooks_unwatch();
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

static void pause_all(struct cunei_source *source)
{
    pause_events(source);
    forget_callbacks(cunei_monitoring_of(source), cunei_monitoring_of(source)->tool);
}

static bool enable_all(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
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
     * Before 3.14 a freed id keeps its callbacks.  They may stay at the end, when no
     * tool will use the id again.
     */
    if (!monitor->is_exiting)
        forget_callbacks(monitor, *tool);
    if (cunei_tool_id_free(monitor->module, *tool) < 0)
        PyErr_Clear();
    *tool = -1;
}

static void release(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    release_id(monitor, &monitor->discovery);
    release_id(monitor, &monitor->tool);
    monitor->unwinds = monitor->handles = false;
    source->is_taken = false;
}

static void process_exits(struct cunei_source *source)
{
    cunei_monitoring_of(source)->is_exiting = true;
}

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .pause_all = pause_all,
    .process_exits = process_exits,
    .release = release,
    .count_others = count_others,
    .select = cunei_code_events_select,
    .follow_exceptions = cunei_code_events_follow_exceptions,
    .set_level = cunei_code_events_set_level,
    .watch_calls = cunei_code_events_watch_calls,
    .unwatch_calls = cunei_code_events_unwatch_calls,
    .add_lines = cunei_code_events_add_lines,
    .remove_lines = cunei_code_events_remove_lines,
    .forget = cunei_code_events_forget,
    .enable = cunei_code_events_enable,
    .enable_all = enable_all,
};

/* -1 with an exception set. */
static int make_callbacks(struct cunei_monitoring *monitor,
                          const struct cunei_source_setup *setup)
{
    const struct cunei_callback_shared shared = {
        .extra_index = setup->extra_index,
        .extra_inline = setup->extra_inline,
        .disable = monitor->disable,
        .main_begins = setup->main_begins,
    };

    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++) {
        monitor->callbacks[i] = cunei_callback_new(
            monitor->callback_type, (enum cunei_callback_kind)i, &shared);
        if (!monitor->callbacks[i])
            return -1;
    }
    return 0;
}

/* The same. */
static int init(struct cunei_monitoring *monitor, PyObject *module,
                const struct cunei_source_setup *setup)
{
    monitor->tool = monitor->discovery = -1;
    monitor->callback_type = cunei_callback_type(module);
    if (!monitor->callback_type)
        return -1;
    monitor->module = cunei_compat_sys("monitoring");
    if (!monitor->module) {
        PyErr_SetString(PyExc_ImportError, "sys.monitoring is missing");
        return -1;
    }
    monitor->disable = PyObject_GetAttrString(monitor->module, "DISABLE");
    monitor->missing = PyObject_GetAttrString(monitor->module, "MISSING");
    if (!monitor->disable || !monitor->missing ||
        cunei_monitoring_find_events(monitor) < 0)
        return -1;
    cunei_line_event_init(setup->extra_index, setup->extra_inline, monitor->disable);
    cunei_c_call_init(setup->extra_index, setup->extra_inline, monitor->missing,
                      monitor->disable);
    return make_callbacks(monitor, setup);
}

static int traverse(struct cunei_source *source, visitproc visit, void *arg)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);

    Py_VISIT(monitor->callback_type);
    Py_VISIT(monitor->module);
    Py_VISIT(monitor->disable);
    Py_VISIT(monitor->missing);
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++)
        Py_VISIT(monitor->callbacks[i]);
    return 0;
}

static void clear(struct cunei_source *source)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);

    Py_CLEAR(monitor->callback_type);
    Py_CLEAR(monitor->module);
    Py_CLEAR(monitor->disable);
    Py_CLEAR(monitor->missing);
    for (int i = 0; i < CUNEI_CALLBACK_KINDS; i++)
        Py_CLEAR(monitor->callbacks[i]);
}

static void free_source(struct cunei_source *source)
{
    clear(source);
    PyMem_Free(cunei_monitoring_of(source));
}

static struct cunei_source *open_source(PyObject *module,
                                        const struct cunei_source_setup *setup)
{
    struct cunei_monitoring *monitor = PyMem_Calloc(1, sizeof(*monitor));

    if (!monitor) {
        PyErr_NoMemory();
        return NULL;
    }
    if (init(monitor, module, setup) == 0)
        return &monitor->source;
    free_source(&monitor->source);
    return NULL;
}

const struct cunei_source_kind cunei_source_monitoring = {
    .instrumenter = CUNEI_INSTRUMENTER_MONITORING,
    .methods = &methods,
    .open = open_source,
    .traverse = traverse,
    .clear = clear,
    .free = free_source,
};
