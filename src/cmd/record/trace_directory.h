// SPDX-License-Identifier: MIT
/*
 * The directory of a recording: creating, reusing and removing it.
 *
 * Only files that a recording creates are removed, by name, one level deep, and not in
 * folders of other users.  Other files stay, and so does their folder.
 *
 * Another user may be able to put something else at the path of the directory.  So each
 * function that makes one returns what it is recognized by, and only that directory is
 * removed, or anything in it.
 */
#ifndef CUNEI_CMD_RECORD_TRACE_DIRECTORY_H
#define CUNEI_CMD_RECORD_TRACE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_buffer;
struct cunei_file_id;

/*
 * Create the directory `path`, and return its absolute path, owned by the caller.  With
 * `force` an existing trace is removed; `path` may be a link to it.  NULL: it failed,
 * and `reason` has the sentence why; `option` is the option that chooses another.
 * `*existed`: whether the directory was there before.
 */
char *cunei_trace_directory_make(const char *path, const char *option, bool force,
                                 struct cunei_file_id *id, bool *existed,
                                 struct cunei_buffer *reason);

/*
 * Create the directory `name`, or `name`-1, `name`-2, … where another user, for
 * example, has made it before: an existing one is never used.  The path goes to
 * `*made`, owned by the caller, who owns the absolute path as well.
 */
char *cunei_trace_directory_make_new(const char *name, const char *option, char **made,
                                     struct cunei_file_id *id,
                                     struct cunei_buffer *reason);

/* The same for a temporary directory, on a disk where possible. */
char *cunei_trace_directory_make_temporary(struct cunei_file_id *id,
                                           struct cunei_buffer *reason);

/* 0: the directory is at its path; -ENOENT: nothing is, -ESTALE: something else is. */
int cunei_trace_directory_check(const char *path, const struct cunei_file_id *id);

/*
 * Remove the trace at `path`, which the caller has made, and the directory itself where
 * nothing else is left, unless it `is_kept`.  -ESTALE: something else is at the path.
 */
int cunei_trace_directory_remove(const char *path, const struct cunei_file_id *id,
                                 bool is_kept);

/* The same for any directory, if nothing was recorded; -EEXIST: something was, readable
 * or not. */
int cunei_trace_directory_remove_unused(const char *path,
                                        const struct cunei_file_id *id, bool is_kept);

/* How many processes still record to `path`; one of them goes to `*pid`. */
unsigned cunei_trace_directory_writers(const char *path, uint64_t *pid);

#endif
