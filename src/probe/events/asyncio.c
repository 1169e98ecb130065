// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/asyncio.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "probe/core/compat.h"
#include "probe/core/lock.h"
#include "probe/core/names.h"

#define HAS_CURRENT_TASK (PY_VERSION_HEX >= 0x030c0000)
#define LAST_NAME        (HAS_CURRENT_TASK ? "_c_current_task" : "_c_register_task")

/*
 * All owned; complete once is_found is set, and unchanged from then on: late threads
 * may still use them when the recording has ended.
 */
static struct {
    PyObject *module_name;  /* "asyncio.tasks" */
    PyObject *running_loop; /* _get_running_loop() */
    PyObject *current_task; /* current_task(loop=None), or NULL */
    PyObject
        *current_tasks;    /* running tasks by loop, a dict; 3.14: only Python tasks */
    PyObject *type;        /* Task, the C type */
    PyObject *get_name;    /* its method */
    PyObject *python_type; /* Task, the Python class */
} asyncio;

/*
 * sys.modules, owned, and its size when it did not contain asyncio; 0: not looked yet.
 */
static PyObject *_Atomic modules;
static _Atomic Py_ssize_t without;

static atomic_bool is_found;
static bool has_all; /* sys.modules */
static cunei_mutex lock;

static void let_go(void)
{
    Py_CLEAR(asyncio.running_loop);
    Py_CLEAR(asyncio.current_task);
    Py_CLEAR(asyncio.current_tasks);
    Py_CLEAR(asyncio.type);
    Py_CLEAR(asyncio.get_name);
    Py_CLEAR(asyncio.python_type);
}

/* The dict of an imported module, borrowed; no __getattr__ of a module runs. */
static PyObject *dict_of(PyObject *module)
{
    return module && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
}

static PyObject *function_in(PyObject *dict, const char *name)
{
    PyObject *function = cunei_compat_dict_get(dict, name);

    if (function && !PyCFunction_Check(function))
        Py_CLEAR(function);
    return function;
}

static PyObject *type_in(PyObject *dict, const char *name)
{
    PyObject *type = cunei_compat_dict_get(dict, name);

    if (type && !PyType_Check(type))
        Py_CLEAR(type);
    return type;
}

/*
 * asyncio.tasks imports from _asyncio at its end, some of it under names of its own:
 * once it has _c_current_task, both modules are complete.  Before 3.12 it has
 * _c_register_task, and no C function returns the current task.
 */
static bool look_around(PyObject *c, PyObject *tasks)
{
    asyncio.current_task = tasks ? function_in(tasks, LAST_NAME) : NULL;
    if (!c || !asyncio.current_task)
        return false;
    asyncio.running_loop = function_in(c, "_get_running_loop");
    asyncio.type = type_in(c, "Task");
    asyncio.python_type = type_in(tasks, "_PyTask");
    if (asyncio.type)
        asyncio.get_name = PyObject_GetAttrString(asyncio.type, "get_name");
    PyObject *running = cunei_compat_dict_get(tasks, "_current_tasks");
    PyObject *all = cunei_compat_dict_get(c, "_current_tasks");
    if (running && PyDict_CheckExact(running))
        asyncio.current_tasks = Py_NewRef(running);
    has_all = running && running == all;
    Py_XDECREF(running);
    Py_XDECREF(all);
    if (!HAS_CURRENT_TASK)
        Py_CLEAR(asyncio.current_task);
    return asyncio.running_loop && asyncio.current_tasks && asyncio.get_name &&
           (asyncio.current_task || has_all);
}

/* Whether the program has imported asyncio; lock held. */
static bool find(void)
{
    PyObject *tasks = NULL, *c = NULL;

    if (!modules)
        modules = cunei_compat_sys("modules");
    if (!asyncio.module_name)
        asyncio.module_name = PyUnicode_InternFromString("asyncio.tasks");
    if (!modules || !PyDict_Check(modules) || !asyncio.module_name)
        return false;
    Py_ssize_t count = PyDict_GET_SIZE(modules);
    tasks = cunei_compat_dict_item(modules, asyncio.module_name);
    without = tasks ? 0 : count;
    if (tasks)
        c = cunei_compat_dict_get(modules, "_asyncio");
    bool yes = c && look_around(dict_of(c), dict_of(tasks));
    if (!yes)
        let_go();
    Py_XDECREF(c);
    Py_XDECREF(tasks);
    return yes;
}

/* Coroutines without a task would search for it again and again. */
static bool is_missing(void)
{
    PyObject *all = modules;

    return all && PyDict_Check(all) && PyDict_GET_SIZE(all) == without;
}

static bool is_there(void)
{
    /* Pairs with the release below: what was found is complete. */
    if (atomic_load_explicit(&is_found, memory_order_acquire))
        return true;
    if (is_missing())
        return false;
    cunei_mutex_lock(&lock);
    bool yes = atomic_load_explicit(&is_found, memory_order_relaxed) || find();
    atomic_store_explicit(&is_found, yes, memory_order_release);
    cunei_mutex_unlock(&lock);
    PyErr_Clear();
    return yes;
}

/* NULL instead of None. */
static PyObject *not_none(PyObject *object)
{
    if (object == Py_None)
        Py_CLEAR(object);
    return object;
}

static PyObject *task_of(PyObject *loop)
{
    PyObject *task = NULL;

    if (!has_all)
        task = not_none(PyObject_CallOneArg(asyncio.current_task, loop));
    if (task || PyDict_GET_SIZE(asyncio.current_tasks) == 0 ||
        Py_TYPE(loop)->tp_hash != PyBaseObject_Type.tp_hash)
        return task;
    PyErr_Clear();
    return cunei_compat_dict_item(asyncio.current_tasks, loop);
}

PyObject *cunei_asyncio_current_task(bool in_loop)
{
    if (!is_there())
        return NULL;
    PyObject *task = NULL;
    if (in_loop && asyncio.current_task)
        task = not_none(PyObject_CallNoArgs(asyncio.current_task));
    if (task)
        return task;
    PyErr_Clear();
    PyObject *loop = not_none(PyObject_CallNoArgs(asyncio.running_loop));
    if (loop)
        task = task_of(loop);
    Py_XDECREF(loop);
    PyErr_Clear();
    return task;
}

PyObject *cunei_asyncio_name(PyObject *task)
{
    PyObject *name = NULL;

    if (PyObject_TypeCheck(task, (PyTypeObject *)asyncio.type))
        name = PyObject_CallOneArg(asyncio.get_name, task);
    else if (asyncio.python_type &&
             PyObject_TypeCheck(task, (PyTypeObject *)asyncio.python_type))
        name = cunei_names_attribute(task, "_name");
    PyErr_Clear();
    if (name && !PyUnicode_Check(name))
        Py_CLEAR(name);
    return name;
}
