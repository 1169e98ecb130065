// SPDX-License-Identifier: MIT
/*
 * Files as another process sees them: below its root, whatever its mount namespace.
 *
 * Its user, who may be hostile, can change names at any time.  A name is followed
 * inside the root only (openat2), so that nothing outside of it is opened or written;
 * what is not a regular file is not opened.
 */
#ifndef CUNEI_ATTACH_TARGET_ROOT_H
#define CUNEI_ATTACH_TARGET_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A descriptor of the process's root. */
int cunei_target_root_open(pid_t pid);

/*
 * A regular file to read, and its status; links in the path are followed inside the
 * root.  -EBADMSG: it is something else; -ENOSYS: the kernel has no openat2.
 */
int cunei_target_root_open_file(int root, const char *path, struct stat *status);

/* A folder by its path, without links in it, to work in. */
int cunei_target_root_open_folder(int root, const char *path, struct stat *status);

/* The status of what a path leads to, without links in it. */
int cunei_target_root_look_at(int root, const char *path, struct stat *status);

#endif
