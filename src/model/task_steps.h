// SPDX-License-Identifier: MIT
/*
 * Which tasks run on a thread: private to the model.
 *
 * A step of a task is told by the place of its coroutine's frame among the functions
 * that are open, and by that frame's function.  It ends when a frame of that function
 * at that place is left, yields or is gone, other than by a switch to another greenlet:
 * what runs there, runs for the task.  Of several steps, the innermost runs.
 *
 * A piece of a stream keeps the first end of each place and function that might be that
 * of a step from before it: of a frame that it found open, or that a switch brought.
 */
#ifndef CUNEI_MODEL_TASK_STEPS_H
#define CUNEI_MODEL_TASK_STEPS_H

#include "model/profile.h"

/* The frame on top of the stack is a step of a task; `goes_on`: its last one. */
int cunei_steps_begin(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t task, bool goes_on, uint64_t time);

/* The frame at the place ended, which is watched (model/profile_stack.h). */
int cunei_steps_end(struct cunei_profile *profile, struct cunei_span *span,
                    uint32_t position, uint32_t slot, uint64_t time,
                    enum cunei_ending ending);

/* Count what runs up to the last event. */
void cunei_steps_seal(struct cunei_profile *profile, struct cunei_span *span);

/* The thread ends: after a seal, what runs on it does so no longer. */
void cunei_steps_drop(struct cunei_span *span);

/* Append the steps of the piece that follows; `is_same`: on the same thread. */
int cunei_steps_join(struct cunei_profile *profile, struct cunei_span *left,
                     const struct cunei_span *right, bool is_same);
void cunei_steps_fini(struct cunei_steps *steps);

#endif
