// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/hooks/hook.h"
#include "probe/sources/hooks/hook_event.h"

static int on_event(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument);

static struct cunei_hook own = {.kind = CUNEI_HOOK_TRACE, .function = on_event};

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
    else if (what == PyTrace_LINE && own.source.config.lines)
        cunei_hook_event_line(&own, frame);
    else if (what == PyTrace_EXCEPTION)
        cunei_hook_event_raise(&own, frame, argument);
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

const struct cunei_source_kind cunei_source_trace = {
    .instrumenter = CUNEI_INSTRUMENTER_TRACE,
    .methods = &cunei_hook_methods,
    .open = open_source,
};
