// SPDX-License-Identifier: MIT
/*
 * The directory that a recording goes to: made, found free, or freed.
 *
 * What is removed is what a recording makes, by name, one level deep; a file that is
 * none of ours stays, and so does the folder it is in.
 */
#ifndef CUNEI_CMD_RECORD_TRACE_DIRECTORY_H
#define CUNEI_CMD_RECORD_TRACE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_buffer;

/*
 * Make `path` a directory to record to, and give its absolute path, owned by the
 * caller.  With `force` a trace that is there is removed.  NULL: it cannot be, and
 * `reason` has the sentence why; `option` is the one that names another.
 */
char *cunei_trace_directory_make(const char *path, const char *option, bool force,
                                 struct cunei_buffer *reason);

/* Make one for a while, on a disk where possible; the same otherwise. */
char *cunei_trace_directory_make_temporary(struct cunei_buffer *reason);

/* Remove the trace at `path`, and the directory itself where nothing else is left. */
int cunei_trace_directory_remove(const char *path);

/* How many processes still record to `path`; one of them goes to `*pid`. */
unsigned cunei_trace_directory_writers(const char *path, uint64_t *pid);

#endif
