// SPDX-License-Identifier: MIT
/*
 * Translates regular expressions of ECMAScript, which filter files of PerfStubs use, to
 * POSIX, which the C library understands.
 *
 * Most of the two is the same.  We translate escapes such as \d, \t and \xHH, escapes
 * in brackets, (?:…), and the lazy *? +? ?? {…}?, which find the same names.  Features
 * that only ECMAScript has (lookahead, references to groups) are refused, and so are
 * likely mistakes (repeated repetitions, collation classes).
 */
#ifndef CUNEI_BASE_ECMASCRIPT_REGEX_H
#define CUNEI_BASE_ECMASCRIPT_REGEX_H

#include <stddef.h>

struct cunei_buffer;

/*
 * Append the translation.  -EINVAL: `*problem`, a static text, says what is wrong at
 * byte
 * `*place`.
 */
int cunei_ecmascript_regex_translate(const char *text, struct cunei_buffer *out,
                                     size_t *place, const char **problem);

#endif
