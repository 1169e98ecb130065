// SPDX-License-Identifier: MIT
/*
 * What a CPython cannot give, in short; docs/versions.md has all of it.
 *
 *     struct cunei_version_limit lack = {0};
 *     while (cunei_version_limits_next(&version, &lack))
 *         puts(lack.text);
 */
#ifndef CUNEI_CMD_RECORD_VERSION_LIMITS_H
#define CUNEI_CMD_RECORD_VERSION_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct cunei_recording_values;

/* CPython 3.`minor`.`patch`. */
struct cunei_version_limits_version {
    int minor, patch;
    bool no_gil;
};

struct cunei_version_limit {
    const char *text; /* a sentence, no full stop */
    size_t place;     /* private: where the search goes on; 0 to begin */
};

/* The next of those with its default instrumenter; false: there is none any more. */
bool cunei_version_limits_next(const struct cunei_version_limits_version *version,
                               struct cunei_version_limit *lack);

/* Append those of what these options ask for, separated by semicolons. */
void cunei_version_limits_of(const struct cunei_version_limits_version *version,
                             const struct cunei_recording_values *values,
                             struct cunei_buffer *text);

#endif
