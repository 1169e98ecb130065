// SPDX-License-Identifier: MIT
/*
 * What cunei cannot record on a CPython version: docs/reference/python-versions.md.
 *
 *     struct cunei_version_limit limit = {0};
 *     while (cunei_version_limits_next(&version, &limit))
 *         puts(limit.text);
 */
#ifndef CUNEI_PYTHON_VERSION_LIMITS_H
#define CUNEI_PYTHON_VERSION_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "python/version.h"

struct cunei_request;

struct cunei_version_limit {
    const char *text; /* a clause, without a full stop */
    size_t next_row;  /* private: where the search continues; 0 to begin */
};

/* The next limit with the version's default instrumenter; false: there are no more. */
bool cunei_version_limits_next(const struct cunei_python_version *version,
                               struct cunei_version_limit *limit);

/* Append the limits of what the request asks for, separated by semicolons. */
void cunei_version_limits_format(const struct cunei_python_version *version,
                                 const struct cunei_request *request,
                                 struct cunei_buffer *text);

#endif
