// SPDX-License-Identifier: MIT
/*
 * The functions that a name in --callers or --lines selects.
 *
 * `parse` also selects Parser.parse, and globs may be used.  A name that no function
 * has is a pattern as for recording.
 */
#ifndef CUNEI_REPORT_FUNCTION_CHOICE_H
#define CUNEI_REPORT_FUNCTION_CHOICE_H

#include <stdbool.h>

#include "base/pattern.h"

struct cunei_function;
struct cunei_report;

/* Private. */
struct cunei_function_choice {
    const char *name; /* borrowed */
    struct cunei_patterns patterns;
    bool is_name; /* a function has that name, so it is not a pattern */
};

/* Whether a name, or a glob, means this function. */
bool cunei_function_choice_is_name(const struct cunei_function *function,
                                   const char *name);

/* -EINVAL: the name is not a valid pattern; -ENOMEM. */
int cunei_function_choice_init(struct cunei_function_choice *wanted,
                               const struct cunei_report *report, const char *name);
bool cunei_function_choice_has(const struct cunei_function_choice *wanted,
                               const struct cunei_function *function);
void cunei_function_choice_fini(struct cunei_function_choice *wanted);

#endif
