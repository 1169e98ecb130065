// SPDX-License-Identifier: MIT
/*
 * A file or folder that gets its name when it is whole, and is gone otherwise.
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

/* A file in each folder that is made: others are not overwritten. */
#define CUNEI_TARGET_MARK ".cunei-export"

struct cunei_output_file {
    FILE *out;        /* of a file */
    char *part;       /* owned: the name until then; NULL: it has none of its own */
    const char *path; /* private */
    bool is_folder;   /* the same */
};

/* Whether it could be made; if not, why is said.  0, or the exit status for that. */
int cunei_output_file_check(const char *path, bool is_folder, bool force);

/* `path` - is stdout.  0, or the exit status for what was said. */
int cunei_output_file_open(struct cunei_output_file *target, const char *path,
                           bool is_folder, bool force);

/* `rc`: how writing it went; what that, or the rest, came to is returned. */
int cunei_output_file_close(struct cunei_output_file *target, int rc);

#endif
