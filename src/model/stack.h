// SPDX-License-Identifier: MIT
/*
 * The stack of the thread that a span is reading: private to the model.
 *
 * These are the rare ways; profile.c does a plain entry and a plain leave itself.  All
 * of them expect the time since the last event to be accounted for (cunei_stack_pass),
 * but for cunei_stack_sync, which does it.
 */
#ifndef CUNEI_MODEL_STACK_H
#define CUNEI_MODEL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

#define CUNEI_TIME_UNKNOWN UINT64_MAX

/* Time passes up to `time`, on top of the stack. */
void cunei_stack_pass(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time);

/* Room for one more frame; false: there is none to be had. */
bool cunei_stack_reserve(struct cunei_span *span);

/* A leave or a yield; `unwind` where an `unwind` event with `run` came before it. */
int cunei_stack_leave(struct cunei_profile *profile, struct cunei_span *span,
                      uint32_t slot, uint64_t time, bool unwind, uint64_t run);

/* A `stack` event: what is really open.  NULL: nothing is. */
int cunei_stack_sync(struct cunei_profile *profile, struct cunei_span *span,
                     const struct cunei_stack *stack, uint64_t time);

/* Account for what is open up to the last event, and forget in `profile` that it is. */
void cunei_stack_seal(struct cunei_profile *profile, const struct cunei_span *span);

/* One activation of a function took that long. */
int cunei_stack_sample(struct cunei_profile *profile, uint32_t slot, uint64_t ticks);

/* Remember that an inherited frame was left. */
int cunei_stack_add_closing(struct cunei_span *span, struct cunei_closing closing);

#endif
