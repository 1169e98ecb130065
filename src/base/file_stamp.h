// SPDX-License-Identifier: MIT
/*
 * The content of a file as one number, to find out whether it has changed.  A file that
 * was touched, or written again with the same text, keeps its stamp.
 *
 *     struct cunei_file_stamps stamps = {0};
 *     uint64_t stamp = cunei_file_stamp_read(&stamps, "/home/me/app.py");
 */
#ifndef CUNEI_BASE_FILE_STAMP_H
#define CUNEI_BASE_FILE_STAMP_H

#include <stddef.h>
#include <stdint.h>

/* Several stamps, one after the other; no file has this one. */
#define CUNEI_STAMP_MIXED UINT64_MAX

/* A cache of files that were read: each is read once. */
struct cunei_file_stamps {
    struct {
        uint64_t state; /* of device, number, size and time of the last change */
        uint64_t stamp; /* 0: nothing here */
    } places[64];
};

/*
 * The stamp of a regular file; for a path inside an archive, that of the archive.  0:
 * it does not exist, or cannot be read.
 */
uint64_t cunei_file_stamp_read(struct cunei_file_stamps *stamps, const char *path);

/*
 * Python names a file inside an archive as if that were a folder: the length of the
 * part of `path` that names the archive; 0: no part of it is a file.
 */
size_t cunei_file_stamp_archive(const char *path);

#endif
