// SPDX-License-Identifier: MIT
/*
 * What a POSIX regular expression costs, found before the C library compiles it.
 *
 * The C library writes repetitions out: ((a{1,255}){1,255}){1,255} becomes 16 million
 * states.  It needs memory that grows with the square of the choices, time that grows
 * with the ways through ^, $ and \b, stack for each group inside another, and hours
 * for references to groups.  An expression may come from the pyproject.toml of a
 * project that is only looked at, so all of that is bounded.
 */
#ifndef CUNEI_BASE_REGEX_COST_H
#define CUNEI_BASE_REGEX_COST_H

#include <stddef.h>

#define CUNEI_REGEX_MAX_BYTES ((size_t)64 << 20)

/* Why an expression, or several together, would pass that. */
#define CUNEI_REGEX_TOO_LARGE                                                    \
    "it needs too much memory; use smaller repetitions ({1,9}, not {1,255}) or " \
    "fewer alternatives"

/*
 * NULL, and in `*bytes` about how much memory the compiled expression takes; or why it
 * is refused, a static text.  Syntax errors are left to the C library.
 */
const char *cunei_regex_cost(const char *expression, size_t *bytes);

#endif
