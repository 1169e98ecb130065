// SPDX-License-Identifier: MIT
/* Whether the kernel lets us read and write a process's memory, and why not. */
#ifndef CUNEI_ATTACH_PERMISSION_H
#define CUNEI_ATTACH_PERMISSION_H

#include <stdint.h>

#include "attach/error.h"
#include "attach/process_facts.h"

/*
 * Try to read a byte that is mapped there.  A negative errno: it is forbidden, and
 * `error` says by what.
 */
int cunei_permission_check(const struct cunei_process_facts *process, uint64_t address,
                           struct cunei_attach_error *error);

/* Say why `rc` came back when we looked at or into the process.  Returns `rc`. */
int cunei_permission_fail(const struct cunei_process_facts *process, int rc,
                          struct cunei_attach_error *error);

#endif
