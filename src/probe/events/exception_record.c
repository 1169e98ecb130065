// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception_record.h"

#include <opcode.h>
#include <string.h>

#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/names.h"
#include "probe/core/write.h"
#include "probe/events/exception_track.h"

/* How many entries of a traceback are searched. */
#define TRACEBACK_MAX 4096

/* Frames of a thread of threading before its function is called. */
#define BOOTSTRAP_DEPTH 3u

/* module.qualname, without the module for builtins. */
static size_t copy_type(PyTypeObject *type,
                        char text[CUNEI_EXCEPTION_TRACK_TYPE_MAX + 1])
{
    const size_t size = CUNEI_EXCEPTION_TRACK_TYPE_MAX + 1;
    size_t used = 0;

    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        /* tp_name of C types is module.name, but for builtins. */
        used = strnlen(type->tp_name, CUNEI_EXCEPTION_TRACK_TYPE_MAX);
        memcpy(text, type->tp_name, used);
        return used;
    }
    PyObject *attributes = PyType_GetDict(type);
    PyObject *module =
        attributes ? cunei_compat_dict_get(attributes, "__module__") : NULL;
    PyErr_Clear();
    if (module && PyUnicode_Check(module) &&
        PyUnicode_CompareWithASCIIString(module, "builtins") != 0) {
        used = cunei_names_copy(module, text, size - 1);
        text[used++] = '.';
    }
    PyObject *name = PyType_GetQualName(type);
    used += cunei_names_copy(name, text + used, size - used);
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(attributes);
    return used;
}

void cunei_exception_record_type(struct cunei_propagating *propagating,
                                 PyTypeObject *type)
{
    propagating->type_size = copy_type(type, propagating->type);
}

void cunei_exception_record_write(enum cunei_phase phase,
                                  const struct cunei_propagating *propagating)
{
    const struct cunei_exception_track *track = &propagating->track;
    uint64_t words[] = {
        cunei_record(0, CUNEI_CLASS_EXCEPTION, phase),
        track->function | (uint64_t)track->line << 32,
        track->handler | (uint64_t)track->handler_line << 32,
        track->unwound,
    };

    cunei_write_text(words, 4, propagating->type, propagating->type_size, true);
}

void cunei_exception_record_caught(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating,
                                   uint32_t handler, uint32_t line)
{
    propagating->track.handler = handler;
    propagating->track.handler_line = line;
    cunei_exception_record_write(CUNEI_PHASE_LEAVE, propagating);
    cunei_exception_tracks_caught(tracks, propagating);
}

bool cunei_exception_record_ends_thread(PyCodeObject *code, PyObject *globals,
                                        uint32_t depth)
{
    if (depth > BOOTSTRAP_DEPTH ||
        PyUnicode_CompareWithASCIIString(code->co_name, "_bootstrap_inner") != 0)
        return false;
    PyObject *module = globals && PyDict_Check(globals)
                           ? cunei_compat_dict_get(globals, "__name__")
                           : NULL;
    bool yes = module && PyUnicode_Check(module) &&
               PyUnicode_CompareWithASCIIString(module, "threading") == 0;
    Py_XDECREF(module);
    return yes;
}

bool cunei_exception_record_ends_program(PyCodeObject *code)
{
    static const char *const files[] = {"<frozen importlib", "<frozen zipimport"};
    const char *file = PyUnicode_AsUTF8(code->co_filename);

    if (!file)
        PyErr_Clear();
    for (size_t i = 0; file && i < sizeof(files) / sizeof(files[0]); i++) {
        if (strncmp(file, files[i], strlen(files[i])) == 0)
            return false;
    }
    return true;
}

bool cunei_exception_record_is_of(const PyTracebackObject *traceback, const void *code)
{
    PyCodeObject *own = PyFrame_GetCode(traceback->tb_frame);

    Py_DECREF(own); /* its frame keeps it */
    return own == code;
}

bool cunei_exception_record_passed(const PyTracebackObject *traceback, const void *code)
{
    for (int i = 0; traceback && i < TRACEBACK_MAX; i++) {
        if (cunei_exception_record_is_of(traceback, code))
            return true;
        traceback = traceback->tb_next;
    }
    return false;
}

const PyTracebackObject *cunei_exception_record_innermost(
    const PyTracebackObject *traceback)
{
    for (int i = 0; traceback->tb_next && i < TRACEBACK_MAX; i++)
        traceback = traceback->tb_next;
    return traceback;
}

bool cunei_exception_record_iterates(PyCodeObject *code, int offset)
{
#if PY_VERSION_HEX >= 0x030b0000
    const int delegates = SEND;
#else
    const int delegates = YIELD_FROM;
#endif

    return cunei_frame_is_at(code, offset, FOR_ITER) ||
           cunei_frame_is_at(code, offset, delegates);
}
