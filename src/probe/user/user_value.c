// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/user_value.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "probe/core/compat.h"
#include "probe/core/names.h"
#include "probe/core/write.h"
#include "probe/user/user_name.h"

#define NAME_MAX_BYTES (CUNEI_VALUE_MAX / 2)

/* An int of any size. */
static int parse_int(PyObject *object, struct cunei_user_number *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);

    if (value == -1 && PyErr_Occurred())
        return -1;
    if (!overflow) {
        *number = (struct cunei_user_number){false, (uint64_t)value};
        return 0;
    }
    double rounded = PyLong_AsDouble(object);
    if (rounded == -1.0 && PyErr_Occurred()) {
        PyErr_Clear(); /* larger than any double */
        rounded = overflow < 0 ? -HUGE_VAL : HUGE_VAL;
    }
    *number = cunei_user_number_of(rounded);
    return 0;
}

/* Of another type: numbers of libraries are one or the other. */
static int parse_other(PyObject *object, struct cunei_user_number *number)
{
    const PyNumberMethods *methods = Py_TYPE(object)->tp_as_number;
    PyObject *converted = PyIndex_Check(object)          ? PyNumber_Index(object)
                          : methods && methods->nb_float ? PyNumber_Float(object)
                                                         : NULL;

    if (!converted) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError,
                         "a value must be an int or a float, not %.100s",
                         Py_TYPE(object)->tp_name);
        return -1;
    }
    int rc = cunei_user_number_parse(converted, number);
    Py_DECREF(converted);
    return rc;
}

int cunei_user_number_parse(PyObject *object, struct cunei_user_number *number)
{
    if (PyLong_Check(object))
        return parse_int(object, number);
    if (PyFloat_Check(object)) {
        *number = cunei_user_number_of(PyFloat_AS_DOUBLE(object));
        return 0;
    }
    return parse_other(object, number);
}

void cunei_user_value_write(enum cunei_class class,
                            const struct cunei_named_value *value, bool top_is_open)
{
    bool has_text = value->kind >= CUNEI_VALUE_TEXT;
    size_t name_size = cunei_text_cut(value->name, value->name_size, NAME_MAX_BYTES);
    size_t text_size = 0;
    char text[CUNEI_VALUE_MAX];

    memcpy(text, value->name, name_size);
    if (has_text) {
        text[name_size] = '=';
        text_size = cunei_text_cut(value->text, value->text_size,
                                   CUNEI_VALUE_MAX - name_size - 1);
        memcpy(text + name_size + 1, value->text, text_size);
    }
    uint64_t words[] = {
        cunei_record(0, class, CUNEI_PHASE_ENTER),
        value->bits,
        (uint32_t)value->kind | (uint64_t)name_size << 32,
        value->target,
    };
    cunei_write_text(words, 4, text, name_size + has_text + text_size, top_is_open);
}

int cunei_user_value_number(PyObject *object, struct cunei_user_number *number)
{
    int rc = cunei_user_number_parse(object, number);

    if (rc < 0 && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError,
                     "a value must be an int, a float or a str, not %.100s",
                     Py_TYPE(object)->tp_name);
    return rc;
}

/* The value of anything but a text. */
static int parse_value(PyObject *object, bool may_be_none,
                       struct cunei_named_value *value)
{
    struct cunei_user_number number;

    if (object == Py_None && may_be_none) {
        value->kind = CUNEI_VALUE_NONE;
        return 0;
    }
    if (cunei_user_value_number(object, &number) < 0)
        return -1;
    value->kind = number.is_double ? CUNEI_VALUE_DOUBLE : CUNEI_VALUE_INT;
    value->bits = number.bits;
    return 0;
}

int cunei_user_value_parse(PyObject *name, PyObject *object, bool may_be_none,
                           struct cunei_named_value *value,
                           char texts[CUNEI_USER_VALUE_TEXTS])
{
    bool is_text = PyUnicode_Check(object);

    *value = (struct cunei_named_value){.kind = CUNEI_VALUE_TEXT};
    if (!is_text && parse_value(object, may_be_none, value) < 0)
        return -1;
    PyObject *text = cunei_user_name_text(name, "a name");
    if (!text)
        return -1;
    value->name = texts;
    value->name_size = cunei_names_copy(text, texts, CUNEI_VALUE_MAX);
    value->text = texts + CUNEI_VALUE_MAX;
    if (is_text)
        value->text_size =
            cunei_names_copy(object, texts + CUNEI_VALUE_MAX, CUNEI_VALUE_MAX);
    Py_DECREF(text);
    return 0;
}
