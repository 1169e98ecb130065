// SPDX-License-Identifier: MIT
/* Patterns of a recording that matched no function: most are mistyped. */
#ifndef CUNEI_CMD_SUGGEST_PATTERN_H
#define CUNEI_CMD_SUGGEST_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_buffer;
struct cunei_patterns;
struct cunei_trace;

/* What was asked for; all of it is borrowed. */
struct cunei_pattern_request {
    const struct cunei_patterns *selection; /* of --include, --exclude and the like */
    const struct cunei_patterns *arguments, *results, *lines;
    bool calls, c_calls;        /* whether they are recorded */
    const char *const *folders; /* where the program's modules are */
    size_t folder_count;
};

/* Append a text for each, which pattern it is and what may be meant; each ends with
 * NUL, because patterns may hold line breaks. */
void cunei_suggest_patterns(const struct cunei_pattern_request *request,
                            const struct cunei_trace *trace,
                            struct cunei_buffer *notes);

#endif
