// SPDX-License-Identifier: MIT
/*
 * Finding a hidden file of a process, the live file or the ring: in its folder, or in
 * memory where a file in the folder names it (wire/live_place.h).
 */
#ifndef CUNEI_TRACE_LIVE_HIDDEN_FILE_H
#define CUNEI_TRACE_LIVE_HIDDEN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/safe_open.h"

struct cunei_trace_process;

struct cunei_trace_hidden {
    int fd;                     /* -1: there is none that can be read */
    bool is_there;              /* its name exists, whatever it names */
    struct cunei_file_id named; /* what it names in the folder */
    char *path; /* owned: in the folder, or in memory if the file there says so */
    bool is_in_memory;
    uint64_t size;    /* bytes, when it was opened */
    struct stat stat; /* of what is open */
};

/* A missing file is not an error; other failures to open it are. */
int cunei_trace_hidden_open(struct cunei_trace_hidden *file, const char *name,
                            const struct cunei_trace_process *process);
void cunei_trace_hidden_close(struct cunei_trace_hidden *file);

/*
 * Remove it from the folder with this descriptor; from memory first, if it `is_ours`: a
 * name that leads nowhere is found and removed next time, a file that nothing leads to
 * is not.  That it is gone is no error.
 */
int cunei_trace_hidden_remove(const struct cunei_trace_hidden *file, int folder,
                              const char *name, bool is_ours);

#endif
