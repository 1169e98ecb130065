// SPDX-License-Identifier: MIT
/*
 * What CPythons before 3.12 cannot give, in short; docs/versions.md has all of it.
 *
 *     struct cunei_limit limit = {0};
 *     while (cunei_limits_next(minor, &limit))
 *         puts(limit.text);
 */
#ifndef CUNEI_CMD_LIMITS_H
#define CUNEI_CMD_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct cunei_recording_values;

struct cunei_limit {
    const char *text; /* a sentence, no full stop */
    size_t place;     /* private: where the search goes on; 0 to begin */
};

/* The next limit of CPython 3.`minor`; false: there is none any more. */
bool cunei_limits_next(int minor, struct cunei_limit *limit);

/* Append the limits of what these options ask for, separated by semicolons. */
void cunei_limits_of(int minor, const struct cunei_recording_values *values,
                     struct cunei_buffer *text);

#endif
