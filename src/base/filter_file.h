// SPDX-License-Identifier: MIT
/*
 * Filter files for --filter: which functions are recorded.  Their first character
 * distinguishes two formats.
 *
 * Lines, with the meaning of --include (+) and --exclude (-) in this order:
 *
 *     # what costs most
 *     - app.vector:Vector.__getitem__
 *     + app.vector              # the last one that matches decides
 *
 * With '{': a PerfStubs JSON file, an object with any of these arrays of ECMAScript
 * regular expressions; other keys are ignored:
 *
 *     exclude_timers, exclude_files    leave out names, or files, that one of them
 * matches include_timers, include_files    leave out names, or files, that none of them
 * matches
 *
 * The name of a timer is __name__ of the function, not its qualified name.
 */
#ifndef CUNEI_BASE_FILTER_FILE_H
#define CUNEI_BASE_FILTER_FILE_H

#include "base/pattern.h"
#include "base/syntax_error.h"

#define CUNEI_FILTER_MAX (1u << 20) /* bytes of a file */

/* Add the patterns of `text`.  -EINVAL: `error` says where and why; some may have been
 * added. */
int cunei_filter_file_parse(struct cunei_patterns *patterns, const char *text,
                            size_t size, struct cunei_syntax_error *error);

/* The same for a file; other errors are those of base/regular_file.h. */
int cunei_filter_file_read(struct cunei_patterns *patterns, const char *path,
                           struct cunei_syntax_error *error);

#endif
