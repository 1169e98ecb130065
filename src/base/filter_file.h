// SPDX-License-Identifier: MIT
/*
 * Filter files: which functions are recorded, for --filter.  Two formats, told apart by
 * their first character.
 *
 * Lines, as if --include and --exclude stood in their order on the command line:
 *
 *     # what costs most
 *     - app.vector:Vector.__getitem__
 *     + app.vector              # the last one that matches decides
 *
 * And '{': the JSON of PerfStubs, an object with any of these arrays of regular
 * expressions of ECMAScript, each searched for; other keys are passed over:
 *
 *     exclude_timers, exclude_files    left out is whose name, or file, one matches
 *     include_timers, include_files    left out is whose name, or file, none matches
 *
 * A timer's name is the function's own, without the class or function it stands in.
 */
#ifndef CUNEI_BASE_FILTER_FILE_H
#define CUNEI_BASE_FILTER_FILE_H

#include "base/pattern.h"
#include "base/syntax_error.h"

#define CUNEI_FILTER_MAX (1u << 20) /* bytes of a file */

/* Add what `text` says.  -EINVAL: `error` says where and why; some may be added. */
int cunei_filter_file_parse(struct cunei_patterns *patterns, const char *text,
                            size_t size, struct cunei_syntax_error *error);

/* The same of a file; other errors than -EINVAL are those of reading it. */
int cunei_filter_file_read(struct cunei_patterns *patterns, const char *path,
                           struct cunei_syntax_error *error);

#endif
