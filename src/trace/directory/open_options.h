// SPDX-License-Identifier: MIT
/* How the folder of a process is opened: with its ring or not, and up to when. */
#ifndef CUNEI_TRACE_DIRECTORY_OPEN_OPTIONS_H
#define CUNEI_TRACE_DIRECTORY_OPEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_trace_open_options {
    bool without_ring;      /* only find out whether it has one */
    bool has_ring_folder;   /* make stream files of the ring … */
    int ring_folder;        /* … here, instead of copies in memory */
    bool has_until;         /* of a running process, leave out events … */
    uint64_t until_counter; /* … after this, on the counter of the machine */
    uint64_t last_ns;       /* and packets that end longer before it; 0: none */
    uint64_t from_ns;       /* the same for others, on the wall clock */
};

#endif
