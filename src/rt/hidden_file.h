// SPDX-License-Identifier: MIT
/*
 * A hidden file of a process that is mapped: the live file, the ring.  Private to rt/.
 *
 * It lies in the folder of the process, or in memory, in /dev/shm: then a file in the
 * folder names it (wire/live_place.h).  It is open only while it is mapped or written.
 */
#ifndef CUNEI_RT_HIDDEN_FILE_H
#define CUNEI_RT_HIDDEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/safe_open.h"
#include "rt/file.h"

struct cunei_hidden_file {
    const char *name;            /* in the folder, with a dot in front; borrowed */
    struct cunei_folder *folder; /* borrowed */
    struct cunei_file_id id;
    char *path; /* owned: where it lies in memory; NULL: in the folder */
    struct cunei_file_end place; /* of the file in the folder that names it then */
};

/* Whether another place may do where this error came from mapping a file. */
bool cunei_hidden_file_cannot_map(int rc);

/*
 * From now on it lies in memory, under a name made of `pid` and `number`.
 * -CUNEI_REFUSAL_MEMORY: this user has no folder there.
 */
int cunei_hidden_file_use_memory(struct cunei_hidden_file *file, pid_t pid,
                                 uint64_t number);

/*
 * A descriptor of it for the caller to close at once, within cunei_folder_run; with
 * O_CREAT | O_EXCL in `flags` it is made.  -ESTALE: another file has its name.
 */
int cunei_hidden_file_open(struct cunei_hidden_file *file, int flags);

/* Map bytes of an open file, writable. */
int cunei_hidden_file_map(int fd, uint64_t offset, size_t size, void **memory);

/* Write the file that names it, if it lies in memory. */
int cunei_hidden_file_write_place(struct cunei_hidden_file *file);

/*
 * Remove it, wherever it is.  The file that names it stays as long as the one in memory
 * does: nothing else names that.
 */
void cunei_hidden_file_remove(struct cunei_hidden_file *file);

/* Forget it; it stays for readers. */
void cunei_hidden_file_forget(struct cunei_hidden_file *file);

/* This user's folder in memory, made if need be, owned; NULL: there is none. */
char *cunei_hidden_file_memory_folder(void);

/* Whether it is a directory for this user alone, made if need be. */
bool cunei_hidden_file_is_private(const char *path);

/* Whether it is a directory of this user, with none of these rights for others. */
bool cunei_hidden_file_is_own(const char *path, mode_t rights);

#endif
