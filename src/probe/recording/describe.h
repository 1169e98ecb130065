// SPDX-License-Identifier: MIT
/* What the description of a process says of its Python and its program. */
#ifndef CUNEI_PROBE_RECORDING_DESCRIBE_H
#define CUNEI_PROBE_RECORDING_DESCRIBE_H

#include "base/pattern.h"
#include "wire/process.h"

/* Fill in what can be found out; needs the GIL, leaves no exception. */
void cunei_describe(struct cunei_process *process,
                    const struct cunei_patterns *patterns);

#endif
