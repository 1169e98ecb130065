// SPDX-License-Identifier: MIT
/*
 * Events that may change more of a piece's stack than its top: private to the model.
 * The rules are those of stack/resync.h.
 */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_RESYNC_H
#define CUNEI_MODEL_PROFILE_PROFILE_RESYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile/profile_data.h"

/* A leave or a yield, at the time of the piece's last event. */
struct cunei_leave {
    uint32_t slot;
    bool is_yield;
    bool is_unwind; /* an `unwind` event with `run` came before it … */
    bool is_close;  /* … which says that this is a good end */
    uint64_t run;
};

/* Time has passed up to this event (cunei_profile_stack_pass). */
int cunei_profile_leave(struct cunei_profile *profile, struct cunei_piece *piece,
                        const struct cunei_leave *event);

/* A `stack` event; NULL: nothing is open. */
int cunei_profile_sync(struct cunei_profile *profile, struct cunei_piece *piece,
                       const struct cunei_stack *stack, uint64_t time);

/* A `switch` event: the activations of all open frames end, as if they yielded, and
 * those of the frames that are open now begin, as if they were resumed. */
int cunei_profile_switch(struct cunei_profile *profile, struct cunei_piece *piece,
                         const struct cunei_switch *event, uint64_t time);

#endif
