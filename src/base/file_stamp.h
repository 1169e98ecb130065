// SPDX-License-Identifier: MIT
/*
 * Whether a file still says what it said: its text as one number.  A file that was only
 * touched, or written again with the same text, keeps it.
 *
 *     struct cunei_file_stamps stamps = {0};
 *     uint64_t stamp = cunei_file_stamp_read(&stamps, "/home/me/app.py");
 */
#ifndef CUNEI_BASE_FILE_STAMP_H
#define CUNEI_BASE_FILE_STAMP_H

#include <stdint.h>

/* It was several, one after the other: no file has this one. */
#define CUNEI_STAMP_MIXED UINT64_MAX

/* Files that were read lately; who keeps it reads each of them once. */
struct cunei_file_stamps {
    struct {
        uint64_t state; /* of device, number, size and time of the last change */
        uint64_t stamp; /* 0: nothing here */
    } places[64];
};

/* Of a regular file; 0: there is none, or it cannot be read. */
uint64_t cunei_file_stamp_read(struct cunei_file_stamps *stamps, const char *path);

#endif
