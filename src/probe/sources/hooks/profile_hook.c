// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/c_call.h"
#include "probe/sources/hooks/hook.h"
#include "probe/sources/hooks/hook_event.h"
#include "probe/sources/hooks/hook_frame.h"

static int on_event(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument);

static struct cunei_hook own = {.kind = CUNEI_HOOK_PROFILE, .function = on_event};

static void record_call(PyFrameObject *frame, int what, PyObject *callable)
{
    PyCodeObject *code = cunei_hook_frame_code(frame);

    cunei_hook_event_check_resume(&own, frame);
    if (what == PyTrace_C_CALL)
        cunei_c_call_enter(code, callable);
    else
        cunei_c_call_leave(code, callable, what == PyTrace_C_EXCEPTION);
}

static int on_event(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument)
{
    (void)object;
    if (what == PyTrace_CALL)
        cunei_hook_event_enter(&own, frame);
    else if (!own.is_recording)
        return 0;
    else if (what == PyTrace_RETURN)
        cunei_hook_event_leave(&own, frame, argument);
    else if (own.source.config.c_calls)
        record_call(frame, what, argument);
    return 0;
}

static struct cunei_source *open_source(PyObject *module,
                                        const struct cunei_source_setup *setup)
{
    (void)module;
    cunei_hook_init(setup);
    cunei_hook_event_init(setup->extra_index, setup->extra_inline);
    return &own.source;
}

const struct cunei_source_kind cunei_source_profile = {
    .instrumenter = CUNEI_INSTRUMENTER_PROFILE,
    .methods = &cunei_hook_methods,
    .open = open_source,
};
