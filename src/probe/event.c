// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/event.h"

#include "probe/argument.h"
#include "probe/ccall.h"
#include "probe/code.h"
#include "probe/compat.h"
#include "probe/exception.h"
#include "probe/frames.h"
#include "probe/greenlet.h"
#include "probe/process.h"
#include "probe/task.h"
#include "probe/write.h"
#include "rt/recorder.h"

uint64_t cunei_event_word(PyCodeObject *code)
{
    /* Its frame is the one that runs, so that one's globals name the module. */
    uint64_t word = cunei_code_resolve(code, cunei_frames_globals());

    if (word == 0)
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
    return word;
}

void cunei_event_write(PyCodeObject *code, uint64_t word, enum cunei_phase phase,
                       PyObject *value)
{
    uint32_t id = cunei_code_id(word), flags = cunei_code_flags(word);

    if (flags & CUNEI_CODE_RESULT && phase == CUNEI_PHASE_LEAVE && value) {
        cunei_argument_write_result(code, word, value);
        if (cunei_code_word(code) != word)
            return;
    }
    if (flags & CUNEI_CODE_COROUTINE)
        cunei_task_write(id, phase);
    else if (id)
        cunei_write_function(id, phase);
    if (flags & CUNEI_CODE_GREENLET && phase == CUNEI_PHASE_LEAVE)
        cunei_greenlet_imported();
    if (flags & CUNEI_CODE_NAMES)
        cunei_process_frame(code, phase == CUNEI_PHASE_ENTER);
    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        cunei_compat_opened();
    if (flags & CUNEI_CODE_ARGUMENTS && phase == CUNEI_PHASE_ENTER)
        cunei_argument_write(code, word);
}

/* What it writes stays together: the mark, and the leave it belongs to. */
void cunei_event_unwind(PyCodeObject *code, uint64_t word, PyObject *offset,
                        PyObject *exception)
{
    uint32_t id = cunei_code_id(word);

    if (word == 0)
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION); /* the second of the two */
    if (id == 0)
        return;
    unsigned words = id < CUNEI_FUNCTION_CLASS_END ? 3 : 4;
    cunei_ccall_unwind();
    uint64_t run = cunei_frames_run(id);
    if (cunei_code_flags(word) & CUNEI_CODE_COROUTINE)
        cunei_task_unwind();
    if (exception)
        cunei_exception_unwound(code, offset, exception);
    uint64_t now;
    struct cunei_stream *stream = cunei_write_room(&now, words, true);
    if (!stream) {
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_STREAM); /* the second of the two */
        return;
    }
    cunei_stream_store(stream, 0, cunei_record(now, CUNEI_CLASS_UNWIND, 0));
    cunei_stream_store(stream, 1, run);
    if (words == 4) {
        cunei_stream_store(stream, 2,
                           cunei_record(now, CUNEI_CLASS_CALL, CUNEI_PHASE_LEAVE));
        cunei_stream_store(stream, 3, id);
    } else
        cunei_stream_store(stream, 2, cunei_record(now, id, CUNEI_PHASE_LEAVE));
    cunei_stream_publish(stream, now, words);
}

bool cunei_event_is_main(PyCodeObject *code)
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
