// SPDX-License-Identifier: MIT
/* The open regions of the calling thread, for the stack that a packet begins with. */
#ifndef CUNEI_PROBE_USER_REGION_WALK_H
#define CUNEI_PROBE_USER_REGION_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A walk over the open regions along with the frames, from the innermost outwards;
 * begin with {0}.  With frame NULL: those of frames that were not visited.
 */
struct cunei_region_walk {
    bool is_begun; /* all private */
    size_t left;
    size_t until;
};

/* The id of the next region above `frame`; 0: no more. */
uint32_t cunei_region_next(struct cunei_region_walk *walk, const void *frame);

#endif
