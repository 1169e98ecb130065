// SPDX-License-Identifier: MIT
/*
 * Names with wildcards, in UTF-8.
 *
 *     *        any characters, also none; '/' and a leading '.' are as all others
 *     ?        one character
 *     [a-zé]   one of these; [!…] and [^…] one of no other; [:alpha:] and its kin in
 *              them are those of ASCII
 *     \        the next one is meant as it stands
 *
 * fnmatch(3) does the same by the locale, which is the program's inside of it: here a
 * character is one in every locale, and a byte that is no UTF-8 is one, too.  It takes
 * as many steps at most as the lengths of both, multiplied, and where a '[' is open, as
 * many times that as the glob is long.
 */
#ifndef CUNEI_BASE_GLOB_H
#define CUNEI_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether all of `text` is meant, or of its first `size` bytes.  What cunei_glob_check
 * refuses stands for itself: an open '[' for a '['.
 */
bool cunei_glob_matches(const char *glob, const char *text);
bool cunei_glob_matches_part(const char *glob, const char *text, size_t size);

/* What can hardly be meant so, a static text; NULL: nothing. */
const char *cunei_glob_check(const char *glob);

#endif
