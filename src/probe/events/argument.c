// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/argument.h"

#include <stdbool.h>
#include <stdlib.h>

#include "probe/code/code.h"
#include "probe/core/compat.h"
#include "probe/core/names.h"
#include "probe/core/value_text.h"
#include "probe/core/write.h"
#include "wire/event.h"
#include "wire/metadata.h"
#include "wire/record_env.h"

#define NAME_MAX_BYTES 256u

static const struct cunei_record_env *chosen; /* borrowed: until the recording ends */

void cunei_argument_choose(const struct cunei_record_env *session)
{
    chosen = session;
}

/* Without a pattern no function is included. */
static bool is_meant(const struct cunei_patterns *patterns,
                     const struct cunei_function *function)
{
    return patterns->count &&
           cunei_patterns_include(patterns, function->module, function->qualname,
                                  function->file);
}

uint32_t cunei_argument_flags(const struct cunei_function *function)
{
    if (!chosen)
        return 0;
    return (is_meant(&chosen->arguments, function) ? CUNEI_CODE_ARGUMENTS : 0) |
           (is_meant(&chosen->results, function) ? CUNEI_CODE_RESULT : 0);
}

/* One event; `name` may be NULL. */
static void write_value(PyCodeObject *code, uint64_t tag, enum cunei_phase phase,
                        uint32_t index, PyObject *name, PyObject *value)
{
    /*
     * The session stays allocated, but the recording may end while the value is read.
     */
    const struct cunei_record_env *session = chosen;
    size_t max =
        session && session->max_repr ? session->max_repr : CUNEI_RECORD_ENV_MAX_REPR;
    char *text = session ? malloc(NAME_MAX_BYTES + 1 + max) : NULL;

    if (!text)
        return;
    size_t name_length = cunei_names_copy(name, text, NAME_MAX_BYTES);
    size_t length = name_length;
    if (name)
        text[length++] = '=';
    length += cunei_value_text_format(value, session->full_repr, text + length, max);
    if (cunei_code_tag(code) == tag) {
        uint64_t words[] = {cunei_record(0, CUNEI_CLASS_ARGUMENT, phase),
                            cunei_code_id(tag) | (uint64_t)index << 32, name_length};
        cunei_write_text(words, 3, text, length, true);
    }
    free(text);
}

void cunei_argument_write(PyCodeObject *code, uint64_t tag)
{
    int count = code->co_argcount + code->co_kwonlyargcount +
                !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyObject *names = PyCode_GetVarnames(code);

    for (int i = 0; frame && names && i < count && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *value = PyFrame_GetVar(frame, name);
        if (value && cunei_code_tag(code) == tag)
            write_value(code, tag, CUNEI_PHASE_ENTER, (uint32_t)i, name, value);
        PyErr_Clear();
        Py_XDECREF(value);
    }
    PyErr_Clear();
    Py_XDECREF(names);
    Py_XDECREF(frame);
}

void cunei_argument_write_result(PyCodeObject *code, uint64_t tag, PyObject *value)
{
    write_value(code, tag, CUNEI_PHASE_LEAVE, 0, NULL, value);
}
