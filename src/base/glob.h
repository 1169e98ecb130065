// SPDX-License-Identifier: MIT
/*
 * Names with wildcards, in UTF-8.
 *
 *     *        any characters, or none; '/' and a leading '.' are not special
 *     ?        one character
 *     [a-zé]   one of these; [!…] and [^…] any other; [:alpha:] and the other
 *              classes are ASCII only
 *     \        the next character is literal
 *
 * fnmatch(3) depends on the locale, which inside the recorded program is the program's.
 * Here a UTF-8 character is one character in every locale, and so is a byte that is not
 * UTF-8.  Matching takes at most the product of both lengths in steps, and with an open
 * '[' that times the length of the glob.
 */
#ifndef CUNEI_BASE_GLOB_H
#define CUNEI_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the glob matches all of `text`, or of its first `size` bytes.  Parts that
 * cunei_glob_check refuses are literal, such as an open '['.
 */
bool cunei_glob_matches(const char *glob, const char *text);
bool cunei_glob_matches_part(const char *glob, const char *text, size_t size);

/* A likely mistake in the glob, as a static text; NULL: none. */
const char *cunei_glob_check(const char *glob);

#endif
