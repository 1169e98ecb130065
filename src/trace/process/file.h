// SPDX-License-Identifier: MIT
/*
 * Files of a process's folder: regular ones, opened without waiting and without
 * following links, read to a limit.
 */
#ifndef CUNEI_TRACE_PROCESS_FILE_H
#define CUNEI_TRACE_PROCESS_FILE_H

#include <stddef.h>
#include <stdint.h>

struct cunei_trace_process;
struct cunei_trace_stream;

/* The text in `folder`/`name`, allocated, or NULL. */
char *cunei_trace_path(const char *folder, const char *name);

/* The bytes of a file, 0 if there is none. */
uint64_t cunei_trace_file_size(const struct cunei_trace_process *process,
                               const char *name);

/* Open a file to read it; its size goes to `*size`.  -EBADMSG: it is not regular. */
int cunei_trace_file_open(const struct cunei_trace_process *process, const char *name,
                          uint64_t *size);

/* The same for a stream, whose bytes may come from a ring. */
int cunei_trace_stream_open(const struct cunei_trace_process *process,
                            const struct cunei_trace_stream *stream, uint64_t *size);

/* Read up to `size` bytes at `offset`; less than that only at the end of the file. */
int64_t cunei_trace_file_read(int fd, void *bytes, size_t size, uint64_t offset);

/* Write all of them, or fail. */
int cunei_trace_file_write(int fd, const void *bytes, size_t size, uint64_t offset);

/*
 * Take in a whole file, NUL-terminated and owned by the caller.  -EFBIG: it has more
 * than `max` bytes.
 */
int cunei_trace_file_load(const struct cunei_trace_process *process, const char *name,
                          size_t max, char **text, size_t *size);

#endif
