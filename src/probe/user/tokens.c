// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/tokens.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/sealed_type.h"
#include "probe/user/named_object.h"
#include "probe/user/user_event.h"
#include "probe/user/user_name.h"
#include "probe/user/user_state.h"
#include "wire/event.h"

struct tokens {
    struct cunei_named named;
    uint64_t stream; /* its number */
    bool is_open;
};

static _Atomic uint64_t stream_count;

static void write_token(const struct tokens *tokens, enum cunei_phase phase,
                        uint32_t number)
{
    uint64_t words[] = {
        cunei_record(0, CUNEI_CLASS_TOKEN, phase),
        tokens->stream,
        (uint64_t)number << 32,
    };

    cunei_user_name_write(tokens->named.user_name, words, 3);
}

static void end(struct tokens *tokens)
{
    if (tokens->is_open && cunei_user_is_recorded())
        write_token(tokens, CUNEI_PHASE_LEAVE, 0);
    tokens->is_open = false;
}

static void begin(struct tokens *tokens)
{
    end(tokens);
    tokens->stream =
        atomic_fetch_add_explicit(&stream_count, 1, memory_order_relaxed) + 1;
    tokens->is_open = true;
    if (cunei_user_is_recorded())
        write_token(tokens, CUNEI_PHASE_ENTER, 0);
}

static PyObject *tokens_start(PyObject *self, PyObject *unused)
{
    (void)unused;
    begin((struct tokens *)self);
    return Py_NewRef(self);
}

static PyObject *tokens_end(PyObject *self, PyObject *unused)
{
    (void)unused;
    end((struct tokens *)self);
    Py_RETURN_NONE;
}

/* A number of tokens; -1 with an exception. */
static long long read_count(PyObject *object)
{
    PyObject *index = PyNumber_Index(object);
    int overflow = 0;
    long long number = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : -1;

    if (index && (overflow || number < 0 || number > UINT32_MAX)) {
        PyErr_Format(PyExc_ValueError, "tick() takes a number of tokens from 0 to %lu",
                     (unsigned long)UINT32_MAX);
        number = -1;
    }
    Py_XDECREF(index);
    return number;
}

static PyObject *tokens_tick(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names)
{
    static const struct cunei_args_form form = {"tick", {"count"}, 0, 1};
    struct tokens *tokens = (struct tokens *)self;
    PyObject *values[CUNEI_ARGS_MAX];
    long long number = 1;

    if (cunei_args_parse(&form, args, count, names, values) < 0)
        return NULL;
    if (values[0] && (number = read_count(values[0])) < 0)
        return NULL;
    if (!cunei_user_is_recorded() || number == 0)
        Py_RETURN_NONE;
    if (tokens->is_open)
        write_token(tokens, CUNEI_PHASE_RESUME, (uint32_t)number);
    else {
        uint32_t before = cunei_recorder_begin_event();
        cunei_user_event_write_error(cunei_user_name_utf8(tokens->named.user_name),
                                     "tick() on a token stream that has ended");
        cunei_recorder_end_event(before);
    }
    Py_RETURN_NONE;
}

static PyObject *tokens_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *tokens_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args;
    (void)count;
    return tokens_end(self, NULL);
}

static PyMethodDef methods[] = {
    {"start", tokens_start, METH_NOARGS,
     "Begin another stream of this name, and return self."},
    {"tick", CUNEI_METHOD(tokens_tick), METH_FASTCALL | METH_KEYWORDS,
     "tick($self, count=1)\n--\n\nRecord that this many tokens came now."},
    {"end", tokens_end, METH_NOARGS, "End the stream."},
    {"__enter__", tokens_enter, METH_NOARGS, NULL},
    {"__exit__", CUNEI_METHOD(tokens_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"name", cunei_named_name, NULL, "Its name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cunei_named_dealloc}, {Py_tp_methods, methods},
    {Py_tp_getset, attributes},           {Py_tp_repr, cunei_named_repr},
    {Py_tp_doc, "A stream of tokens."},   {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Tokens",
    .basicsize = sizeof(struct tokens),
    .flags = CUNEI_SEALED_TYPE_FLAGS,
    .slots = slots,
};

/* A new stream each time; several may have one name. */
static PyObject *on_tokens(PyObject *module, PyObject *const *args, Py_ssize_t count,
                           PyObject *names)
{
    static const struct cunei_args_form form = {"tokens", {"name"}, 1, 1};
    static const struct cunei_named_kind kind = {.file = CUNEI_TOKENS_FILE,
                                                 .function = "tokens",
                                                 .what = "the name of a token stream"};
    struct cunei_user_state *state = cunei_user_state_of(module);
    PyObject *name = cunei_args_one(&form, args, count, names);
    PyObject *first =
        name ? cunei_named_find(state->tokens_type, &kind, state->streams, name) : NULL;
    PyObject *tokens = first ? cunei_named_copy(first) : NULL;

    if (tokens)
        begin((struct tokens *)tokens);
    Py_XDECREF(first);
    return tokens;
}

static PyMethodDef functions[] = {
    {"tokens", CUNEI_METHOD(on_tokens), METH_FASTCALL | METH_KEYWORDS,
     "tokens($module, name)\n--\n\nBegin a stream of tokens, and return it: for "
     "`with`, or up to its end()."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject *cunei_tokens_add(PyObject *module)
{
    return cunei_sealed_type_add(module, &spec, functions);
}
