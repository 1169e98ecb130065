// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/profilehook.h"

#include "probe/ccall.h"
#include "probe/hook.h"
#include "probe/hookevent.h"
#include "probe/hookframe.h"

static int on_event(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument);

static struct cunei_hook own = {.kind = CUNEI_HOOK_PROFILE, .function = on_event};

static void tell_call(PyFrameObject *frame, int what, PyObject *callable)
{
    PyCodeObject *code = cunei_hookframe_code(frame);

    cunei_hookevent_goes_on(&own, frame);
    if (what == PyTrace_C_CALL)
        cunei_ccall_enter(code, callable);
    else
        cunei_ccall_leave(code, callable, what == PyTrace_C_EXCEPTION);
}

static int on_event(PyObject *object, PyFrameObject *frame, int what,
                    PyObject *argument)
{
    (void)object;
    if (what == PyTrace_CALL)
        cunei_hookevent_enter(&own, frame);
    else if (!own.is_recording)
        return 0;
    else if (what == PyTrace_RETURN)
        cunei_hookevent_leave(&own, frame, argument);
    else if (own.source.c_calls)
        tell_call(frame, what, argument);
    return 0;
}

struct cunei_source *cunei_profilehook_open(bool (*main_begins)(void))
{
    return cunei_hook_open(&own, main_begins);
}
