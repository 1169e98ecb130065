// SPDX-License-Identifier: MIT
/*
 * What differs between Pythons.  What is read past the public interface has headers of
 * its own, and is proven there: extra.h and pyframe.h.  older.h has what is
 * before 3.12, which is not proven: those Pythons do not change any more.
 */
#ifndef CUNEI_PROBE_CORE_COMPAT_H
#define CUNEI_PROBE_CORE_COMPAT_H

#include <Python.h>

#include <limits.h>
#include <opcode.h>
#include <stdbool.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030c0000
#include "probe/core/compat_311.h"
#endif

#ifdef Py_GIL_DISABLED
#define CUNEI_COMPAT_HAS_GIL 0
#else
#define CUNEI_COMPAT_HAS_GIL 1
#endif

/*
 * The exception that is set in this thread, put aside while we call the API: it is the
 * program's.  It is not looked at: to make an object of it might run code.
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

/* An int that is a line or an offset; -1: it is none. */
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

/* The same without a call, of an int that is positive and of one digit; else 0. */
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
 * Pythons that may be slow to tell lines (probe/code/line_table.h), and what must be
 * known of their instructions to do it for them.
 */
#define CUNEI_COMPAT_SLOW_LINES \
    (PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000)
#if CUNEI_COMPAT_SLOW_LINES
static inline bool cunei_compat_lines_are_slow(void)
{
    return Py_Version < 0x030d0300;
}

/* Which way an instruction may jump: 1 ahead, -1 back, 0 nowhere. */
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

/* As CPython has it: some are never run, or belong to what was before. */
static inline bool cunei_compat_begins_lines(uint8_t opcode)
{
    return opcode != RESUME && opcode != END_FOR && opcode != END_SEND &&
           opcode != END_ASYNC_FOR;
}
#endif

/* What a dict has for a name, a new reference; NULL: nothing. */
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

/* A number that no other code object has, or had; 0: not known. */
static inline uint32_t cunei_compat_version(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    return code->co_version;
#else
    (void)code;
    return 0;
#endif
}

/* Changes with the type and with what it inherits; 0: not known. */
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

/* Whether what a weak reference refers to is still there. */
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

/* That, a new reference; NULL: it is gone. */
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

/* What a dict has for a key, a new reference; NULL with or without an exception. */
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

/* Around a loop over what another thread might change where there is no GIL. */
#if PY_VERSION_HEX >= 0x030d0000
#define CUNEI_COMPAT_BEGIN_LOCKED(object) Py_BEGIN_CRITICAL_SECTION(object)
#define CUNEI_COMPAT_END_LOCKED()         Py_END_CRITICAL_SECTION()
#else
#define CUNEI_COMPAT_BEGIN_LOCKED(object) {
#define CUNEI_COMPAT_END_LOCKED()         }
#endif

/* An item of a list, a new reference; NULL: it has become too short. */
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
 * While frames are looked at for the beginning of a packet, no garbage is collected:
 * 3.11 does so when objects are made of them, and that would write events.
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
 * The repr() of an object, of which no tool hears what it runs: later Pythons see to
 * that themselves while an event is told.
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

/* What sys has under this name, a new reference; NULL without an exception. */
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

/* What the interpreter was started with, a new reference; NULL without an exception. */
static inline PyObject *cunei_compat_arguments(void)
{
#if PY_VERSION_HEX >= 0x030a0000
    return cunei_compat_sys("orig_argv");
#else
    return cunei_compat_311_arguments();
#endif
}

#endif
