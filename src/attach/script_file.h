// SPDX-License-Identifier: MIT
/*
 * The file with a script for another process, and how the process answers.
 *
 * It lies in a folder of the process's own: its XDG_RUNTIME_DIR, /tmp, /var/tmp or
 * /dev/shm, found below its root.  It is new, 0600, and belongs to the user of the
 * process.  Whoever executes it appends a mark:
 *
 *     #           has read the file; the first to do so executes the script
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

enum cunei_script_state {
    CUNEI_SCRIPT_WAITING,
    CUNEI_SCRIPT_BEGUN,
    CUNEI_SCRIPT_FAILED,
    CUNEI_SCRIPT_ENDED,
};

int cunei_script_file_create(struct cunei_script_file *file,
                             const struct cunei_target *target, const char *script,
                             struct cunei_attach_error *error);

/* How far it is, and how many have read it; what it raised goes to `error`. */
enum cunei_script_state cunei_script_file_state(const struct cunei_script_file *file,
                                                size_t *readers,
                                                struct cunei_attach_error *error);

/* Execute it no more; false: it has begun before. */
bool cunei_script_file_withdraw(const struct cunei_script_file *file);

/* Remove it, unless it is needed. */
void cunei_script_file_close(struct cunei_script_file *file, bool is_needed);

#endif
