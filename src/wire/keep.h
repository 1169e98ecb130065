// SPDX-License-Identifier: MIT
/* How much of a recording is kept (`--keep`): the last packets, in a ring. */
#ifndef CUNEI_WIRE_KEEP_H
#define CUNEI_WIRE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_keep {
    uint64_t size;  /* bytes of each process's ring; 0: everything is kept */
    uint64_t ns;    /* of that, what readers show; 0: all of it */
    bool in_memory; /* the ring lies in /dev/shm */
};

/*
 * Parse "30s", "256M", "30s,256M" or "30s,memory"; -EINVAL: it is none of that, or out
 * of range.
 */
int cunei_keep_parse(struct cunei_keep *keep, const char *text);

/* The size where only a time is asked for. */
#define CUNEI_KEEP_SIZE (UINT64_C(256) << 20)

#endif
