// SPDX-License-Identifier: MIT
/*
 * Which functions are meant: the patterns of --include and --exclude.
 *
 * A pattern is one of
 *
 *     re:EXPRESSION        a POSIX extended regular expression, searched for in
 *                          "module:qualname" and in the file's name
 *     MODULE:QUALNAME      a glob for each; an empty side matches anything
 *     with '/' or .py      a glob for the file; without a leading '/' for its end;
 *                          a leading ./ is left out
 *     anything else        a glob for the module, its submodules included
 *
 * The last pattern that matches decides.  What none matches is included, unless the
 * first pattern is an include.
 */
#ifndef CUNEI_BASE_PATTERN_H
#define CUNEI_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_pattern;

struct cunei_patterns {
    struct cunei_pattern *items; /* owned */
    size_t count;
};

/*
 * Add a pattern.  -EINVAL: a regular expression that does not compile; the reason is
 * then in `error`, which may be NULL.
 */
int cunei_patterns_add(struct cunei_patterns *patterns, bool include, const char *text,
                       char *error, size_t error_size);
void cunei_patterns_fini(struct cunei_patterns *patterns);

bool cunei_patterns_include(const struct cunei_patterns *patterns, const char *module,
                            const char *qualname, const char *file);

/* One pattern's words, as they were given. */
const char *cunei_patterns_text(const struct cunei_patterns *patterns, size_t index,
                                bool *include);

#endif
