// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/function_event.h"

#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/write.h"
#include "probe/events/argument.h"
#include "probe/events/c_call.h"
#include "probe/events/exception.h"
#include "probe/events/greenlet.h"
#include "probe/events/open_stack.h"
#include "probe/events/process.h"
#include "probe/events/task.h"
#include "probe/user/decorated.h"
#include "probe/user/region.h"
#include "rt/recorder.h"

uint32_t cunei_function_event_flags(PyCodeObject *code,
                                    const struct cunei_function *function)
{
    uint32_t flags = cunei_argument_flags(function);

    if (cunei_task_is_coroutine(code))
        flags |= CUNEI_CODE_COROUTINE;
    if (cunei_greenlet_is_module(function->module, function->qualname))
        flags |= CUNEI_CODE_GREENLET;
    if (cunei_process_sets_names(code))
        flags |= CUNEI_CODE_NAMES;
    return flags;
}

uint64_t cunei_function_event_tag(PyCodeObject *code)
{
    /* Its frame is the running one, whose globals name the module. */
    uint64_t tag = cunei_code_resolve(code, cunei_frames_globals());

    if (tag == 0)
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
    return tag;
}

/* The frame on top is open now: continue after its start or resume. */
static void frame_opened(uint32_t flags, enum cunei_phase phase)
{
    cunei_frame_opened();
    if (flags & CUNEI_CODE_REGIONS && phase == CUNEI_PHASE_RESUME)
        cunei_region_frame_resumes();
    else if (flags & CUNEI_CODE_REGIONS)
        cunei_region_frame_begins();
    cunei_decorated_write();
}

void cunei_function_event_write(PyCodeObject *code, uint64_t tag,
                                enum cunei_phase phase, PyObject *value)
{
    uint32_t id = cunei_code_id(tag), flags = cunei_code_flags(tag);

    if (flags & CUNEI_CODE_RESULT && phase == CUNEI_PHASE_LEAVE && value) {
        cunei_argument_write_result(code, tag, value);
        if (cunei_code_tag(code) != tag)
            return;
    }
    if (flags & CUNEI_CODE_REGIONS && phase == CUNEI_PHASE_YIELD)
        cunei_region_frame_yields();
    if (flags & CUNEI_CODE_COROUTINE)
        cunei_task_write(id, phase);
    else if (id)
        cunei_write_function(id, phase);
    if (flags & CUNEI_CODE_REGIONS && phase == CUNEI_PHASE_LEAVE)
        cunei_region_frame_ends(code);
    if (flags & CUNEI_CODE_GREENLET && phase == CUNEI_PHASE_LEAVE)
        cunei_greenlet_imported();
    if (flags & CUNEI_CODE_NAMES)
        cunei_process_frame(code, phase == CUNEI_PHASE_ENTER);
    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        frame_opened(flags, phase);
    if (flags & CUNEI_CODE_ARGUMENTS && phase == CUNEI_PHASE_ENTER)
        cunei_argument_write(code, tag);
}

void cunei_function_event_unwind(PyCodeObject *code, uint64_t tag, const void *type,
                                 PyObject *offset, PyObject *exception)
{
    uint32_t id = cunei_code_id(tag);
    bool closes = code->co_flags & CO_ASYNC_GENERATOR && type == PyExc_GeneratorExit;
    uint64_t run = 0;

    if (tag == 0)
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION); /* the second of the two */
    if (id) {
        cunei_c_call_unwind();
        run = cunei_open_stack_run(id);
        if (cunei_code_flags(tag) & CUNEI_CODE_COROUTINE)
            cunei_task_unwind();
    }
    if (exception)
        cunei_exception_unwound(code, offset, exception);
    if (id)
        cunei_write_unwind(id, closes ? CUNEI_PHASE_LEAVE : CUNEI_PHASE_ENTER, run);
    if (cunei_code_flags(tag) & CUNEI_CODE_REGIONS)
        cunei_region_frame_ends(code);
}

bool cunei_function_event_is_main(PyCodeObject *code)
{
    PyObject *module = NULL, *globals = cunei_frames_globals();

    if (!globals || PyUnicode_CompareWithASCIIString(code->co_name, "<module>") != 0)
        return false;
    PyObject *modules = cunei_compat_sys("modules");
    if (modules && PyDict_Check(modules))
        module = cunei_compat_dict_get(modules, "__main__");
    bool yes = module && PyModule_Check(module) && PyModule_GetDict(module) == globals;
    Py_XDECREF(module);
    Py_XDECREF(modules);
    return yes;
}
