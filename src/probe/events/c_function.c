// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/c_function.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code/code_resolve.h"
#include "probe/core/compat.h"
#include "probe/core/lock.h"
#include "probe/core/names.h"

struct names {
    char module[CUNEI_NAMES_MAX];
    char type[CUNEI_NAMES_MAX]; /* its qualified name; empty: a function of a module */
    char qualname[CUNEI_NAMES_MAX];
};

/* The type among `type` and its bases that has this method; NULL: none. */
static PyTypeObject *find_definer(PyTypeObject *type, const PyMethodDef *method)
{
    PyObject *bases = Py_XNewRef(type->tp_mro);
    PyTypeObject *definer = NULL;

    for (Py_ssize_t i = 0; bases && !definer && i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(bases, i);
        PyObject *attributes = PyType_GetDict(base);
        PyObject *found =
            attributes ? cunei_compat_dict_get(attributes, method->ml_name) : NULL;
        if (found &&
            (Py_IS_TYPE(found, &PyMethodDescr_Type) ||
             Py_IS_TYPE(found, &PyClassMethodDescr_Type)) &&
            ((PyMethodDescrObject *)found)->d_method == method)
            definer = base; /* it lives as long as the type */
        Py_XDECREF(found);
        Py_XDECREF(attributes);
    }
    Py_XDECREF(bases);
    return definer;
}

/* The __module__ of a builtin function; empty: none. */
static const char *module_of(const PyCFunctionObject *function)
{
    PyObject *name = function->m_module;

    if (!name && function->m_self && PyModule_Check(function->m_self))
        name = function->m_self;
    if (name && PyModule_Check(name))
        name = PyDict_GetItemString(PyModule_GetDict(name), "__name__"); /* borrowed */
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!text)
        PyErr_Clear();
    return text ? text : "";
}

/* Whether a static method is used as a function of another module, as torch.rand is. */
static bool is_elsewhere(const PyCFunctionObject *function, PyTypeObject *type,
                         struct names *names)
{
    const char *module = module_of(function);

    if (module[0] == '\0')
        return false;
    cunei_names_of_type(type, names->module, names->type);
    return strcmp(module, names->module) != 0;
}

/* The type that a builtin method belongs to; NULL: it is a function of a module. */
static PyTypeObject *find_type(const PyCFunctionObject *function, struct names *names)
{
    PyObject *self = function->m_self;
    PyTypeObject *type;

    if (!self || PyModule_Check(self))
        return NULL;
    type = find_definer(Py_TYPE(self), function->m_ml);
    if (type || !PyType_Check(self))
        return type;
    /*
     * A class method may be a base's; static methods and __new__ belong to the type
     * itself.
     */
    type = find_definer((PyTypeObject *)self, function->m_ml);
    if (type)
        return type;
    return is_elsewhere(function, (PyTypeObject *)self, names) ? NULL
                                                               : (PyTypeObject *)self;
}

static bool is_method(const struct cunei_c_function *function)
{
    return Py_IS_TYPE(function->callable, &PyMethodDescr_Type);
}

/* The type in the function's qualified name; NULL: none. */
static PyTypeObject *find_names(const struct cunei_c_function *function,
                                struct names *names)
{
    const PyCFunctionObject *builtin = (PyCFunctionObject *)function->callable;
    PyTypeObject *type =
        is_method(function) ? function->owner : find_type(builtin, names);

    names->module[0] = names->type[0] = '\0';
    if (!type)
        (void)snprintf(names->module, sizeof(names->module), "%s", module_of(builtin));
    /* A library created it at run time, without a module. */
    if (!type && !names->module[0] && builtin->m_self)
        type = Py_TYPE(builtin->m_self);
    if (type)
        cunei_names_of_type(type, names->module, names->type);
    (void)snprintf(names->qualname, sizeof(names->qualname), "%s%s%s", names->type,
                   names->type[0] ? "." : "", function->method->ml_name);
    return type;
}

static bool stays(const PyTypeObject *type)
{
    return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

static enum cunei_c_function_life life_of(const struct cunei_c_function *function,
                                          const PyTypeObject *named)
{
    Dl_info unused;

    /* Extension modules are never unloaded. */
    bool is_static = dladdr(function->method, &unused) != 0;
    if (is_static && (stays(function->owner) || (named && stays(named))))
        return CUNEI_C_FUNCTION_FOREVER;
    /* A type without a version may be freed, and its address used again. */
    if (!stays(function->owner) && cunei_compat_type_version(function->owner) == 0)
        return CUNEI_C_FUNCTION_ONCE;
    return is_static ? CUNEI_C_FUNCTION_BY_VERSION : CUNEI_C_FUNCTION_BY_TEXT;
}

uint32_t cunei_c_function_define(const struct cunei_c_function *function, bool *is_off,
                                 enum cunei_c_function_life *life)
{
    static cunei_mutex lock;
    static struct names names; /* too big for the stack of a recursive program */

    cunei_mutex_lock(&lock);
    PyTypeObject *named = find_names(function, &names);
    PyErr_Clear();
    const struct cunei_function definition = {
        .module = names.module, .qualname = names.qualname, .file = ""};
    uint32_t id = cunei_code_define(&definition, is_off);
    cunei_mutex_unlock(&lock);
    *life = life_of(function, named);
    return id;
}

static const char *module_text(const struct cunei_c_function *function)
{
    return is_method(function) ? ""
                               : module_of((PyCFunctionObject *)function->callable);
}

/* Its name and its module, each with a NUL. */
char *cunei_c_function_text(const struct cunei_c_function *function)
{
    const char *name = function->method->ml_name, *module = module_text(function);
    size_t size = strlen(name) + 1;
    char *text = malloc(size + strlen(module) + 1);

    if (text) {
        memcpy(text, name, size);
        memcpy(text + size, module, strlen(module) + 1);
    }
    return text;
}

bool cunei_c_function_has_text(const struct cunei_c_function *function,
                               const char *text)
{
    return strcmp(text, function->method->ml_name) == 0 &&
           strcmp(text + strlen(text) + 1, module_text(function)) == 0;
}
