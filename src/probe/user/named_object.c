// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/named_object.h"

#include <stdbool.h>

#include "probe/core/compat.h"
#include "probe/user/user_name.h"

/*
 * How many objects are kept, and up to which length of the name; others are created
 * each time.
 */
#define KEPT_MAX        16384
#define KEPT_LENGTH_MAX 256

static struct cunei_named *named_of(PyObject *self)
{
    return (struct cunei_named *)self;
}

/* Takes the name over; NULL: there is none. */
static PyObject *make(PyTypeObject *type, const struct cunei_named_kind *kind,
                      struct cunei_user_name *user_name)
{
    PyObject *made = user_name ? type->tp_alloc(type, 0) : NULL;

    if (made) {
        named_of(made)->block.call = kind->call;
        named_of(made)->kind = kind;
        named_of(made)->user_name = user_name;
    } else
        cunei_user_name_free(user_name);
    return made;
}

PyObject *cunei_named_find(PyTypeObject *type, const struct cunei_named_kind *kind,
                           PyObject *known, PyObject *name)
{
    PyObject *found =
        PyUnicode_CheckExact(name) ? cunei_compat_dict_item(known, name) : NULL;
    if (found)
        return found;
    PyObject *text = PyErr_Occurred() ? NULL : cunei_user_name_text(name, kind->what);
    if (!text)
        return NULL;
    bool is_kept = PyUnicode_GET_LENGTH(text) <= KEPT_LENGTH_MAX;
    if (is_kept)
        found = cunei_compat_dict_item(known, text);
    if (!found && !PyErr_Occurred()) {
        found = make(type, kind, cunei_user_name_new(text, kind->file));
        if (found && is_kept && PyDict_GET_SIZE(known) < KEPT_MAX) {
            /* Another thread may have been faster: then use its object. */
            PyObject *first = PyDict_SetDefault(known, text, found);
            Py_XINCREF(first);
            Py_SETREF(found, first);
        }
    }
    Py_DECREF(text);
    return found;
}

PyObject *cunei_named_copy(PyObject *self)
{
    return make(Py_TYPE(self), named_of(self)->kind,
                cunei_user_name_keep(named_of(self)->user_name));
}

void cunei_named_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    cunei_user_name_free(named_of(self)->user_name);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject *cunei_named_name(PyObject *self, void *unused)
{
    (void)unused;
    return cunei_user_name_object(named_of(self)->user_name);
}

PyObject *cunei_named_repr(PyObject *self)
{
    const char *function = named_of(self)->kind->function;
    PyObject *name = cunei_named_name(self, NULL);
    PyObject *text = name ? PyUnicode_FromFormat("cunei.%s(%R)", function, name) : NULL;

    Py_XDECREF(name);
    return text;
}

PyObject *cunei_named_reduce(PyObject *self, PyObject *unused)
{
    const char *function = named_of(self)->kind->function;
    PyObject *probe = PyImport_ImportModule("cunei._probe");
    PyObject *maker = probe ? PyObject_GetAttrString(probe, function) : NULL;
    PyObject *name = maker ? cunei_named_name(self, NULL) : NULL;
    PyObject *pair = name ? Py_BuildValue("O(O)", maker, name) : NULL;
    (void)unused;

    Py_XDECREF(name);
    Py_XDECREF(maker);
    Py_XDECREF(probe);
    return pair;
}
