// SPDX-License-Identifier: MIT
/*
 * A file or folder that appears under its name when it is complete, or not at all.
 *
 * The directory around it is opened once: whoever may rename that, or what is in it,
 * cannot have another one written to or removed.
 *
 *     struct cunei_output_file target;
 *     int status = cunei_output_file_open(&target, "out.json", false, force);
 *     … write to target.out, or into target.folder …
 *     rc = cunei_output_file_close(&target, rc);
 */
#ifndef CUNEI_CMD_COMMON_OUTPUT_FILE_H
#define CUNEI_CMD_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/safe_open.h"

/* A file in each folder that we write: only folders with it are overwritten. */
#define CUNEI_TARGET_MARK ".cunei-export"

struct cunei_output_file {
    FILE *out;    /* of a file */
    char *folder; /* owned: the path of a folder until then */
    /* Private. */
    bool is_folder;
    bool replaces;                /* something has the name */
    int around, inside;           /* descriptors of the directory, and of the folder */
    char *place;                  /* owned: the name, below the first */
    char *part;                   /* owned: the name until then, below the first; NULL:
                                     it is written in place */
    struct cunei_file_id old, id; /* of what has the name, and of the part */
};

/* Whether it can be written; if not, prints why.  0, or the exit status. */
int cunei_output_file_check(const char *path, bool is_folder, bool force);

/* `path` - is stdout.  0, or the exit status after an error was printed. */
int cunei_output_file_open(struct cunei_output_file *target, const char *path,
                           bool is_folder, bool force);

/* `rc` is the result of writing it; returns that, or the error of closing it. */
int cunei_output_file_close(struct cunei_output_file *target, int rc);

#endif
