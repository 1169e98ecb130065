// SPDX-License-Identifier: MIT
/* The source of recorded functions: where it is, and whether it is still the one that
 * was recorded. */
#ifndef CUNEI_TRACE_SOURCE_CODE_RECORDED_SOURCE_H
#define CUNEI_TRACE_SOURCE_CODE_RECORDED_SOURCE_H

struct cunei_buffer;
struct cunei_file_stamps;
struct cunei_function;
struct cunei_process;

enum cunei_source_state {
    CUNEI_SOURCE_SAME,
    CUNEI_SOURCE_CHANGED,
    CUNEI_SOURCE_UNKNOWN, /* the file exists, but the recording has no stamp of it */
    CUNEI_SOURCE_MISSING,
};

/* Append the path of a function's file; a relative one starts at the directory of the
 * process, which may be NULL. */
void cunei_recorded_source_path(struct cunei_buffer *path,
                                const struct cunei_function *function,
                                const struct cunei_process *process);

enum cunei_source_state cunei_recorded_source_state(
    const struct cunei_function *function, const struct cunei_process *process,
    struct cunei_file_stamps *stamps);

#endif
