// SPDX-License-Identifier: MIT
/*
 * The directory of a recording: creating, reusing and removing it.
 *
 * Only files that a recording creates are removed, by name, one level deep.  Other
 * files stay, and so does their folder.
 */
#ifndef CUNEI_CMD_RECORD_TRACE_DIRECTORY_H
#define CUNEI_CMD_RECORD_TRACE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_buffer;

/*
 * Create the directory `path`, and return its absolute path, owned by the caller.  With
 * `force` an existing trace is removed.  NULL: it failed, and `reason` has the sentence
 * why; `option` is the option that chooses another.
 */
char *cunei_trace_directory_make(const char *path, const char *option, bool force,
                                 struct cunei_buffer *reason);

/*
 * Create the directory `name`, or `name`-1, `name`-2, … where another user, for
 * example, has made it before: an existing one is never used.  The path goes to
 * `*made`, owned by the caller, who owns the absolute path as well.
 */
char *cunei_trace_directory_make_new(const char *name, char **made,
                                     struct cunei_buffer *reason);

/* The same for a temporary directory, on a disk where possible. */
char *cunei_trace_directory_make_temporary(struct cunei_buffer *reason);

/* Remove the trace at `path`, and the directory itself where nothing else is left. */
int cunei_trace_directory_remove(const char *path);

/* Whether something was recorded there, readable or not. */
bool cunei_trace_directory_has_data(const char *path);

/* How many processes still record to `path`; one of them goes to `*pid`. */
unsigned cunei_trace_directory_writers(const char *path, uint64_t *pid);

#endif
