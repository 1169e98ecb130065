// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/value_text.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probe/core/compat.h"
#include "probe/core/names.h"

#define DEPTH_MAX 5
#define ELLIPSIS  "…"

struct text {
    char *out;
    size_t size;
    size_t max;
    bool full;   /* use the repr() of objects */
    bool is_cut; /* there was more than fits; nothing more is added */
};

static void format_type(struct text *text, PyObject *value, const char *more);
static void format_value(struct text *text, PyObject *value, int depth);

static void append(struct text *text, const char *bytes, size_t size)
{
    size_t room = text->is_cut ? 0 : text->max - text->size;

    if (size > room) {
        size = cunei_text_cut(bytes, size, room);
        text->is_cut = true;
    }
    memcpy(text->out + text->size, bytes, size);
    text->size += size;
}

static void append_text(struct text *text, const char *bytes)
{
    append(text, bytes, strlen(bytes));
}

/* How many characters or bytes to read at most: one more than fit. */
static Py_ssize_t enough(const struct text *text, Py_ssize_t length)
{
    Py_ssize_t room = text->is_cut ? 0 : (Py_ssize_t)(text->max - text->size) + 1;
    return length < room ? length : room;
}

/* The size of the control character here (C0, DEL or C1); 0: there is none. */
static size_t control_size(const char *bytes, size_t left)
{
    unsigned char first = (unsigned char)bytes[0];

    if (first < ' ' || first == 0x7f)
        return 1;
    return first == 0xc2 && left > 1 && (unsigned char)bytes[1] < 0xa0 ? 2 : 0;
}

/*
 * A text of the program may contain anything: make one line of it, without terminal
 * escape sequences.
 */
static void append_line(struct text *text, const char *bytes, size_t size)
{
    size_t begin = 0, i = 0, control;

    while (i < size) {
        if (!control_size(bytes + i, size - i)) {
            i++;
            continue;
        }
        append(text, bytes + begin, i - begin);
        append_text(text, " ");
        /* Also the indentation of the next line. */
        while (i < size &&
               ((control = control_size(bytes + i, size - i)) != 0 || bytes[i] == ' '))
            i += control ? control : 1;
        begin = i;
    }
    append(text, bytes + begin, size - begin);
}

static void append_str(struct text *text, PyObject *str)
{
    Py_ssize_t size = 0;
    PyObject *part =
        PyUnicode_Substring(str, 0, enough(text, PyUnicode_GET_LENGTH(str)));
    PyObject *encoded =
        part ? PyUnicode_AsEncodedString(part, "utf-8", "backslashreplace") : NULL;

    if (encoded) {
        size = PyBytes_GET_SIZE(encoded);
        append_line(text, PyBytes_AS_STRING(encoded), (size_t)size);
    }
    PyErr_Clear();
    Py_XDECREF(encoded);
    Py_XDECREF(part);
}

/* By the repr() of a type that runs none of the program's code. */
static void format_known(struct text *text, PyObject *value)
{
    PyObject *repr = PyObject_Repr(value);

    if (repr)
        append_str(text, repr);
    else
        format_type(text, value,
                    ""); /* of a number with more digits than are allowed */
    PyErr_Clear();
    Py_XDECREF(repr);
}

static void format_str(struct text *text, PyObject *value)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(value);
    PyObject *part = PyUnicode_Substring(value, 0, enough(text, length));

    if (part)
        format_known(text, part);
    PyErr_Clear();
    Py_XDECREF(part);
}

static void format_bytes(struct text *text, PyObject *value)
{
    Py_ssize_t size = enough(text, PyBytes_GET_SIZE(value));
    PyObject *part = PyBytes_FromStringAndSize(PyBytes_AS_STRING(value), size);

    if (part)
        format_known(text, part);
    PyErr_Clear();
    Py_XDECREF(part);
}

/* Formatting a number takes quadratic time. */
static void format_big(struct text *text, PyObject *value)
{
    PyObject *length = PyObject_CallMethod(value, "bit_length", NULL);
    long bits = length ? PyLong_AsLong(length) : -1;
    char shown[64];

    PyErr_Clear();
    Py_XDECREF(length);
    PyObject *repr =
        bits >= 0 && bits <= 4 * enough(text, LONG_MAX) ? PyObject_Repr(value) : NULL;
    if (repr)
        append_str(text, repr);
    else {
        (void)snprintf(shown, sizeof(shown), "<int of %ld bits>", bits);
        append_text(text, shown);
    }
    PyErr_Clear();
    Py_XDECREF(repr);
}

static void format_int(struct text *text, PyObject *value)
{
    int overflow;
    long number = PyLong_AsLongAndOverflow(value, &overflow);
    char shown[32];

    if (overflow)
        format_big(text, value);
    else {
        (void)snprintf(shown, sizeof(shown), "%ld", number);
        append_text(text, shown);
    }
}

/* <module.Type at 0x…>, without the module for builtins. */
static void format_type(struct text *text, PyObject *value, const char *more)
{
    struct {
        char module[CUNEI_NAMES_MAX], qualname[CUNEI_NAMES_MAX];
    } *names = PyMem_RawMalloc(sizeof(*names));
    char address[32];

    if (!names)
        return;
    cunei_names_of_type(Py_TYPE(value), names->module, names->qualname);
    append_text(text, "<");
    if (names->module[0] && strcmp(names->module, "builtins") != 0) {
        append_line(text, names->module, strlen(names->module));
        append_text(text, ".");
    }
    append_line(text, names->qualname, strlen(names->qualname));
    (void)snprintf(address, sizeof(address), " at %p", (void *)value);
    append_text(text, address);
    append_text(text, more);
    append_text(text, ">");
    PyMem_RawFree(names);
}

/* Ctrl-C during the program's repr() is meant for the program: raise it again. */
static void pass_on_interrupt(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        PyErr_SetInterrupt();
}

/* A value that may have the program's own repr(). */
static void format_other(struct text *text, PyObject *value)
{
    PyObject *repr = text->full ? cunei_compat_repr(value) : NULL;

    if (repr)
        append_str(text, repr);
    else {
        if (text->full)
            pass_on_interrupt();
        format_type(text, value, text->full ? ", its repr() failed" : "");
    }
    PyErr_Clear();
    Py_XDECREF(repr);
}

static void format_item(struct text *text, PyObject *item, bool is_first, int depth)
{
    if (!is_first)
        append_text(text, ", ");
    format_value(text, item, depth + 1);
}

static void format_list(struct text *text, PyObject *value, int depth)
{
    append_text(text, "[");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value) && !text->is_cut; i++) {
        PyObject *item = cunei_compat_list_item(value, i);
        if (!item)
            break; /* another thread shortened it */
        format_item(text, item, i == 0, depth);
        Py_DECREF(item);
    }
    append_text(text, "]");
    PyErr_Clear();
}

static void format_tuple(struct text *text, PyObject *value, int depth)
{
    Py_ssize_t size = PyTuple_GET_SIZE(value);

    append_text(text, "(");
    for (Py_ssize_t i = 0; i < size && !text->is_cut; i++)
        format_item(text, PyTuple_GET_ITEM(value, i), i == 0, depth);
    append_text(text, size == 1 ? ",)" : ")");
}

static void format_dict(struct text *text, PyObject *value, int depth)
{
    Py_ssize_t at = 0;
    PyObject *key, *item;
    bool is_first = true;

    append_text(text, "{");
    CUNEI_COMPAT_BEGIN_LOCKED(value);
    while (!text->is_cut && PyDict_Next(value, &at, &key, &item)) {
        Py_INCREF(key);
        Py_INCREF(item);
        format_item(text, key, is_first, depth);
        append_text(text, ": ");
        format_value(text, item, depth + 1);
        Py_DECREF(key);
        Py_DECREF(item);
        is_first = false;
    }
    CUNEI_COMPAT_END_LOCKED();
    append_text(text, "}");
}

static void format_set(struct text *text, PyObject *value, int depth)
{
    bool is_frozen = PyFrozenSet_CheckExact(value), is_first = true;
    PyObject *items = PyObject_GetIter(value), *item = NULL;

    if (PySet_GET_SIZE(value) == 0)
        append_text(text, is_frozen ? "frozenset()" : "set()");
    else {
        append_text(text, is_frozen ? "frozenset({" : "{");
        while (items && !text->is_cut && (item = PyIter_Next(items))) {
            format_item(text, item, is_first, depth);
            Py_DECREF(item);
            is_first = false;
        }
        append_text(text, is_frozen ? "})" : "}");
    }
    PyErr_Clear();
    Py_XDECREF(items);
}

static const struct {
    PyTypeObject *type;
    void (*format)(struct text *text, PyObject *value, int depth);
    const char *too_deep;
} containers[] = {
    {&PyTuple_Type, format_tuple, "(" ELLIPSIS ")"},
    {&PyList_Type, format_list, "[" ELLIPSIS "]"},
    {&PyDict_Type, format_dict, "{" ELLIPSIS "}"},
    {&PySet_Type, format_set, "{" ELLIPSIS "}"},
    {&PyFrozenSet_Type, format_set, "frozenset({" ELLIPSIS "})"},
};

static bool format_container(struct text *text, PyObject *value, int depth)
{
    for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
        if (!Py_IS_TYPE(value, containers[i].type))
            continue;
        if (depth < DEPTH_MAX)
            containers[i].format(text, value, depth);
        else
            append_text(text, containers[i].too_deep);
        return true;
    }
    return false;
}

/* None, True, 1.5, 2j, range(3), <class 'int'>, <function f at 0x…>, … */
static bool is_known(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);

    return Py_IsNone(value) || type == &PyBool_Type || type == &PyFloat_Type ||
           type == &PyComplex_Type || type == &PyRange_Type || type == &PyType_Type ||
           type == &PyFunction_Type || type == &PyCFunction_Type ||
           value == Py_Ellipsis || value == Py_NotImplemented;
}

static void format_value(struct text *text, PyObject *value, int depth)
{
    if (text->is_cut)
        return;
    if (PyUnicode_CheckExact(value))
        format_str(text, value);
    else if (PyLong_CheckExact(value))
        format_int(text, value);
    else if (PyBytes_CheckExact(value))
        format_bytes(text, value);
    else if (is_known(value))
        format_known(text, value);
    else if (!format_container(text, value, depth))
        format_other(text, value);
}

size_t cunei_value_text_format(PyObject *value, bool full, char *out, size_t max)
{
    const size_t ellipsis = sizeof(ELLIPSIS) - 1;
    struct text text = {.out = out, .max = max, .full = full};

    format_value(&text, value, 0);
    if (text.is_cut && max >= ellipsis) {
        text.size = cunei_text_cut(out, text.size, max - ellipsis);
        text.is_cut = false;
        append(&text, ELLIPSIS, ellipsis);
    }
    return text.size;
}
