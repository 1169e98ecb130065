// SPDX-License-Identifier: MIT
/*
 * Names of temporary files in the folder of a process.  A process that is killed leaves
 * them behind; whoever removes a trace removes them.
 */
#ifndef CUNEI_WIRE_TEMPORARY_NAME_H
#define CUNEI_WIRE_TEMPORARY_NAME_H

#include "wire/process.h"

/* A file that a recording writes whole, before it is renamed to `name`, a literal. */
#define CUNEI_TEMPORARY_NAME(name) "." name ".new"

/* The description that a recovery writes, before it takes the place of the old one. */
#define CUNEI_RECOVERED_PROCESS_NAME CUNEI_PROCESS_NAME ".new"

/* An empty file, whose owner and rights are compared with those of the folder. */
#define CUNEI_OWNER_PROBE_NAME ".new"

#endif
