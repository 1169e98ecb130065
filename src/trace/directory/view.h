// SPDX-License-Identifier: MIT
/* What of a process is looked at when its folder is opened. */
#ifndef CUNEI_TRACE_DIRECTORY_VIEW_H
#define CUNEI_TRACE_DIRECTORY_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_trace_view {
    bool without_ring;      /* only find out whether it has one */
    bool has_ring_folder;   /* make stream files of the ring … */
    int ring_folder;        /* … here, instead of copies in memory */
    bool has_until;         /* of a running process, leave out events … */
    uint64_t until_counter; /* … after this, on the counter of the machine */
    uint64_t last_ns;       /* and packets that end longer before it; 0: none */
    uint64_t from_ns;       /* the same for others, on the wall clock */
};

#endif
