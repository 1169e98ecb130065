// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/c_call.h"
#include "probe/sources/hooks/hook.h"
#include "probe/sources/hooks/hook_event.h"
#include "probe/sources/hooks/hook_frame.h"

static int on_profile(PyObject *object, PyFrameObject *frame, int what,
                      PyObject *argument);
static int on_trace(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument);

static struct cunei_hook profile = {.kind = CUNEI_HOOK_PROFILE, .function = on_profile};
static struct cunei_hook trace = {.kind = CUNEI_HOOK_TRACE, .function = on_trace};

/* Record the start or end of a function; whether there may be another event instead. */
static inline bool has_other_event(struct cunei_hook *hook, PyFrameObject *frame,
                                   int what, PyObject *argument)
{
    if (what == PyTrace_CALL)
        cunei_hook_event_enter(hook, frame);
    else if (!hook->is_recording)
        return false;
    else if (what == PyTrace_RETURN)
        cunei_hook_event_leave(hook, frame, argument);
    else
        return true;
    return false;
}

static void record_c_call(PyFrameObject *frame, int what, PyObject *callable)
{
    PyCodeObject *code = cunei_hook_frame_code(frame);

    cunei_hook_event_check_resume(&profile, frame);
    if (what == PyTrace_C_CALL)
        cunei_c_call_enter(code, callable);
    else
        cunei_c_call_leave(code, callable, what == PyTrace_C_EXCEPTION);
}

static int on_profile(PyObject *object, PyFrameObject *frame, int what,
                      PyObject *argument)
{
    (void)object;
    if (has_other_event(&profile, frame, what, argument) &&
        profile.source.config.c_calls)
        record_c_call(frame, what, argument);
    return 0;
}

static int on_trace(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument)
{
    (void)object;
    if (!has_other_event(&trace, frame, what, argument))
        return 0;
    if (what == PyTrace_LINE && trace.source.config.lines)
        cunei_hook_event_line(&trace, frame);
    else if (what == PyTrace_EXCEPTION)
        cunei_hook_event_raise(&trace, frame, argument);
    return 0;
}

static struct cunei_source *open_hook(struct cunei_hook *hook,
                                      const struct cunei_source_setup *setup)
{
    cunei_hook_init(setup);
    cunei_hook_event_init(setup->extra_index, setup->extra_inline);
    return &hook->source;
}

static struct cunei_source *open_profile(PyObject *module,
                                         const struct cunei_source_setup *setup)
{
    (void)module;
    return open_hook(&profile, setup);
}

static struct cunei_source *open_trace(PyObject *module,
                                       const struct cunei_source_setup *setup)
{
    (void)module;
    return open_hook(&trace, setup);
}

const struct cunei_source_kind cunei_source_profile = {
    .instrumenter = CUNEI_INSTRUMENTER_PROFILE,
    .methods = &cunei_hook_methods,
    .open = open_profile,
};

const struct cunei_source_kind cunei_source_trace = {
    .instrumenter = CUNEI_INSTRUMENTER_TRACE,
    .methods = &cunei_hook_methods,
    .open = open_trace,
};
