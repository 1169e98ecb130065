// SPDX-License-Identifier: MIT
/*
 * A file or folder that appears under its name when it is complete, or not at all.
 *
 *     struct cunei_output_file target;
 *     int status = cunei_output_file_open(&target, "out.json", false, force);
 *     … write to target.out …
 *     rc = cunei_output_file_close(&target, rc);
 */
#ifndef CUNEI_CMD_COMMON_OUTPUT_FILE_H
#define CUNEI_CMD_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* A file in each folder that we write: only folders with it are overwritten. */
#define CUNEI_TARGET_MARK ".cunei-export"

struct cunei_output_file {
    FILE *out;        /* of a file */
    char *part;       /* owned: the name until then; NULL: it is written in place */
    const char *path; /* private */
    bool is_folder;   /* the same */
};

/* Whether it can be written; if not, prints why.  0, or the exit status. */
int cunei_output_file_check(const char *path, bool is_folder, bool force);

/* `path` - is stdout.  0, or the exit status after an error was printed. */
int cunei_output_file_open(struct cunei_output_file *target, const char *path,
                           bool is_folder, bool force);

/* `rc` is the result of writing it; returns that, or the error of closing it. */
int cunei_output_file_close(struct cunei_output_file *target, int rc);

#endif
