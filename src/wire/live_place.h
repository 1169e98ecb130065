// SPDX-License-Identifier: MIT
/*
 * Where a process's file system cannot map files, its live file lies in memory, and the
 * file CUNEI_LIVE_NAME in the folder of the process names it in a few lines of text:
 *
 *     cunei live file in memory
 *     device 26
 *     inode 1042
 *     path /dev/shm/cunei-1000/live-4711-2a63f
 *
 * A text, and not a link: no program opens or removes another file because another
 * user changed a link.  A change here is a change of CUNEI_WIRE_VERSION.
 */
#ifndef CUNEI_WIRE_LIVE_PLACE_H
#define CUNEI_WIRE_LIVE_PLACE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/safe_open.h"

#define CUNEI_LIVE_PLACE_MAX 256 /* bytes of such a file */

/* A user's folder in memory, 0700: with the number of the user. */
#define CUNEI_LIVE_MEMORY_FOLDER "/dev/shm/cunei-%u"

struct cunei_live_place {
    struct cunei_file_id id;
    char path[CUNEI_LIVE_PLACE_MAX];
};

void cunei_live_place_format(const struct cunei_live_place *place,
                             struct cunei_buffer *out);

/* -EINVAL: it is not such a text, or names a file at another place than ours. */
int cunei_live_place_parse(struct cunei_live_place *place, const char *text,
                           size_t size);

/* The same for an open file. */
int cunei_live_place_read(struct cunei_live_place *place, int fd);

#endif
