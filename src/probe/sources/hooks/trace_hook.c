// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/hooks/trace_hook.h"

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
    else if (what == PyTrace_LINE && own.source.lines)
        cunei_hook_event_line(&own, frame);
    else if (what == PyTrace_EXCEPTION)
        cunei_hook_event_raise(&own, frame, argument);
    return 0;
}

struct cunei_source *cunei_trace_hook_open(bool (*main_begins)(void))
{
    return cunei_hook_open(&own, main_begins);
}
