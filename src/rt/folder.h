// SPDX-License-Identifier: MIT
/*
 * The folder of this process in the trace, made and found again.
 *
 * The program may close, reuse, count or run out of file descriptors, and change its
 * directory.  So no descriptor is held: the folder is open only while something is done
 * in it, in another table of descriptors if this one is full (rt/run_in_child.h).  Only
 * if the program is about to change its root, or has moved the folder, we hold a
 * descriptor.
 *
 * The trace directory may belong to another user, who may put anything in the place of
 * the folder.  So each time it is opened, device, inode, owner and mode are compared
 * with those of the folder that was made, and files are opened relative to it.
 */
#ifndef CUNEI_RT_FOLDER_H
#define CUNEI_RT_FOLDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "base/safe_open.h"

struct cunei_folder {
    char *path;         /* owned */
    _Atomic int fd;     /* -1: none is held */
    const void *mapped; /* the beginning of a file of it; NULL: none is */
    struct cunei_file_id id;
    struct cunei_file_id parent;
    uid_t owner;
    mode_t mode;
    atomic_bool was_away; /* at its path there was nothing once, or something else */
};

/*
 * Make the folder `<parent>/<host>-<pid>-<n>` with the first n that is free, 0700.
 * -ESTALE: another folder has taken its place, -EXDEV: the parent is not the directory
 * with this id (all 0: it may be any).
 */
int cunei_folder_open(struct cunei_folder *folder, const char *parent,
                      const struct cunei_file_id *id);
void cunei_folder_close(struct cunei_folder *folder);

/* Make the parent, if only its last part is missing; it may exist. */
int cunei_folder_make_parent(const char *parent);

/* From now on the folder is not found by its path, but by a descriptor. */
void cunei_folder_hold(struct cunei_folder *folder);

/* Give the descriptor up. */
void cunei_folder_rest(struct cunei_folder *folder);

/*
 * A descriptor of the folder, for the caller to close at once.  -ENOENT: it is not at
 * its path, -ESTALE: something else is.
 */
int cunei_folder_enter(struct cunei_folder *folder);

/*
 * Do something that enters the folder.  Where descriptors are used up, it is done in
 * another process; where the folder was renamed, it is searched for and done again.
 */
int cunei_folder_run(struct cunei_folder *folder, int (*work)(void *context),
                     void *context);

/* Whether it was not found at its path, and is not there now. */
bool cunei_folder_is_away(const struct cunei_folder *folder);

/* A descriptor of its parent, for the caller to close at once; -EXDEV as above. */
int cunei_folder_open_parent(const struct cunei_folder *folder);

/* Remove the folder, if it is empty and still at its path. */
void cunei_folder_remove(struct cunei_folder *folder);

/* Held during a fork, so that the lock is free in the child. */
void cunei_folder_lock(void);
void cunei_folder_unlock(void);

/* statvfs(2) of the file system that it is on. */
int cunei_folder_space(struct cunei_folder *folder, struct statvfs *state);

#endif
