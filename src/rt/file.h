// SPDX-License-Identifier: MIT
/*
 * Writing into the folder of a trace from inside somebody else's program.
 *
 * The program may close, reuse or run out of file descriptors, change its directory or
 * its root.  So one descriptor is held, the folder's, and checked to be still ours
 * before it is used; a file is open only while something is written to it.
 */
#ifndef CUNEI_RT_FILE_H
#define CUNEI_RT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cunei_folder {
    char *path; /* owned */
    int fd;     /* -1: none */
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

/* Make the parent, if only its last part is missing; it may be there already. */
int cunei_folder_make_parent(const char *parent);

/* Give the descriptor up, until it is needed again. */
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

/* The folder's descriptor, reopened by its path if the program took it away. */
int cunei_folder_fd(struct cunei_folder *folder);

/* openat(2) in the folder, on a descriptor that is ours for certain. */
int cunei_folder_open_file(struct cunei_folder *folder, const char *name, int flags);
void cunei_folder_close_file(struct cunei_folder *folder, int fd);

/* Held over a fork, so that the child does not find it taken. */
void cunei_folder_lock(void);
void cunei_folder_unlock(void);

int cunei_folder_remove(struct cunei_folder *folder, const char *name);

#endif
