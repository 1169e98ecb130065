// SPDX-License-Identifier: MIT
/*
 * The patterns of --include and --exclude, which select functions.  Globs are those of
 * base/glob.h.
 *
 * A pattern is one of
 *
 *     re:EXPRESSION        a POSIX extended regular expression, searched in
 *                          "module:qualname" and in the file name
 *     re-name:EXPRESSION   the same in __name__, after the last dot
 *     re-file:EXPRESSION   in the file name
 *     in-project:FOLDER    files below the folder, an absolute path without links,
 *                          unless they belong to a Python there or were installed into
 *                          one; a file's own links are followed.  Without a folder:
 *                          that of the list, `project`
 *     MODULE:QUALNAME      a glob for each; an empty side matches anything
 *     with '/' or .py      a glob for the file; without a leading '/' for its end;
 *                          a leading ./ is ignored
 *     anything else        a glob for the module and its submodules
 *     !PATTERN             functions that the pattern does not match
 *
 * A module of the import system has a second name, that in its file: patterns match
 * _frozen_importlib also as importlib._bootstrap of "<frozen importlib._bootstrap>".
 *
 * The last pattern that matches decides.  A function that no pattern matches is
 * included, unless the first pattern is an include.
 */
#ifndef CUNEI_BASE_PATTERN_H
#define CUNEI_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define CUNEI_PATTERN_PROJECT "in-project:"

struct cunei_pattern;

struct cunei_patterns {
    struct cunei_pattern *items; /* owned */
    size_t count;
    size_t expression_bytes; /* private: about what all expressions take */
    const char *project; /* borrowed: the folder of in-project: without one; NULL: all
                            files count that do not belong to a Python */
};

/*
 * Add a pattern.  -EINVAL: the regular expression does not compile or costs too much
 * (base/regex_cost.h), or the pattern has no meaning; the reason goes to `error`,
 * which may be NULL.
 */
int cunei_patterns_add(struct cunei_patterns *patterns, bool include, const char *text,
                       char *error, size_t error_size);

/* Remove the patterns with this text, from index `first` on. */
void cunei_patterns_remove(struct cunei_patterns *patterns, size_t first,
                           const char *text);
void cunei_patterns_fini(struct cunei_patterns *patterns);

/* Move in-project: to the begin, wherever it was given: then later patterns add
 * functions to it or exclude some of it. */
void cunei_patterns_project_first(struct cunei_patterns *patterns);

bool cunei_patterns_include(const struct cunei_patterns *patterns, const char *module,
                            const char *qualname, const char *file);

/* Whether an exclude names the function, rather than that no include does. */
bool cunei_patterns_exclude(const struct cunei_patterns *patterns, const char *module,
                            const char *qualname, const char *file);

/* The text of a pattern, as it was given. */
const char *cunei_patterns_text(const struct cunei_patterns *patterns, size_t index,
                                bool *include);

/* Whether they begin with an in-project: that includes. */
bool cunei_patterns_have_project(const struct cunei_patterns *patterns);

/*
 * Where patterns come from, for messages: the line of the last one, and the file of
 * those from `first` on.
 */
void cunei_patterns_set_line(struct cunei_patterns *patterns, size_t line);
int cunei_patterns_set_file(struct cunei_patterns *patterns, size_t first,
                            const char *file);

/* The file of a pattern, and its line or 0; NULL: it was typed. */
const char *cunei_patterns_file(const struct cunei_patterns *patterns, size_t index,
                                size_t *line);

#endif
