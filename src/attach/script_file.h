// SPDX-License-Identifier: MIT
/*
 * The file with a script for another process, and how the process answers.
 *
 * It lies in a folder of the process's own: its XDG_RUNTIME_DIR, /tmp, /var/tmp or
 * /dev/shm, found below its root.  It is new, 0600, and belongs to the user of the
 * process.  Whoever executes it appends a mark:
 *
 *     #1234       thread 1234 has read the file; the first one executes the script
 *     =           the script has ended
 *     !text       the script has raised an exception
 *
 * A write with O_APPEND gives each its place, so two threads that were both asked do
 * not both execute the script, and our own mark withdraws it.  To Python, the marks are
 * a comment.
 */
#ifndef CUNEI_ATTACH_SCRIPT_FILE_H
#define CUNEI_ATTACH_SCRIPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/error.h"
#include "attach/target.h"

/* Shorter than every place that a Python has for it. */
#define CUNEI_SCRIPT_PATH_MAX 64
#define CUNEI_SCRIPT_SIZE_MAX 60000 /* bytes of the file before the marks */

struct cunei_script_file {
    bool is_open;
    int folder, fd;                   /* owned, if it is open */
    size_t size;                      /* bytes before the marks */
    char path[CUNEI_SCRIPT_PATH_MAX]; /* as the process sees it */
};

#define CUNEI_SCRIPT_READERS 128 /* more than are ever asked */

enum cunei_script_state {
    CUNEI_SCRIPT_WAITING,
    CUNEI_SCRIPT_BEGUN,
    CUNEI_SCRIPT_FAILED,
    CUNEI_SCRIPT_ENDED,
};

struct cunei_script_marks {
    enum cunei_script_state state;
    uint64_t readers[CUNEI_SCRIPT_READERS]; /* threads, as the process numbers them */
    size_t reader_count;
    struct cunei_attach_error exception; /* if it failed */
};

int cunei_script_file_create(struct cunei_script_file *file,
                             const struct cunei_target *target, const char *script,
                             struct cunei_attach_error *error);

void cunei_script_file_read_marks(const struct cunei_script_file *file,
                                  struct cunei_script_marks *marks);
bool cunei_script_marks_have(const struct cunei_script_marks *marks, uint64_t thread);

/* Execute it no more; false: it has begun before. */
bool cunei_script_file_withdraw(const struct cunei_script_file *file);

/* Remove it, unless it is needed. */
void cunei_script_file_close(struct cunei_script_file *file, bool is_needed);

#endif
