// SPDX-License-Identifier: MIT
/*
 * Opening and removing files below a folder that other users may change.
 *
 * No function follows a link in the last part of a name, or waits for a pipe.  A file
 * is removed only if it is the one that the caller means.
 */
#ifndef CUNEI_BASE_SAFE_OPEN_H
#define CUNEI_BASE_SAFE_OPEN_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file or folder, whatever its name is. */
struct cunei_file_id {
    dev_t device;
    ino_t inode;
};

struct cunei_file_id cunei_file_id_of(const struct stat *status);
bool cunei_file_id_is(const struct cunei_file_id *id, const struct stat *status);

/*
 * A descriptor of a folder below the folder `at` (or AT_FDCWD), and its status;
 * -ESTALE: it is not a folder, but a link, for example.
 */
int cunei_safe_open_folder(int at, const char *path, struct stat *status);

/*
 * A descriptor to work in a directory that its user has named, so links are followed.
 * -EXDEV: it is not the one with this id, unless the id is all 0.
 */
int cunei_safe_open_directory(const char *path, const struct cunei_file_id *id);

/* The names in a folder; "." is `at` itself, from its beginning.  NULL: see errno. */
DIR *cunei_safe_list_folder(int at, const char *path);

/*
 * A descriptor of a regular file, and its status; made 0600 with O_CREAT.  -EBADMSG: it
 * is something else.
 */
int cunei_safe_open_file(int at, const char *path, int flags, struct stat *status);

/*
 * 0: the caller made this folder, -ESTALE: between making and opening it, another user
 * has put another one in its place.  Some file systems give all files to one user, or
 * let all users write; there a new file in the folder has the same owner and rights.
 * The file is named `probe`, and removed.
 */
int cunei_safe_check_made(int folder, const struct stat *status, const char *probe);

/* Whether the caller owns the file, and no second name of it leads here. */
bool cunei_safe_is_own_file(const struct stat *status);

/* Remove a name in a folder if the file with it is this one; -ESTALE: it is another. */
int cunei_safe_remove(int folder, const char *name, const struct cunei_file_id *id);

/* The same for a path; the folder must be the caller's, and not writable by others. */
int cunei_safe_remove_path(const char *path, const struct cunei_file_id *id);

#endif
