// SPDX-License-Identifier: MIT
/* Describes the Python and the program of a process, for the trace. */
#ifndef CUNEI_PROBE_RECORDING_DESCRIBE_H
#define CUNEI_PROBE_RECORDING_DESCRIBE_H

#include "wire/process.h"
#include "wire/record_env.h"

/* Fill in what is known; needs the GIL, leaves no exception. */
void cunei_describe(struct cunei_process *process,
                    const struct cunei_record_env *session);

#endif
