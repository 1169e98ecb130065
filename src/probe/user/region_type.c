// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/region_type.h"

#include <stdbool.h>
#include <stdio.h>

#include "probe/core/arg_parse.h"
#include "probe/core/compat.h"
#include "probe/core/sealed_type.h"
#include "probe/user/decorated.h"
#include "probe/user/named_object.h"
#include "probe/user/region.h"
#include "probe/user/user_event.h"
#include "probe/user/user_name.h"
#include "probe/user/user_state.h"
#include "wire/event.h"

/* How many wrappers around a function are searched. */
#define WRAPPED_MAX 32

static struct cunei_user_name *user_name_of(PyObject *self)
{
    return ((struct cunei_named *)self)->user_name;
}

static void begin(struct cunei_user_name *user_name, enum cunei_region_form form,
                  enum cunei_phase phase)
{
    uint32_t before = cunei_recorder_begin_event();

    cunei_region_begin(user_name, form, phase);
    cunei_decorated_write();
    cunei_recorder_end_event(before);
}

static bool end(const struct cunei_user_name *user_name, enum cunei_region_form form,
                enum cunei_phase phase)
{
    uint32_t before = cunei_recorder_begin_event();
    bool was_open = cunei_region_end(user_name, form, phase);

    cunei_recorder_end_event(before);
    return was_open;
}

static PyObject *region_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (cunei_user_is_recorded())
        begin(user_name_of(self), CUNEI_REGION_WITH, CUNEI_PHASE_ENTER);
    return Py_NewRef(self);
}

/* A region that was entered before the recording began is unknown, and ignored. */
static PyObject *region_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args;
    (void)count;
    if (cunei_user_is_recorded())
        (void)end(user_name_of(self), CUNEI_REGION_WITH, CUNEI_PHASE_LEAVE);
    Py_RETURN_NONE;
}

/* The object that an object wraps, a new reference; NULL without an exception: none. */
static PyObject *unwrap(PyObject *object)
{
    bool is_bound = PyMethod_Check(object) ||
                    PyObject_TypeCheck(object, &PyClassMethod_Type) ||
                    PyObject_TypeCheck(object, &PyStaticMethod_Type);
    PyObject *inner =
        PyType_Check(object)
            ? NULL
            : PyObject_GetAttrString(object, is_bound ? "__func__" : "__wrapped__");

    if (!inner && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return inner;
}

/* The innermost wrapped function, a new reference; NULL with an exception: none. */
static PyObject *find_function(PyObject *object)
{
    PyObject *function = NULL, *at = Py_NewRef(object);

    for (int i = 0; at && i < WRAPPED_MAX; i++) {
        if (PyFunction_Check(at))
            Py_XSETREF(function, Py_NewRef(at));
        Py_SETREF(at, unwrap(at));
    }
    Py_XDECREF(at);
    if (!function && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "region() takes a name or a Python function, not %.100s",
                     Py_TYPE(object)->tp_name);
    if (PyErr_Occurred())
        Py_CLEAR(function);
    return function;
}

/* Decorate the function; without a name, use its own.  -1 with an exception. */
static int decorate(PyObject *object, struct cunei_user_name *user_name)
{
    PyObject *function = find_function(object);
    PyObject *name = NULL;
    int rc = -1;

    if (!function)
        return -1;
    if (user_name)
        (void)cunei_user_name_keep(user_name);
    else if ((name = PyObject_GetAttrString(function, "__qualname__")))
        user_name = cunei_user_name_new(name, CUNEI_REGION_FILE);
    if (user_name && PyInterpreterState_Get() != PyInterpreterState_Main())
        rc = 0; /* its code is never recorded */
    else if (user_name) {
        PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
        rc = cunei_decorated_add(code, user_name);
    }
    cunei_user_name_free(user_name);
    Py_XDECREF(name);
    Py_DECREF(function);
    return rc;
}

/* Called by a `with` block (see with_block.h), or as a decorator with a name. */
static PyObject *region_call(PyObject *self, PyObject *const *args, size_t flags,
                             PyObject *names)
{
    Py_ssize_t count = names ? -1 : PyVectorcall_NARGS(flags);

    if (count == 0)
        return region_enter(self, NULL);
    if (count == 3)
        return region_exit(self, args, count);
    if (count != 1) {
        PyErr_SetString(PyExc_TypeError, "a region takes a function to decorate");
        return NULL;
    }
    return decorate(args[0], user_name_of(self)) < 0 ? NULL : Py_NewRef(args[0]);
}

static PyMethodDef methods[] = {
    {"__enter__", region_enter, METH_NOARGS, NULL},
    {"__exit__", CUNEI_METHOD(region_exit), METH_FASTCALL, NULL},
    {"__reduce__", cunei_named_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"name", cunei_named_name, NULL, "Its name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, cunei_named_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, cunei_named_repr},
    {Py_tp_doc, "A region, for `with` or as a decorator."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Region",
    .basicsize = sizeof(struct cunei_named),
    .flags = CUNEI_SEALED_TYPE_FLAGS,
    .slots = slots,
};

static PyObject *find_region(PyObject *module, PyObject *name)
{
    static const struct cunei_named_kind kind = {.file = CUNEI_REGION_FILE,
                                                 .function = "region",
                                                 .what = "a region's name",
                                                 .call = region_call};
    struct cunei_user_state *state = cunei_user_state_of(module);

    return cunei_named_find(state->region_type, &kind, state->regions, name);
}

static PyObject *on_region(PyObject *module, PyObject *const *args, Py_ssize_t count,
                           PyObject *names)
{
    static const struct cunei_args_form form = {"region", {"name"}, 1, 1};
    PyObject *given = cunei_args_one(&form, args, count, names);

    if (!given)
        return NULL;
    if (PyUnicode_Check(given) || PyBytes_Check(given))
        return find_region(module, given);
    return decorate(given, NULL) < 0 ? NULL : Py_NewRef(given);
}

static PyObject *on_begin(PyObject *module, PyObject *const *args, Py_ssize_t count,
                          PyObject *names)
{
    static const struct cunei_args_form form = {"region_begin", {"name"}, 1, 1};
    PyObject *name = cunei_args_one(&form, args, count, names);
    PyObject *region = name ? find_region(module, name) : NULL;

    if (!region)
        return NULL;
    if (cunei_user_is_recorded())
        begin(user_name_of(region), CUNEI_REGION_CALLS, CUNEI_PHASE_ENTER);
    else
        cunei_region_begin_unrecorded();
    Py_DECREF(region);
    Py_RETURN_NONE;
}

static void write_unbegun(const struct cunei_user_name *user_name)
{
    cunei_user_event_write_error(user_name ? cunei_user_name_utf8(user_name) : "",
                                 user_name
                                     ? "region_end without a region_begin of this name "
                                       "that is open in this thread"
                                     : "region_end without a region_begin that is open "
                                       "in this thread");
}

static PyObject *on_end(PyObject *module, PyObject *const *args, Py_ssize_t count,
                        PyObject *names)
{
    static const struct cunei_args_form form = {"region_end", {"name"}, 0, 1};
    PyObject *values[CUNEI_ARGS_MAX];
    PyObject *region = NULL;

    if (cunei_args_parse(&form, args, count, names, values) < 0)
        return NULL;
    if (values[0] && values[0] != Py_None && !(region = find_region(module, values[0])))
        return NULL;
    const struct cunei_user_name *user_name = region ? user_name_of(region) : NULL;
    if (cunei_user_is_recorded()) {
        uint32_t before = cunei_recorder_begin_event();
        if (!cunei_region_end(user_name, CUNEI_REGION_CALLS, CUNEI_PHASE_LEAVE))
            write_unbegun(user_name);
        cunei_recorder_end_event(before);
    } else
        cunei_region_end_unrecorded(user_name);
    Py_XDECREF(region);
    Py_RETURN_NONE;
}

/* A region of a tool, which may be suspended and resumed. */
static PyObject *tool(PyObject *module, PyObject *name, enum cunei_phase phase)
{
    bool is_begun = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;
    PyObject *region = find_region(module, name);

    if (!region)
        return NULL;
    if (cunei_user_is_recorded() && is_begun)
        begin(user_name_of(region), CUNEI_REGION_TOOL, phase);
    else if (cunei_user_is_recorded())
        (void)end(user_name_of(region), CUNEI_REGION_TOOL, phase);
    Py_DECREF(region);
    Py_RETURN_NONE;
}

static PyObject *on_tool_begin(PyObject *module, PyObject *name)
{
    return tool(module, name, CUNEI_PHASE_ENTER);
}

static PyObject *on_tool_suspend(PyObject *module, PyObject *name)
{
    return tool(module, name, CUNEI_PHASE_YIELD);
}

static PyObject *on_tool_resume(PyObject *module, PyObject *name)
{
    return tool(module, name, CUNEI_PHASE_RESUME);
}

static PyObject *on_tool_end(PyObject *module, PyObject *name)
{
    return tool(module, name, CUNEI_PHASE_LEAVE);
}

static PyMethodDef functions[] = {
    {"region", CUNEI_METHOD(on_region), METH_FASTCALL | METH_KEYWORDS,
     "region($module, name)\n--\n\nReturn a region, for `with` or as a decorator.  "
     "`@cunei.region` makes all calls of a function a region of its name."},
    {"region_begin", CUNEI_METHOD(on_begin), METH_FASTCALL | METH_KEYWORDS,
     "region_begin($module, name)\n--\n\nBegin a region of this name in this "
     "thread, until region_end."},
    {"region_end", CUNEI_METHOD(on_end), METH_FASTCALL | METH_KEYWORDS,
     "region_end($module, name=None)\n--\n\nEnd the innermost open region of this "
     "name, or of any, in this thread."},
    {"_tool_begin", on_tool_begin, METH_O, "Begin a region of this name."},
    {"_tool_suspend", on_tool_suspend, METH_O, "Suspend it until it is resumed."},
    {"_tool_resume", on_tool_resume, METH_O, "Resume a suspended one."},
    {"_tool_end", on_tool_end, METH_O,
     "End the innermost of this name, if there is one."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject *cunei_region_type_add(PyObject *module)
{
    PyTypeObject *type = cunei_sealed_type_add(module, &spec, functions);

    if (type && cunei_with_block_adopt(type) < 0)
        Py_CLEAR(type);
    return type;
}
