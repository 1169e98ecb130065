// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/code_events.h"

#include "probe/events/line_event.h"
#include "probe/sources/monitoring/exception_infer.h"
#include "probe/sources/monitoring/monitoring_state.h"
#include "probe/sources/monitoring/tool_id.h"

/* Request global events of exceptions: PY_UNWIND, and EXCEPTION_HANDLED if code has
 * handlers. */
static void switch_exceptions_on(struct cunei_monitoring *monitor, bool handles)
{
    if (CUNEI_EXCEPTION_INFER_IS_LOCAL ||
        (monitor->unwinds && (monitor->handles || !handles)))
        return;
    monitor->unwinds = true;
    monitor->handles |= handles;
    if (cunei_tool_id_set_events(monitor->module, monitor->tool,
                                 cunei_monitoring_global_events(monitor)) < 0)
        PyErr_Clear();
}

/* Entries included, even if all code has them: in a pause that is not known yet. */
void cunei_code_events_select(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    long local = cunei_monitoring_events(monitor, CUNEI_MONITOR_START,
                                         CUNEI_MONITOR_LOCAL_LAST) |
                 cunei_monitoring_local_exceptions(monitor) |
                 cunei_monitoring_c_events(monitor);

    cunei_tool_id_set_local_events(monitor->module, monitor->tool, code, local);
    switch_exceptions_on(monitor, PyBytes_GET_SIZE(code->co_exceptiontable) > 0);
}

/* An exception reaches code that may be left out: follow it there. */
void cunei_code_events_follow_exceptions(struct cunei_source *source,
                                         PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    long known, wanted = cunei_monitoring_local_exceptions(monitor);

    switch_exceptions_on(monitor, true);
    if (!wanted)
        return;
    known = cunei_tool_id_local_events(monitor->module, monitor->tool, code);
    if ((known & wanted) != wanted)
        cunei_tool_id_set_local_events(monitor->module, monitor->tool, code,
                                       known | wanted);
}

void cunei_code_events_set_level(struct cunei_source *source, PyCodeObject *code,
                                 enum cunei_level level, bool counts_ends)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    static const int last[CUNEI_LEVELS] = {
        [CUNEI_LEVEL_FULL] = CUNEI_MONITOR_LOCAL_LAST,
        [CUNEI_LEVEL_COUNTED] = CUNEI_MONITOR_RESUME,
        [CUNEI_LEVEL_OFF] = -1,
    };
    bool has_ends = level == CUNEI_LEVEL_COUNTED && counts_ends;

    cunei_tool_id_set_local_events(
        monitor->module, monitor->tool, code,
        cunei_monitoring_local_exceptions(monitor) |
            cunei_monitoring_events(monitor, CUNEI_MONITOR_START,
                                    has_ends ? CUNEI_MONITOR_LOCAL_LAST : last[level]));
}

/* Add events to those that a code object has, and remove some. */
static void change_events(const struct cunei_monitoring *monitor, PyCodeObject *code,
                          long added, long removed)
{
    long events = cunei_tool_id_local_events(monitor->module, monitor->tool, code);

    cunei_tool_id_set_local_events(monitor->module, monitor->tool, code,
                                   (events | added) & ~removed);
}

void cunei_code_events_watch_calls(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);

    change_events(monitor, code, monitor->events[CUNEI_MONITOR_CALL], 0);
}

void cunei_code_events_unwatch_calls(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);

    change_events(monitor, code, 0, monitor->events[CUNEI_MONITOR_CALL]);
}

/*
 * CPython fires the LINE event of the first line of a function only if PY_START is on,
 * which it is for all recorded code (gh-155992).
 */
void cunei_code_events_add_lines(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    int event =
        cunei_line_event_prepare(code) ? CUNEI_MONITOR_INSTRUCTION : CUNEI_MONITOR_LINE;

    change_events(monitor, code, monitor->events[event], 0);
}

void cunei_code_events_remove_lines(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);

    change_events(monitor, code, 0,
                  cunei_monitoring_events(monitor, CUNEI_MONITOR_LINE,
                                          CUNEI_MONITOR_INSTRUCTION));
}

void cunei_code_events_forget(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    int discovery = monitor->discovery < 0 ? monitor->tool : monitor->discovery;

    /* Events that are set and taken away again are on at the places where a callback
     * had switched them off: nothing else brings them back for one tool alone. */
    cunei_tool_id_set_local_events(
        monitor->module, discovery, code,
        cunei_monitoring_events(monitor, CUNEI_MONITOR_START, CUNEI_MONITOR_RESUME));
    cunei_tool_id_set_local_events(monitor->module, discovery, code, 0);
    if (discovery != monitor->tool)
        cunei_tool_id_set_local_events(monitor->module, monitor->tool, code, 0);
}

void cunei_code_events_enable(struct cunei_source *source, PyCodeObject *code)
{
    struct cunei_monitoring *monitor = cunei_monitoring_of(source);
    cunei_tool_id_set_local_events(monitor->module, monitor->tool, code,
                                   cunei_monitoring_events(monitor, CUNEI_MONITOR_START,
                                                           CUNEI_MONITOR_LOCAL_LAST) |
                                       monitor->events[CUNEI_MONITOR_CALL]);
    cunei_tool_id_set_local_events(monitor->module, monitor->tool, code, 0);
}
