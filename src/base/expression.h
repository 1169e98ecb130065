// SPDX-License-Identifier: MIT
/*
 * Regular expressions of ECMAScript, as filter files of PerfStubs have them, in the
 * words of POSIX, which is what the C library can search for.
 *
 * Both agree on most.  Translated are \d, \t, \xHH and their kin, escapes inside of
 * brackets, (?:…) and the lazy *? +? ?? {…}?, which find the same.  What only
 * ECMAScript has (lookahead, references to groups) is refused, and so is what is
 * seldom meant (repetitions of repetitions, classes of collation).
 */
#ifndef CUNEI_BASE_EXPRESSION_H
#define CUNEI_BASE_EXPRESSION_H

#include <stddef.h>

struct cunei_buffer;

/*
 * Append the translation.  -EINVAL: `*place` is the byte at which it went wrong,
 * `*problem` what is wrong with it, a static text.
 */
int cunei_expression_translate(const char *text, struct cunei_buffer *out,
                               size_t *place, const char **problem);

#endif
