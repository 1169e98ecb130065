// SPDX-License-Identifier: MIT
/*
 * The functions that somebody asks for: by name, as people say it, or by a pattern.
 *
 * `parse` means Parser.parse too, and globs may be used; what no function is called is
 * a pattern as in recording.
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
    bool is_name; /* a function has that name: it is no pattern */
};

/* Whether people who say so may mean this function: by its name, or a glob. */
bool cunei_function_choice_is_name(const struct cunei_function *function,
                                   const char *name);

/* -EINVAL: it is no expression; -ENOMEM. */
int cunei_function_choice_init(struct cunei_function_choice *wanted,
                               const struct cunei_report *report, const char *name);
bool cunei_function_choice_has(const struct cunei_function_choice *wanted,
                               const struct cunei_function *function);
void cunei_function_choice_fini(struct cunei_function_choice *wanted);

#endif
