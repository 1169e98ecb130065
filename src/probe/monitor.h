// SPDX-License-Identifier: MIT
/*
 * sys.monitoring: tool ids, events and callbacks.
 *
 *     cunei_monitor_init       once: look up the numbers, make the callbacks
 *     cunei_monitor_take       get a tool id, or two
 *     cunei_monitor_await_main events until __main__ begins, then …
 *     cunei_monitor_register   … the callbacks for what is recorded: this may fail
 *     cunei_monitor_record     and its events, once there is a recording
 *     cunei_monitor_release    all off, the ids given back
 *
 * Without a selection, global events on one tool id.  With one: discovery (global
 * PY_START and PY_RESUME, each switched off where it has been seen) on one id, local
 * events on another for what is selected.  If only one id is free, PY_START and
 * PY_RESUME on it do the discovery, too.
 *
 * `c_calls` is the caller's to set, before the callbacks are registered.
 */
#ifndef CUNEI_PROBE_MONITOR_H
#define CUNEI_PROBE_MONITOR_H

#include <Python.h>

#include <stdbool.h>

#include "probe/callback.h"

enum cunei_monitor_event {
    /* Local ones: they can be set for a code object alone. */
    CUNEI_MONITOR_START,
    CUNEI_MONITOR_RESUME,
    CUNEI_MONITOR_RETURN,
    CUNEI_MONITOR_YIELD,
    /* Before 3.15 these are on for all code, or for none. */
    CUNEI_MONITOR_THROW,
    CUNEI_MONITOR_UNWIND,
    CUNEI_MONITOR_RAISE,
    CUNEI_MONITOR_RERAISE,
    CUNEI_MONITOR_HANDLED,
    /* Only where they are asked for; the others cannot be had without the first. */
    CUNEI_MONITOR_CALL,
    CUNEI_MONITOR_C_RETURN,
    CUNEI_MONITOR_C_RAISE,
    CUNEI_MONITOR_EVENTS,
};

#define CUNEI_MONITOR_LOCAL_LAST  CUNEI_MONITOR_YIELD
#define CUNEI_MONITOR_ALWAYS_LAST CUNEI_MONITOR_HANDLED

struct cunei_monitor {
    PyObject *module; /* sys.monitoring */
    PyObject *disable;
    PyObject *missing;
    PyObject *callbacks[CUNEI_CALLBACK_KINDS];
    long events[CUNEI_MONITOR_EVENTS]; /* their bits in this Python */
    int tool;                          /* -1: none */
    int discovery;                     /* -1: none */
    bool unwinds;                      /* the events of exceptions are on */
    bool c_calls;                      /* calls of C functions are recorded, too */
};

/* Each returns 0, or -1 with an exception set. */
int cunei_monitor_init(struct cunei_monitor *monitor, PyObject *module,
                       PyTypeObject *type, const struct cunei_callback_shared *shared);
int cunei_monitor_take(struct cunei_monitor *monitor, bool selective);
int cunei_monitor_await_main(struct cunei_monitor *monitor);
int cunei_monitor_register(struct cunei_monitor *monitor, bool selective);
int cunei_monitor_record(struct cunei_monitor *monitor, bool selective);

/* Switch the global events off and keep the id; what fails is swallowed. */
void cunei_monitor_pause(struct cunei_monitor *monitor);

/* Switch the local events of a selected code object on; errors are swallowed. */
void cunei_monitor_select(struct cunei_monitor *monitor, PyCodeObject *code);

/*
 * Have CALL events of a code object besides those that it has, and have them no more;
 * errors are swallowed.
 */
void cunei_monitor_watch(struct cunei_monitor *monitor, PyCodeObject *code);
void cunei_monitor_unwatch(struct cunei_monitor *monitor, PyCodeObject *code);

/*
 * Leave nothing behind on a code object that was seen, selected or not: another
 * recording must be able to discover it.  Only while the global events are off.
 */
void cunei_monitor_forget(struct cunei_monitor *monitor, PyCodeObject *code);

/*
 * Have the events again that were switched off at places of a code object, or of all of
 * them, which is done at once, but only where no other tool would notice.  Only while
 * the global events are off.
 */
void cunei_monitor_unmute(struct cunei_monitor *monitor, PyCodeObject *code);
bool cunei_monitor_unmute_all(struct cunei_monitor *monitor);

/* The process ends: when the ids are released, audit hooks shall hear nothing of it. */
void cunei_monitor_end(void);

/* Off and gone; what fails is left as it is, without an exception. */
void cunei_monitor_release(struct cunei_monitor *monitor);

/* How many tools use sys.monitoring besides us; -1 with an exception set. */
int cunei_monitor_count_others(struct cunei_monitor *monitor);

int cunei_monitor_traverse(struct cunei_monitor *monitor, visitproc visit, void *arg);
void cunei_monitor_clear(struct cunei_monitor *monitor);

#endif
