// SPDX-License-Identifier: MIT
/*
 * Writing files in the folder of this process.
 *
 * A file is open only while something is written to it (rt/folder.h).  It is made once,
 * never taken over: a file that already has the name belongs to another recording.
 */
#ifndef CUNEI_RT_FILE_H
#define CUNEI_RT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "rt/folder.h"

/* The end of a file that grows. */
struct cunei_file_end {
    bool is_made;
    struct cunei_file_id id; /* of the file that was made */
    uint64_t length;
    uint64_t reserved; /* bytes that have a place on disk, beyond `length` */
};

/* Write a file whole and put it in place by rename; `end` is where it ends. */
int cunei_file_replace(struct cunei_folder *folder, const char *name, const void *bytes,
                       size_t size, struct cunei_file_end *end);

/*
 * Append bytes to a file, which is made 0600 the first time.  Either all of it is
 * written or the file is as before.  A file that has grown large gets its places on
 * disk in advance, which makes a packet's write a quarter cheaper.
 */
int cunei_file_append(struct cunei_folder *folder, const char *name, const void *bytes,
                      size_t size, struct cunei_file_end *end);

/* Give back what was reserved and not used. */
void cunei_file_trim(struct cunei_folder *folder, const char *name,
                     struct cunei_file_end *end);

/* Overwrite bytes of a file in place. */
int cunei_file_patch(struct cunei_folder *folder, const char *name, const void *bytes,
                     size_t size, uint64_t offset);

/* -EFBIG where the process may not make a file of that size (RLIMIT_FSIZE). */
int cunei_file_check_limit(uint64_t size);

/* Make sure that a store to these bytes of a file cannot fail: they are written as
 * zeros where the file system, or a sandbox, does not let us allocate them. */
int cunei_file_allocate(int fd, uint64_t offset, uint64_t size);

/* A descriptor of a file in the folder, for the caller to close at once. */
int cunei_file_open(struct cunei_folder *folder, const char *name, int flags,
                    struct stat *status);

/* Remove a file of the folder, if it is this one. */
int cunei_file_remove(struct cunei_folder *folder, const char *name,
                      const struct cunei_file_id *id);

#endif
