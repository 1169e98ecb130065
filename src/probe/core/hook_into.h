// SPDX-License-Identifier: MIT
/* Registering a callable of ours with a module that calls it later: atexit, posix. */
#ifndef CUNEI_PROBE_CORE_HOOK_INTO_H
#define CUNEI_PROBE_CORE_HOOK_INTO_H

#include <Python.h>

/*
 * Call `module.function(callable)`, or with it as the keyword argument `keyword`, where
 * the callable is the attribute `name` of `ours`.  -1 with an exception set.
 */
int cunei_hook_into(const char *module, const char *function, const char *keyword,
                    PyObject *ours, const char *name);

#endif
