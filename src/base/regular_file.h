// SPDX-License-Identifier: MIT
/*
 * The content of a file that a user or a trace names.  It must be a regular file: a
 * pipe may never end, and opening it may wait for its writer.
 */
#ifndef CUNEI_BASE_REGULAR_FILE_H
#define CUNEI_BASE_REGULAR_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Read the whole file, NUL-terminated and owned by the caller.  -EISDIR and -EBADMSG:
 * it is not a regular file; -EFBIG: it has more than `max` bytes.
 */
int cunei_regular_file_read(const char *path, size_t max, char **text, size_t *size);

/* What such an error means, for a sentence that names the file. */
const char *cunei_regular_file_problem(int rc);

/* Whether the path names a directory, or a link to one. */
bool cunei_is_directory(const char *path);

#endif
