// SPDX-License-Identifier: MIT
/*
 * Whether there is still space to record: the program's own writes must never fail
 * because of us.
 *
 * Recording stops when the file system has less than 1 GiB or 5 % free, or when the
 * trace has reached its limit.  The bytes of all processes of a trace are added up in
 * a hidden file of the trace directory that each of them maps.  Nothing in that
 * directory is trusted: a file of another user, who could cut it short under the
 * mapping, is not used.  Where the file system gives all files to one user, that is the
 * owner of the folder as well.
 */
#ifndef CUNEI_RT_SPACE_H
#define CUNEI_RT_SPACE_H

#include <stdatomic.h>
#include <stdint.h>

#include "rt/folder.h"

#define CUNEI_SPACE_NAME ".size"

struct cunei_space {
    uint64_t max_bytes;     /* 0: no limit */
    _Atomic uint64_t *used; /* in `mapped`, or `own` */
    void *mapped;
    _Atomic uint64_t own;
};

/*
 * The limit of the trace in which the folder is.  Never fails: without the file, the
 * process counts for itself alone.
 */
void cunei_space_open(struct cunei_space *space, const struct cunei_folder *folder,
                      uint64_t max_bytes);
void cunei_space_close(struct cunei_space *space);

/* Count `size` bytes, without system calls; -E2BIG: the trace's limit is reached. */
int cunei_space_count(struct cunei_space *space, uint64_t size);

/* 0 if `size` bytes may be written in the folder: the file system is not nearly full,
 * and they are counted. */
int cunei_space_take(struct cunei_space *space, struct cunei_folder *folder,
                     uint64_t size);

/*
 * Whether a file of `size` bytes may be made in the folder, or in memory, /dev/shm:
 * 0, -ENOSPC or -ENOMEM.  As much as above stays free, and half of the free memory.
 */
int cunei_space_check(struct cunei_folder *folder, uint64_t size);
int cunei_space_check_directory(const char *path, uint64_t size);
int cunei_space_check_memory(uint64_t size);

#endif
