// SPDX-License-Identifier: MIT
/*
 * The arguments of open calls in a replay, and the result of the call that ends.
 *
 *     struct cunei_replay_arguments arguments = {.is_json = options->json};
 *     int rc = cunei_replay_arguments_add(&arguments, step);       an argument event
 *     text = cunei_replay_arguments_text(&arguments, frame);       while it is open
 *     cunei_replay_arguments_remove(&arguments, frame);            it has ended
 *     cunei_replay_arguments_fini(&arguments);
 */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_ARGUMENTS_H
#define CUNEI_REPORT_REPLAY_REPLAY_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct cunei_walk_frame;
struct cunei_walk_step;

struct cunei_replay_arguments {
    bool is_json;               /* arguments are kept as JSON objects */
    struct cunei_buffer result; /* of the call that ends; empty: none was recorded */
    /* Private: by the tag of a frame, minus one. */
    struct cunei_buffer *items; /* owned */
    uint32_t count, capacity;
    uint32_t *unused; /* owned: tags of calls that have ended */
    uint32_t unused_count, unused_capacity;
};

void cunei_replay_arguments_fini(struct cunei_replay_arguments *arguments);

/* Keep the argument or the result of an event.  -ENOMEM. */
int cunei_replay_arguments_add(struct cunei_replay_arguments *arguments,
                               const struct cunei_walk_step *step);

/* The arguments of a call: "" where it has none. */
const char *cunei_replay_arguments_text(const struct cunei_replay_arguments *arguments,
                                        const struct cunei_walk_frame *frame);

/* The call has ended: drop its arguments and the result. */
void cunei_replay_arguments_remove(struct cunei_replay_arguments *arguments,
                                   struct cunei_walk_frame *frame);

#endif
