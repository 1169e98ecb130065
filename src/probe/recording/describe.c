// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/core/compat.h"

/* A str as bytes for the file system; NULL: it cannot be encoded. */
static char *copy_text(PyObject *text)
{
    PyObject *bytes =
        text && PyUnicode_Check(text) ? PyUnicode_EncodeFSDefault(text) : NULL;
    char *copy = bytes ? strdup(PyBytes_AS_STRING(bytes)) : NULL;

    PyErr_Clear();
    Py_XDECREF(bytes);
    return copy;
}

static void describe_arguments(struct cunei_process *process)
{
    PyObject *arguments = cunei_compat_arguments();
    PyObject *item = NULL;

    if (!arguments || !PyList_Check(arguments)) {
        Py_XDECREF(arguments);
        return;
    }
    for (Py_ssize_t i = 0; (item = cunei_compat_list_item(arguments, i)); i++) {
        char *text = copy_text(item);
        if (text)
            (void)cunei_process_add(&process->arguments, &process->argument_count,
                                    text);
        free(text);
        Py_DECREF(item);
    }
    Py_DECREF(arguments);
}

static void describe_patterns(struct cunei_process *process,
                              const struct cunei_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        bool include;
        char *text = NULL;
        const char *words = cunei_patterns_text(patterns, i, &include);
        if (asprintf(&text, "%c%s", include ? '+' : '-', words) < 0)
            continue;
        (void)cunei_process_add(&process->patterns, &process->pattern_count, text);
        free(text);
    }
}

void cunei_describe(struct cunei_process *process,
                    const struct cunei_record_env *session)
{
    char host[256] = "";
    const char *version = Py_GetVersion();

    if (gethostname(host, sizeof(host) - 1) == 0)
        process->host = strdup(host);
    process->directory = getcwd(NULL, 0);
    if (session->project)
        process->project = strdup(session->project);
    PyObject *executable = cunei_compat_sys("executable");
    process->executable = copy_text(executable);
    Py_XDECREF(executable);
    if (asprintf(&process->python, "CPython %.*s", (int)strcspn(version, " "),
                 version) < 0)
        process->python = NULL;
    describe_arguments(process);
    describe_patterns(process, &session->patterns);
}
