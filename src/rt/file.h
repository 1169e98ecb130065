// SPDX-License-Identifier: MIT
/*
 * Writing into the process's folder from inside the recorded program.
 *
 * The program may close, reuse, count or run out of file descriptors, and change its
 * directory.  So no descriptor is held: a file is open only while something is written
 * to it, in another table of descriptors if this one is full (rt/run_in_child.h).  Only
 * if the program is about to change its root, or has moved the folder, we hold a
 * descriptor of the folder, and check before each use that it is still ours.
 */
#ifndef CUNEI_RT_FILE_H
#define CUNEI_RT_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>
#include <sys/types.h>

struct cunei_folder {
    char *path;         /* owned */
    _Atomic int fd;     /* -1: none is held */
    const void *mapped; /* the beginning of a file of it; NULL: none is */
    dev_t device;
    ino_t inode;
};

/* The end of a file that grows. */
struct cunei_file_end {
    uint64_t length;
    uint64_t reserved; /* bytes that have a place on disk, beyond `length` */
};

/* Make the folder `<parent>/<host>-<pid>-<n>` with the first n that is free, 0700. */
int cunei_folder_open(struct cunei_folder *folder, const char *parent);
void cunei_folder_close(struct cunei_folder *folder);

/* Make the parent, if only its last part is missing; it may exist. */
int cunei_folder_make_parent(const char *parent);

/* From now on the folder is not found by its path, but by a descriptor. */
void cunei_folder_hold(struct cunei_folder *folder);

/* Give the descriptor up. */
void cunei_folder_rest(struct cunei_folder *folder);

/* Write a file whole and put it in place by rename. */
int cunei_folder_replace(struct cunei_folder *folder, const char *name,
                         const void *bytes, size_t size);

/*
 * Append bytes to a file, which is made 0600 where it does not exist.  Either all of it
 * is written or the file is as before.  A file that has grown large gets its places on
 * disk in advance, which makes a packet's write a quarter cheaper.
 */
int cunei_folder_append(struct cunei_folder *folder, const char *name,
                        const void *bytes, size_t size, struct cunei_file_end *end);

/* Give back what was reserved and not used. */
void cunei_folder_trim(struct cunei_folder *folder, const char *name,
                       struct cunei_file_end *end);

/* Overwrite bytes of a file in place. */
int cunei_folder_patch(struct cunei_folder *folder, const char *name, const void *bytes,
                       size_t size, uint64_t offset);

/* -EFBIG where the process may not make a file of that size (RLIMIT_FSIZE). */
int cunei_file_check_limit(uint64_t size);

/* Where a file of the folder is, for openat(2) and similar calls. */
struct cunei_place {
    int at;
    char path[PATH_MAX];
};

/* -ENAMETOOLONG: there can be no such file. */
int cunei_folder_place(const struct cunei_folder *folder, const char *name,
                       struct cunei_place *place);

/* Held during a fork, so that the lock is free in the child. */
void cunei_folder_lock(void);
void cunei_folder_unlock(void);

/* A descriptor, close-on-exec, of a file in the folder; made 0600. */
int cunei_folder_open_file(const struct cunei_folder *folder, const char *name,
                           int flags);

int cunei_folder_remove(const struct cunei_folder *folder, const char *name);

/* statvfs(2) of the file system that it is on. */
int cunei_folder_space(const struct cunei_folder *folder, struct statvfs *state);

#endif
