// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/started_python.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/core/compat.h"
#include "python/interpreter_args.h"
#include "python/refusal_reason.h"
#include "python/shebang.h"
#include "rt/process_exit.h"
#include "wire/record_env.h"

enum {
    PENDING = 256
};

static void (*report)(pid_t pid, int reason);

/*
 * Pythons that should record and whose end is awaited, each at its pid's remainder.  Of
 * more than that at a time, some are forgotten.
 */
static _Atomic pid_t pending[PENDING];

void cunei_started_python_init(void (*unrecorded)(pid_t pid, int reason))
{
    report = unrecorded;
}

/* The text of a bytes or str object, as bytes; NULL, and no exception, on failure. */
static PyObject *as_bytes(PyObject *word)
{
    PyObject *text = PyUnicode_Check(word) ? PyUnicode_EncodeFSDefault(word)
                     : PyBytes_Check(word) ? Py_NewRef(word)
                                           : NULL;
    PyErr_Clear();
    return text;
}

/* The items of a list or tuple of bytes or str, in the same way. */
static PyObject *all_as_bytes(PyObject *words)
{
    PyObject *sequence = PyList_CheckExact(words) || PyTuple_CheckExact(words)
                             ? PySequence_Tuple(words)
                             : NULL;
    PyObject *texts = sequence ? PyTuple_New(PyTuple_GET_SIZE(sequence)) : NULL;

    for (Py_ssize_t i = 0; texts && i < PyTuple_GET_SIZE(texts); i++) {
        PyObject *text = as_bytes(PyTuple_GET_ITEM(sequence, i));
        if (text)
            PyTuple_SET_ITEM(texts, i, text);
        else
            Py_CLEAR(texts);
    }
    PyErr_Clear();
    Py_XDECREF(sequence);
    return texts;
}

/* Whether one of the texts NAME=value is CUNEI_RECORD. */
static bool has_variable(PyObject *texts)
{
    static const char start[] = CUNEI_RECORD_ENV_VARIABLE "=";
    bool is_there = false;

    for (Py_ssize_t i = 0; !is_there && i < PyTuple_GET_SIZE(texts); i++)
        is_there = strncmp(PyBytes_AS_STRING(PyTuple_GET_ITEM(texts, i)), start,
                           strlen(start)) == 0;
    return is_there;
}

static bool is_variable(PyObject *key)
{
    if (PyUnicode_Check(key))
        return PyUnicode_CompareWithASCIIString(key, CUNEI_RECORD_ENV_VARIABLE) == 0;
    return PyBytes_Check(key) &&
           strcmp(PyBytes_AS_STRING(key), CUNEI_RECORD_ENV_VARIABLE) == 0;
}

/* Whether it is a key.  A lookup would compare str and bytes, which python -b forbids.
 */
static bool has_key(PyObject *dict)
{
    PyObject *key = NULL;
    bool is_there = false;

    CUNEI_COMPAT_BEGIN_LOCKED(dict);
    for (Py_ssize_t i = 0; !is_there && PyDict_Next(dict, &i, &key, NULL);)
        is_there = is_variable(key);
    CUNEI_COMPAT_END_LOCKED();
    return is_there;
}

/*
 * Whether the program gets CUNEI_RECORD.  None stands for the variables of this
 * process, and so does os.environ; a mapping of any other type may run code.
 */
static bool passes_variable(PyObject *environment)
{
    PyObject *texts = all_as_bytes(environment);
    bool passes = getenv(CUNEI_RECORD_ENV_VARIABLE) != NULL;

    if (texts)
        passes = has_variable(texts);
    else if (PyDict_CheckExact(environment))
        passes = has_key(environment);
    Py_XDECREF(texts);
    return passes;
}

/* A name without a slash is searched for by the C library. */
static bool can_execute(const char *path)
{
    return !strchr(path, '/') || access(path, X_OK) == 0;
}

/* The path of `paths` that is executed, a new reference; NULL: none is known. */
static PyObject *find_program(PyObject *paths)
{
    PyObject *one = as_bytes(paths);
    PyObject *texts = one ? PyTuple_Pack(1, one) : all_as_bytes(paths);
    PyObject *found = NULL;

    for (Py_ssize_t i = 0; texts && !found && i < PyTuple_GET_SIZE(texts); i++) {
        PyObject *text = PyTuple_GET_ITEM(texts, i);
        if (can_execute(PyBytes_AS_STRING(text)))
            found = Py_NewRef(text);
    }
    PyErr_Clear();
    Py_XDECREF(texts);
    Py_XDECREF(one);
    return found;
}

/* Whether a Python with these arguments runs code; `*no_site`: it has -S. */
static bool runs_code(PyObject *arguments, bool *no_site)
{
    PyObject *texts = all_as_bytes(arguments);
    Py_ssize_t count = texts ? PyTuple_GET_SIZE(texts) : 0;
    char **words = count ? calloc((size_t)count + 1, sizeof(*words)) : NULL;
    struct cunei_interpreter_args args = {.prints_and_exits = true};

    for (Py_ssize_t i = 0; words && i < count; i++)
        words[i] = PyBytes_AS_STRING(PyTuple_GET_ITEM(texts, i));
    if (words)
        args = cunei_interpreter_args_parse((int)count, words);
    free(words);
    Py_XDECREF(texts);
    *no_site = args.no_site;
    return !args.prints_and_exits;
}

/* The same for a script that a Python runs.  A relative path may mean another file in
 * the new process. */
static bool is_python_script(const char *path, bool *no_site)
{
    struct cunei_shebang shebang = {0};

    if (path[0] == '/')
        shebang = cunei_shebang_read(path);
    bool is_python = shebang.python != NULL;
    *no_site = shebang.no_site;
    free(shebang.python);
    return is_python;
}

static bool starts_python(const struct cunei_start *start, bool *no_site)
{
    PyObject *path = find_program(start->paths);
    bool starts = false;

    if (path && cunei_python_is_named(PyBytes_AS_STRING(path)))
        starts = runs_code(start->arguments, no_site);
    else if (path)
        starts = is_python_script(PyBytes_AS_STRING(path), no_site);
    Py_XDECREF(path);
    return starts;
}

/* Report a Python that cannot record; whether it is one that can. */
static bool judge(pid_t pid, const struct cunei_start *start)
{
    bool no_site = false;

    if (!starts_python(start, &no_site))
        return false;
    bool has_it = !no_site && passes_variable(start->environment);
    if (!has_it)
        report(pid, no_site ? CUNEI_REFUSAL_NO_SITE : CUNEI_REFUSAL_NO_VARIABLE);
    return has_it;
}

void cunei_started_python_started(pid_t pid, const struct cunei_start *start)
{
    if (judge(pid, start))
        atomic_store(&pending[pid % PENDING], pid);
}

void cunei_started_python_executes(const struct cunei_start *start)
{
    (void)judge(getpid(), start);
}

void cunei_started_python_ended(pid_t pid)
{
    pid_t expected = pid;

    if (atomic_compare_exchange_strong(&pending[pid % PENDING], &expected, 0) &&
        !cunei_process_exit_has_folder(pid))
        report(pid, CUNEI_REFUSAL_UNSEEN);
}
