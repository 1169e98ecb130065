// SPDX-License-Identifier: MIT
/* Named values of the program: read from its objects, and written as events. */
#ifndef CUNEI_PROBE_USER_USER_VALUE_H
#define CUNEI_PROBE_USER_USER_VALUE_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

/* A number: an int that fits, or a double. */
struct cunei_user_number {
    bool is_double;
    uint64_t bits;
};

static inline double cunei_user_number_double(const struct cunei_user_number *number)
{
    union {
        uint64_t bits;
        double number;
    } both = {number->bits};
    return number->is_double ? both.number : (double)(int64_t)number->bits;
}

static inline struct cunei_user_number cunei_user_number_of(double number)
{
    union {
        double number;
        uint64_t bits;
    } both = {number};
    return (struct cunei_user_number){true, both.bits};
}

/*
 * The number in an int, a float, or an object with __index__ or __float__; an int that
 * is too large becomes a double.  -1 with an exception: it is not a number, or its code
 * has raised.
 */
int cunei_user_number_parse(PyObject *object, struct cunei_user_number *number);

/* The same where it could be a str: the exception names that type as well. */
int cunei_user_value_number(PyObject *object, struct cunei_user_number *number);

/* A name and its value. */
struct cunei_named_value {
    const char *name;
    size_t name_size;
    enum cunei_value_kind kind;
    uint64_t bits;
    const char *text;
    size_t text_size;
    uint32_t target;
};

/*
 * Write it as an event of this class.  A name is cut to half of the room, and the text
 * to the rest.
 */
void cunei_user_value_write(enum cunei_class class,
                            const struct cunei_named_value *value, bool top_is_open);

/* The name and the text of a value. */
#define CUNEI_USER_VALUE_TEXTS (2 * CUNEI_VALUE_MAX)

/*
 * From a name and an int, float, str, or, if allowed, None.  -1 with an exception: the
 * wrong type, no memory.  The value points into `texts`.
 */
int cunei_user_value_parse(PyObject *name, PyObject *object, bool may_be_none,
                           struct cunei_named_value *value,
                           char texts[CUNEI_USER_VALUE_TEXTS]);

#endif
