// SPDX-License-Identifier: MIT
/* Arming a process that runs already: a script of ours is executed in it. */
#ifndef CUNEI_CMD_ATTACH_ARM_RUNNING_H
#define CUNEI_CMD_ATTACH_ARM_RUNNING_H

#include <stdint.h>

#include "attach/target.h"

/* The package beside this executable, if the process can load it where its environment
 * has no cunei; owned by the caller, or NULL. */
char *cunei_attach_own_package(const struct cunei_target *target);

/*
 * Wait until the script has run, for at most `timeout_ns`; then the request is
 * withdrawn.  Returns 0, or the exit status after an error message.
 */
int cunei_attach_arm_running(struct cunei_target *target, uint64_t timeout_ns);

#endif
