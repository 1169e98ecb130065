// SPDX-License-Identifier: MIT
/*
 * What a CPython cannot give, in short; docs/versions.md has all of it.
 *
 *     struct cunei_lack lack = {0};
 *     while (cunei_lacks_next(&version, &lack))
 *         puts(lack.text);
 */
#ifndef CUNEI_CMD_LACKS_H
#define CUNEI_CMD_LACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct cunei_recording_values;

/* CPython 3.`minor`.`patch`. */
struct cunei_lacks_version {
    int minor, patch;
    bool no_gil;
};

struct cunei_lack {
    const char *text; /* a sentence, no full stop */
    size_t place;     /* private: where the search goes on; 0 to begin */
};

/* The next of those with its default instrumenter; false: there is none any more. */
bool cunei_lacks_next(const struct cunei_lacks_version *version,
                      struct cunei_lack *lack);

/* Append those of what these options ask for, separated by semicolons. */
void cunei_lacks_of(const struct cunei_lacks_version *version,
                    const struct cunei_recording_values *values,
                    struct cunei_buffer *text);

#endif
