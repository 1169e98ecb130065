// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/armed/arming.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/armed/armed.h"
#include "probe/core/hook_into.h"
#include "probe/recording/probe_state.h"
#include "wire/control_message.h"
#include "wire/record_env.h"

/* A fork, in any thread, calls these two; the child's hook is the recording's. */
static int hook_once(PyObject *module)
{
    static bool is_hooked;

    if (is_hooked)
        return 0;
    is_hooked = cunei_hook_into("posix", "register_at_fork", "before", module,
                                "_before_fork") == 0 &&
                cunei_hook_into("posix", "register_at_fork", "after_in_parent", module,
                                "_after_fork") == 0;
    return is_hooked ? 0 : -1;
}

static int arm(PyObject *module, const char *by, const char *port)
{
    if (!cunei_probe_is_main()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "only the main interpreter of a process can be armed");
        return -1;
    }
    if (hook_once(module) < 0)
        return -1;
    return cunei_armed_begin(cunei_probe_of(module), by, port);
}

PyObject *cunei_arming_arm(PyObject *module, PyObject *by)
{
    const char *text = PyUnicode_AsUTF8(by);

    if (!text || arm(module, text, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyObject *cunei_arming_disarm(PyObject *module, PyObject *unused)
{
    (void)unused;
    if (cunei_probe_is_main())
        cunei_armed_end(cunei_probe_of(module));
    Py_RETURN_NONE;
}

PyObject *cunei_arming_is_armed(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(cunei_armed_is_on());
}

PyObject *cunei_arming_before_fork(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    cunei_armed_before_fork();
    Py_RETURN_NONE;
}

PyObject *cunei_arming_after_fork(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    cunei_armed_after_fork();
    Py_RETURN_NONE;
}

/* Whether CUNEI_RECORD asks for it, in this process; what is wrong with it is reported
 * when it is recorded. */
static bool is_wanted(void)
{
    const char *text = getenv(CUNEI_RECORD_ENV_VARIABLE);
    struct cunei_record_env env = {0};

    bool is_wanted = text && cunei_record_env_parse(&env, text) == 0 && env.arm &&
                     (!env.only_pid || env.only_pid == (uint64_t)getpid());
    cunei_record_env_fini(&env);
    return is_wanted;
}

/* The path in CUNEI_PORT, owned; -EINVAL: it is none. */
static int read_port(char **path, bool *is_suspended)
{
    const char *text = getenv(CUNEI_PORT_VARIABLE);
    size_t size = text ? strlen(text) : 0;
    size_t end = strlen(CUNEI_PORT_SUSPEND);

    if (!size)
        return 0;
    *is_suspended = size > end && strcmp(text + size - end, CUNEI_PORT_SUSPEND) == 0;
    *path = strndup(text, *is_suspended ? size - end : size);
    if (!*path)
        return -ENOMEM;
    return text[0] == '/' ? 0 : -EINVAL;
}

int cunei_arming_boot(PyObject *module)
{
    char *port = NULL;
    bool is_suspended = false;
    int rc = read_port(&port, &is_suspended);

    if (rc == -EINVAL)
        PyErr_Format(PyExc_RuntimeError,
                     "%s must be the absolute path of a socket, not '%s'",
                     CUNEI_PORT_VARIABLE, port);
    else if (rc < 0)
        PyErr_NoMemory();
    else if (port)
        rc = arm(module, CUNEI_PORT_VARIABLE, port);
    else if (is_wanted())
        rc = arm(module, "cunei arm", NULL);
    free(port);
    if (rc == 0 && is_suspended)
        rc = cunei_armed_await_controller();
    return rc < 0 ? -1 : 0;
}
