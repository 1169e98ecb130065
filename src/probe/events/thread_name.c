// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/thread_name.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "probe/code/qualname.h"
#include "probe/core/compat.h"
#include "probe/core/names.h"
#include "probe/core/write.h"
#include "rt/recorder.h"
#include "rt/stream.h"
#include "wire/event.h"

#define NAME_MAX_BYTES 256

/*
 * A thread is in threading's table from about its third frame on; before that its
 * Thread is searched in its frames, in no more than these: each gets an object.
 */
#define FRAMES_MAX 16

/* A hash of the name in the thread's stream. */
static _Thread_local uint64_t written_hash;

/* This thread is about to rename a thread. */
static _Thread_local bool is_changing;

static uint64_t hash_name(const char *name, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The Thread that is `self` in the thread's outermost frame; new, or NULL. */
static PyObject *find_in_frames(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyFrameObject *outermost = NULL;
    PyObject *thread = NULL;

    for (int i = 0; frame && i < FRAMES_MAX; i++) {
        Py_XDECREF(outermost);
        outermost = frame;
        frame = PyFrame_GetBack(outermost);
    }
    if (outermost && !frame) {
        PyCodeObject *code = PyFrame_GetCode(outermost);
        if (cunei_qualname_is(code, "Thread._bootstrap"))
            thread = PyFrame_GetVarString(outermost, "self");
        Py_DECREF(code);
    }
    Py_XDECREF(frame);
    Py_XDECREF(outermost);
    return thread;
}

/*
 * Whether it stands for another thread, which has ended: threading is not notified of
 * the end of threads that it did not start, and thread ids are used again.
 */
static bool is_left_behind(PyObject *thread)
{
    if (strcmp(Py_TYPE(thread)->tp_name, "_DummyThread") != 0)
        return false;
    PyObject *number = cunei_names_attribute(thread, "_native_id");
    bool is_other =
        number && PyLong_Check(number) && PyLong_AsLong(number) != (long)gettid();

    PyErr_Clear();
    Py_XDECREF(number);
    return is_other;
}

/* The Thread of this thread in threading's table; new, or NULL. */
static PyObject *find_in_table(void)
{
    PyObject *modules = cunei_compat_sys("modules");
    PyObject *threading = NULL, *table = NULL, *ident = NULL, *thread = NULL;

    if (modules && PyDict_Check(modules))
        threading = cunei_compat_dict_get(modules, "threading");
    if (threading && PyModule_Check(threading))
        table = cunei_compat_dict_get(PyModule_GetDict(threading), "_active");
    if (table && PyDict_Check(table))
        ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    if (ident)
        thread = cunei_compat_dict_item(table, ident);
    if (thread && is_left_behind(thread))
        Py_CLEAR(thread);
    Py_XDECREF(ident);
    Py_XDECREF(table);
    Py_XDECREF(threading);
    Py_XDECREF(modules);
    return thread;
}

static size_t copy_own_name(PyObject *thread, char name[NAME_MAX_BYTES])
{
    PyObject *text = cunei_names_attribute(thread, "_name");
    PyObject *bytes = NULL;
    size_t size = 0;

    if (text && PyUnicode_Check(text))
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (bytes) {
        const char *whole = PyBytes_AS_STRING(bytes);
        size = cunei_text_cut(whole, (size_t)PyBytes_GET_SIZE(bytes), NAME_MAX_BYTES);
        memcpy(name, whole, size);
    }
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    return size;
}

static size_t copy_system_name(char name[NAME_MAX_BYTES])
{
    static const char main_thread[] = "MainThread";

    if (gettid() == getpid()) {
        memcpy(name, main_thread, sizeof(main_thread));
        return sizeof(main_thread) - 1;
    }
    return pthread_getname_np(pthread_self(), name, NAME_MAX_BYTES) == 0
               ? strnlen(name, NAME_MAX_BYTES)
               : 0;
}

/* The whole name, without a NUL; returns its size. */
static size_t copy_name(char name[NAME_MAX_BYTES])
{
    PyObject *thread = find_in_frames();
    size_t size = 0;

    if (!thread)
        thread = find_in_table();
    if (thread)
        size = copy_own_name(thread, name);
    Py_XDECREF(thread);
    PyErr_Clear();
    return size ? size : copy_system_name(name);
}

/* As much as a packet header has room for. */
static size_t cut_name(const char *name, size_t size,
                       char cut[CUNEI_PACKET_THREAD_NAME])
{
    size = cunei_text_cut(name, size, CUNEI_PACKET_THREAD_NAME);
    memset(cut, 0, CUNEI_PACKET_THREAD_NAME);
    memcpy(cut, name, size);
    return size;
}

void cunei_thread_name_copy(char name[CUNEI_PACKET_THREAD_NAME])
{
    char whole[NAME_MAX_BYTES];
    size_t size = copy_name(whole);

    size = cut_name(whole, size, name);
    written_hash = hash_name(name, size);
}

void cunei_thread_name_check(bool top_is_open)
{
    struct cunei_stream *stream = cunei_stream_own;
    char name[NAME_MAX_BYTES];
    size_t size = copy_name(name);
    uint64_t hash = hash_name(name, size);

    /* It is set by now: threads that looked too early must look again. */
    if (is_changing) {
        is_changing = false;
        cunei_recorder_poke();
    }
    if (hash == written_hash)
        return;
    written_hash = hash;
    (void)cut_name(name, size, stream->name);
    uint64_t words[] = {cunei_record(0, CUNEI_CLASS_THREAD_NAME, 0), stream->thread, 0};
    cunei_write_text(words, 3, name, size, top_is_open);
}

bool cunei_thread_name_watches(PyCodeObject *code)
{
    return code->co_argcount == 2 && cunei_qualname_is(code, "Thread.name");
}

void cunei_thread_name_changes(void)
{
    is_changing = true;
    cunei_recorder_poke();
}
