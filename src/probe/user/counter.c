// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/counter.h"

#include <stddef.h>

#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/sealed_type.h"
#include "probe/user/named_object.h"
#include "probe/user/user_name.h"
#include "probe/user/user_state.h"
#include "probe/user/user_value.h"
#include "wire/event.h"

struct counter {
    struct cunei_named named;
    struct cunei_user_number total; /* the object's lock guards it, without a GIL */
};

/* The sum: an int if both are ints and it fits. */
static struct cunei_user_number add(const struct cunei_user_number *a,
                                    const struct cunei_user_number *b)
{
    int64_t sum;

    if (!a->is_double && !b->is_double &&
        !__builtin_add_overflow((int64_t)a->bits, (int64_t)b->bits, &sum))
        return (struct cunei_user_number){false, (uint64_t)sum};
    return cunei_user_number_of(cunei_user_number_double(a) +
                                cunei_user_number_double(b));
}

static void write_count(struct cunei_user_name *user_name, enum cunei_phase phase,
                        const struct cunei_user_number *value,
                        const struct cunei_user_number *total)
{
    uint64_t words[] = {
        cunei_record(0, CUNEI_CLASS_COUNTER, phase),
        value->bits,
        total->bits,
        (uint64_t)((value->is_double ? CUNEI_COUNTER_VALUE_DOUBLE : 0) |
                   (total->is_double ? CUNEI_COUNTER_TOTAL_DOUBLE : 0))
            << 32,
    };

    cunei_user_name_write(user_name, words, 4);
}

static PyObject *count_one(PyObject *self, PyObject *object, enum cunei_phase phase)
{
    struct counter *counter = (struct counter *)self;
    struct cunei_user_number total, value = {false, 1};

    if (object && cunei_user_number_parse(object, &value) < 0)
        return NULL;
    CUNEI_COMPAT_BEGIN_LOCKED(self);
    total = phase == CUNEI_PHASE_ENTER ? value : add(&counter->total, &value);
    counter->total = total;
    CUNEI_COMPAT_END_LOCKED();
    if (cunei_user_is_recorded())
        write_count(counter->named.user_name, phase, &value, &total);
    Py_RETURN_NONE;
}

static PyObject *counter_add(PyObject *self, PyObject *const *args, Py_ssize_t number,
                             PyObject *names)
{
    static const struct cunei_args_form form = {"add", {"number"}, 0, 1};
    PyObject *values[CUNEI_ARGS_MAX];

    if (cunei_args_parse(&form, args, number, names, values) < 0)
        return NULL;
    return count_one(self, values[0], CUNEI_PHASE_RESUME);
}

static PyObject *counter_set(PyObject *self, PyObject *const *args, Py_ssize_t number,
                             PyObject *names)
{
    static const struct cunei_args_form form = {"set", {"number"}, 1, 1};
    PyObject *value = cunei_args_one(&form, args, number, names);

    return value ? count_one(self, value, CUNEI_PHASE_ENTER) : NULL;
}

static PyObject *counter_value(PyObject *self, void *unused)
{
    struct cunei_user_number total;
    (void)unused;

    CUNEI_COMPAT_BEGIN_LOCKED(self);
    total = ((struct counter *)self)->total;
    CUNEI_COMPAT_END_LOCKED();
    return total.is_double ? PyFloat_FromDouble(cunei_user_number_double(&total))
                           : PyLong_FromLongLong((int64_t)total.bits);
}

static PyMethodDef methods[] = {
    {"add", CUNEI_METHOD(counter_add), METH_FASTCALL | METH_KEYWORDS,
     "add($self, number=1)\n--\n\nAdd a number to the counter, and record it."},
    {"set", CUNEI_METHOD(counter_set), METH_FASTCALL | METH_KEYWORDS,
     "set($self, number)\n--\n\nSet the counter to a number, and record it."},
    {"__reduce__", cunei_named_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"name", cunei_named_name, NULL, "Its name.", NULL},
    {"value", counter_value, NULL, "Its value.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cunei_named_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_repr, cunei_named_repr},
    {Py_tp_doc, "A counter."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Counter",
    .basicsize = sizeof(struct counter),
    .flags = CUNEI_SEALED_TYPE_FLAGS,
    .slots = slots,
};

static PyObject *on_counter(PyObject *module, PyObject *const *args, Py_ssize_t count,
                            PyObject *names)
{
    static const struct cunei_args_form form = {"counter", {"name"}, 1, 1};
    static const struct cunei_named_kind kind = {
        .file = CUNEI_COUNTER_FILE, .function = "counter", .what = "a counter's name"};
    struct cunei_user_state *state = cunei_user_state_of(module);
    PyObject *name = cunei_args_one(&form, args, count, names);

    return name ? cunei_named_find(state->counter_type, &kind, state->counters, name)
                : NULL;
}

static PyMethodDef functions[] = {
    {"counter", CUNEI_METHOD(on_counter), METH_FASTCALL | METH_KEYWORDS,
     "counter($module, name)\n--\n\nReturn the counter of this name: the same "
     "one each time."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject *cunei_counter_add(PyObject *module)
{
    return cunei_sealed_type_add(module, &spec, functions);
}
