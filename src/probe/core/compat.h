// SPDX-License-Identifier: MIT
/*
 * Differences between Python versions.  Reads past the public interface have headers of
 * their own, which check the layout: code_extra.h and frame.h.  compat_311.h has
 * everything for versions before 3.12; layouts are not checked there, because these
 * versions do not change any more.
 */
#ifndef CUNEI_PROBE_CORE_COMPAT_H
#define CUNEI_PROBE_CORE_COMPAT_H

#include <Python.h>

#include <limits.h>
#include <opcode.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if PY_VERSION_HEX < 0x030c0000
#include "probe/core/compat_311.h"
#endif

#ifdef Py_GIL_DISABLED
#define CUNEI_COMPAT_HAS_GIL 0
#else
#define CUNEI_COMPAT_HAS_GIL 1
#endif

/*
 * The exception that the program has set in this thread, put aside while we call the
 * API.  It is not normalized: that might run code.
 */
struct cunei_compat_error {
#if PY_VERSION_HEX >= 0x030c0000
    PyObject *exception;
#else
    PyObject *type, *value, *traceback;
#endif
};

static inline struct cunei_compat_error cunei_compat_put_aside(void)
{
    struct cunei_compat_error error;

#if PY_VERSION_HEX >= 0x030c0000
    error.exception = PyErr_GetRaisedException();
#else
    PyErr_Fetch(&error.type, &error.value, &error.traceback);
#endif
    return error;
}

static inline void cunei_compat_put_back(const struct cunei_compat_error *error)
{
#if PY_VERSION_HEX >= 0x030c0000
    PyErr_SetRaisedException(error->exception);
#else
    PyErr_Restore(error->type, error->value, error->traceback);
#endif
}

/* The text of the exception that is set, which is cleared; owned, NULL: no memory. */
static inline char *cunei_compat_take_error_text(void)
{
    struct cunei_compat_error error = cunei_compat_put_aside();
#if PY_VERSION_HEX >= 0x030c0000
    PyObject *value = error.exception;
#else
    PyErr_NormalizeException(&error.type, &error.value, &error.traceback);
    PyObject *value = error.value;
    Py_XDECREF(error.type);
    Py_XDECREF(error.traceback);
#endif
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    char *copy = strdup(bytes ? bytes : "it raised an exception without a text");

    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(value);
    return copy;
}

/* An int that is a line or an offset; -1: out of range. */
static inline int cunei_compat_small(PyObject *number)
{
#if PY_VERSION_HEX >= 0x030c0000
    if (PyUnstable_Long_IsCompact((const PyLongObject *)number))
        return (int)PyUnstable_Long_CompactValue((const PyLongObject *)number);
#endif
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    return overflow || value > INT_MAX || value < -1 ? -1 : (int)value;
}

/* The same without a call, for a positive int of one digit; else 0. */
static inline uint32_t cunei_compat_digit(PyObject *number)
{
    const PyLongObject *whole = (const PyLongObject *)number;
#if PY_VERSION_HEX >= 0x030c0000
    /* The number of digits, then a flag of small ints, then the sign. */
    bool is_one = (whole->long_value.lv_tag & ~(uintptr_t)4) == 1 << 3;
    return is_one ? whole->long_value.ob_digit[0] : 0;
#else
    return Py_SIZE(number) == 1 ? whole->ob_digit[0] : 0;
#endif
}

/*
 * Versions with slow LINE events (probe/code/line_table.h), and which of their
 * instructions jump.
 */
#define CUNEI_COMPAT_SLOW_LINES \
    (PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000)
#if CUNEI_COMPAT_SLOW_LINES
static inline bool cunei_compat_lines_are_slow(void)
{
    return Py_Version < 0x030d0300;
}

/* Which way an instruction may jump: 1 forward, -1 backward, 0 not at all. */
static inline int cunei_compat_jumps(uint8_t opcode)
{
    switch (opcode) {
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
        return -1;
    case FOR_ITER:
    case JUMP_FORWARD:
    case POP_JUMP_IF_FALSE:
    case POP_JUMP_IF_NONE:
    case POP_JUMP_IF_NOT_NONE:
    case POP_JUMP_IF_TRUE:
    case SEND:
        return 1;
    default:
        return 0;
    }
}

/* As in CPython: some instructions are never executed, or belong to the line before. */
static inline bool cunei_compat_begins_lines(uint8_t opcode)
{
    return opcode != RESUME && opcode != END_FOR && opcode != END_SEND &&
           opcode != END_ASYNC_FOR;
}
#endif

/* The value of a key of a dict, a new reference; NULL without an exception. */
static inline PyObject *cunei_compat_dict_get(PyObject *dict, const char *name)
{
    PyObject *value = NULL;
#if PY_VERSION_HEX >= 0x030d0000
    if (PyDict_GetItemStringRef(dict, name, &value) < 0)
        PyErr_Clear();
#else
    value = Py_XNewRef(PyDict_GetItemString(dict, name));
#endif
    return value;
}

/* A number that no other code object has, or had; 0: unknown. */
static inline uint32_t cunei_compat_version(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    return code->co_version;
#else
    (void)code;
    return 0;
#endif
}

/* Changes with the type and its bases; 0: unknown. */
static inline uint32_t cunei_compat_type_version(const PyTypeObject *type)
{
#if PY_VERSION_HEX < 0x030c0000
    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG))
        return 0;
#endif
    return __atomic_load_n(&type->tp_version_tag, __ATOMIC_RELAXED);
}

#if PY_VERSION_HEX < 0x030d0000
#define PyThreadState_GetUnchecked _PyThreadState_UncheckedGet
#endif

/* Whether the referent of a weak reference is alive. */
static inline bool cunei_compat_is_alive(PyObject *ref)
{
#if PY_VERSION_HEX >= 0x030e0000
    return PyWeakref_IsDead(ref) == 0;
#elif PY_VERSION_HEX >= 0x030d0000
    PyObject *object = NULL;
    (void)PyWeakref_GetRef(ref, &object);
    Py_XDECREF(object);
    return object != NULL;
#else
    return PyWeakref_GET_OBJECT(ref) != Py_None;
#endif
}

/* The referent, a new reference; NULL: it is dead. */
static inline PyObject *cunei_compat_referent(PyObject *ref)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *object = NULL;
    (void)PyWeakref_GetRef(ref, &object);
    return object;
#else
    PyObject *object = PyWeakref_GET_OBJECT(ref);
    if (object == Py_None)
        return NULL;
    Py_INCREF(object);
    return object;
#endif
}

/* The value of a key object, a new reference; NULL with or without an exception. */
static inline PyObject *cunei_compat_dict_item(PyObject *dict, PyObject *key)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *value = NULL;
    (void)PyDict_GetItemRef(dict, key, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

/* Around a loop over an object that another thread may change, without a GIL. */
#if PY_VERSION_HEX >= 0x030d0000
#define CUNEI_COMPAT_BEGIN_LOCKED(object) Py_BEGIN_CRITICAL_SECTION(object)
#define CUNEI_COMPAT_END_LOCKED()         Py_END_CRITICAL_SECTION()
#else
#define CUNEI_COMPAT_BEGIN_LOCKED(object) {
#define CUNEI_COMPAT_END_LOCKED()         }
#endif

/* An item of a list, a new reference; NULL: the list is too short by now. */
static inline PyObject *cunei_compat_list_item(PyObject *list, Py_ssize_t index)
{
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *item = PyList_GetItemRef(list, index);
#else
    PyObject *item = Py_XNewRef(PyList_GetItem(list, index));
#endif
    if (!item)
        PyErr_Clear();
    return item;
}

/*
 * No garbage collection while the stack for a new packet is read: 3.11 may collect when
 * it creates frame objects, and a collection writes events.
 */
static inline bool cunei_compat_hold_collections(void)
{
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    return PyGC_Disable();
#else
    return false;
#endif
}

static inline void cunei_compat_release_collections(bool were_enabled)
{
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    if (were_enabled)
        (void)PyGC_Enable();
#else
    (void)were_enabled;
#endif
}

/*
 * The repr() of an object, without events of the code that it runs.  From 3.12 on
 * CPython itself suppresses them during a callback.
 */
static inline PyObject *cunei_compat_repr(PyObject *value)
{
#if PY_VERSION_HEX >= 0x030c0000
    return PyObject_Repr(value);
#else
    PyThreadState *thread = PyThreadState_Get();
    const struct cunei_compat_311_silence before =
        cunei_compat_311_enter_silence(thread);
    PyObject *repr = PyObject_Repr(value);
    cunei_compat_311_leave_silence(thread, &before);
    return repr;
#endif
}

/* An attribute of sys, a new reference; NULL without an exception. */
static inline PyObject *cunei_compat_sys(const char *name)
{
#if PY_VERSION_HEX >= 0x030f0000
    PyObject *value = PySys_GetAttrString(name);
    if (!value)
        PyErr_Clear();
    return value;
#elif PY_VERSION_HEX >= 0x030d0000
    PyObject *value = NULL, *sys = PyImport_AddModuleRef("sys");
    if (sys && PyModule_Check(sys))
        value = cunei_compat_dict_get(PyModule_GetDict(sys), name);
    PyErr_Clear();
    Py_XDECREF(sys);
    return value;
#else
    return Py_XNewRef(PySys_GetObject(name));
#endif
}

/* The interpreter's command line, a new reference; NULL without an exception. */
static inline PyObject *cunei_compat_arguments(void)
{
#if PY_VERSION_HEX >= 0x030a0000
    return cunei_compat_sys("orig_argv");
#else
    return cunei_compat_311_arguments();
#endif
}

#endif
