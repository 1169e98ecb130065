// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/garbage_collection.h"

#include <stdbool.h>
#include <stdint.h>

#include "probe/code/frames.h"
#include "probe/code/registry.h"
#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/lock.h"
#include "probe/core/write.h"
#include "rt/stream.h"
#include "wire/event.h"

/* A late thread must not hook it after the recording has ended. */
static cunei_mutex lock;
static bool is_on;

static uint64_t read_number(PyObject *info, const char *name)
{
    PyObject *value = cunei_compat_dict_get(info, name);
    uint64_t number = 0;

    if (value && PyLong_Check(value))
        number = PyLong_AsUnsignedLongLongMask(value);
    PyErr_Clear();
    Py_XDECREF(value);
    return number;
}

/* gc calls it with a phase and a dict of details. */
static PyObject *collecting(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count != 2 || !PyUnicode_Check(args[0]) || !PyDict_Check(args[1]))
        Py_RETURN_NONE;
    cunei_registry_share();
    struct cunei_compat_error pending = cunei_compat_put_aside();
    bool ends = PyUnicode_CompareWithASCIIString(args[0], "stop") == 0;
    uint64_t words[] = {
        cunei_record(0, CUNEI_CLASS_GC, ends ? CUNEI_PHASE_LEAVE : CUNEI_PHASE_ENTER),
        ends ? read_number(args[1], "collected") : 0,
        (uint32_t)read_number(args[1], "generation") |
            (ends ? read_number(args[1], "uncollectable") << 32 : 0),
    };
    /*
     * In a thread without events so far it is unknown whether the start of the frame on
     * top comes next, or was before the recording: neither is written.
     */
    bool top_is_open = cunei_frames_top_is_open();
    if (top_is_open || (cunei_stream_own && cunei_stream_own->slot))
        cunei_write_words(words, 3, top_is_open);
    cunei_compat_put_back(&pending);
    Py_RETURN_NONE;
}

int cunei_gc_init(struct cunei_gc_callback *collect)
{
    static PyMethodDef method = {"cunei_gc", CUNEI_METHOD(collecting), METH_FASTCALL,
                                 "Write down a garbage collection."};
    PyObject *gc = PyImport_ImportModule("gc");

    if (!gc)
        return -1;
    collect->list = PyObject_GetAttrString(gc, "callbacks");
    Py_DECREF(gc);
    collect->callable = PyCFunction_New(&method, NULL);
    return collect->list && collect->callable ? 0 : -1;
}

/* The index of the callable in the list; -1: none. */
static Py_ssize_t find(const struct cunei_gc_callback *collect)
{
    Py_ssize_t count = collect->list && PyList_Check(collect->list)
                           ? PyList_GET_SIZE(collect->list)
                           : 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = cunei_compat_list_item(collect->list, i);
        Py_XDECREF(item); /* compared only */
        if (item == collect->callable)
            return i;
    }
    return -1;
}

void cunei_gc_hook(struct cunei_gc_callback *collect)
{
    cunei_mutex_lock(&lock);
    if (is_on && collect->list && PyList_Check(collect->list) && find(collect) < 0 &&
        PyList_Append(collect->list, collect->callable) < 0)
        PyErr_Clear();
    cunei_mutex_unlock(&lock);
}

void cunei_gc_begin(struct cunei_gc_callback *collect)
{
    cunei_mutex_lock(&lock);
    is_on = true;
    cunei_mutex_unlock(&lock);
    cunei_gc_hook(collect);
}

void cunei_gc_end(struct cunei_gc_callback *collect)
{
    cunei_mutex_lock(&lock);
    is_on = false;
    Py_ssize_t at = find(collect);
    if (at >= 0 && PyList_SetSlice(collect->list, at, at + 1, NULL) < 0)
        PyErr_Clear();
    cunei_mutex_unlock(&lock);
}

int cunei_gc_traverse(struct cunei_gc_callback *collect, visitproc visit, void *arg)
{
    Py_VISIT(collect->list);
    Py_VISIT(collect->callable);
    return 0;
}

void cunei_gc_clear(struct cunei_gc_callback *collect)
{
    Py_CLEAR(collect->list);
    Py_CLEAR(collect->callable);
}
