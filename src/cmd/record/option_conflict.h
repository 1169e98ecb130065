// SPDX-License-Identifier: MIT
/* Options that exclude each other or that a Python does not support. */
#ifndef CUNEI_CMD_RECORD_OPTION_CONFLICT_H
#define CUNEI_CMD_RECORD_OPTION_CONFLICT_H

#include <stdbool.h>

struct cunei_buffer;
struct cunei_config;
struct cunei_interpreter;
struct cunei_record_options;

/*
 * Append to `reason` why the options cannot be used together, or not with this Python
 * (NULL: it is not known); nothing where they can.  Returns whether `config` set one of
 * the two options: the sentence then begins with the place in that file.
 */
bool cunei_option_conflict_find(const struct cunei_record_options *options,
                                const struct cunei_config *config,
                                const struct cunei_interpreter *python,
                                struct cunei_buffer *reason);

#endif
