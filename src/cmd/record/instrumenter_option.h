// SPDX-License-Identifier: MIT
/* Whether what --instrumenter asks for can be had, said before a program starts. */
#ifndef CUNEI_CMD_RECORD_INSTRUMENTER_OPTION_H
#define CUNEI_CMD_RECORD_INSTRUMENTER_OPTION_H

#include <stdbool.h>

#include "base/buffer.h"
#include "cmd/record/interpreter.h"
#include "cmd/record/recording.h"
#include "python/instrumenter.h"

/* What the values ask for. */
enum cunei_instrumenter cunei_recording_instrumenter(
    const struct cunei_recording_values *values);

/*
 * What is wrong with it goes to `reason`, in a sentence: that this Python (NULL: not
 * known) does not have it, or that it does not tell of what else was asked for.
 * Returns whether [tool.cunei] has asked for either: the sentence begins with where.
 */
bool cunei_recording_check_instrumenter(const struct cunei_recording_values *values,
                                        const struct cunei_interpreter *python,
                                        struct cunei_buffer *reason);

#endif
