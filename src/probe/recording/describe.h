// SPDX-License-Identifier: MIT
/* Describes the Python and the program of a process, for the trace. */
#ifndef CUNEI_PROBE_RECORDING_DESCRIBE_H
#define CUNEI_PROBE_RECORDING_DESCRIBE_H

#include "base/pattern.h"
#include "wire/process.h"

/* Fill in what is known; needs the GIL, leaves no exception. */
void cunei_describe(struct cunei_process *process,
                    const struct cunei_patterns *patterns);

#endif
