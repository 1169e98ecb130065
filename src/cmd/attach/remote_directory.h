// SPDX-License-Identifier: MIT
/*
 * The directory of a recording in another mount namespace: a temporary one, which the
 * process can reach.  At the end its files are copied to a directory of ours.
 *
 * The process's user can change it at any time: only regular files are copied, and
 * nothing outside of it is opened or removed.
 */
#ifndef CUNEI_CMD_ATTACH_REMOTE_DIRECTORY_H
#define CUNEI_CMD_ATTACH_REMOTE_DIRECTORY_H

#include <stdbool.h>

#include "attach/error.h"
#include "attach/process_facts.h"
#include "base/safe_open.h"

struct cunei_remote_directory {
    int fd;        /* 0: there is none */
    char *path;    /* owned: as the process sees it */
    char ours[32]; /* as we reach it, also when the process has ended */
    struct cunei_file_id id;
};

/* Whether a directory of ours is at the same path for the process. */
bool cunei_remote_directory_is_shared(const struct cunei_process_facts *process,
                                      const char *path, const struct cunei_file_id *id);

/* Make a new one; or open the one with this path, which an answer has named. */
int cunei_remote_directory_make(struct cunei_remote_directory *remote,
                                const struct cunei_process_facts *process,
                                struct cunei_attach_error *error);
int cunei_remote_directory_open(struct cunei_remote_directory *remote,
                                const struct cunei_process_facts *process,
                                const char *path, struct cunei_attach_error *error);

/* Copy all files to our directory, and remove what was copied. */
int cunei_remote_directory_fetch(const struct cunei_remote_directory *remote,
                                 const char *to, struct cunei_attach_error *error);
void cunei_remote_directory_close(struct cunei_remote_directory *remote);

#endif
