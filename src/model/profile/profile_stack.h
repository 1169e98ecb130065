// SPDX-License-Identifier: MIT
/*
 * The stack of the thread that a piece is reading: private to the model.
 *
 * profile.c does a plain entry and a plain leave itself; these are for the rest.  They
 * happen at the time of the piece's last event, up to which cunei_profile_stack_pass
 * has accounted for the time.
 */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_STACK_H
#define CUNEI_MODEL_PROFILE_PROFILE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile/profile_data.h"

/*
 * Times end below 2⁶².  With this bit, `entered` is of a frame that the loop in
 * profile.c must not leave by itself: the piece did not see its entry, or it is a
 * task's.
 */
#define CUNEI_FRAME_WATCHED (UINT64_C(1) << 63)
/* The same, and when it was entered is not known.  The lower half is which of what the
 * piece found open it is, from 1; 0: none of that. */
#define CUNEI_FRAME_UNKNOWN (UINT64_C(3) << 62)

/* Time passes up to `time`, on top of the stack. */
void cunei_profile_stack_pass(struct cunei_profile *profile, struct cunei_piece *piece,
                              uint64_t time);

/* The node of the call tree that the outermost functions of a thread are below. */
uint32_t cunei_profile_stack_ground(const struct cunei_profile *profile,
                                    const struct cunei_thread *thread);

/* Room for one more frame; false: the limit is reached, or there is no memory. */
bool cunei_profile_stack_reserve(struct cunei_piece *piece);

/* One more frame; `entered` as it is kept in it.  Nothing is counted. */
int cunei_profile_stack_open(struct cunei_profile *profile, struct cunei_piece *piece,
                             uint32_t slot, uint64_t entered);

/* Set what a frame has from the frame below it. */
void cunei_profile_stack_place(const struct cunei_profile *profile,
                               struct cunei_frame *frame);

/* Count the entry or resumption of the top frame. */
void cunei_profile_stack_count(struct cunei_profile *profile,
                               const struct cunei_piece *piece, bool is_call);

/* Remove the top frame and nothing else; or a frame whose end was not recorded. */
void cunei_profile_stack_drop(struct cunei_profile *profile, struct cunei_piece *piece);
int cunei_profile_stack_lose(struct cunei_profile *profile, struct cunei_piece *piece);

/* End the step of a task that a frame may be, after it was removed. */
int cunei_profile_stack_end_step(struct cunei_profile *profile,
                                 struct cunei_piece *piece,
                                 const struct cunei_frame *frame, uint32_t slot,
                                 enum cunei_ending ending);

/* Count how long the top frame's activation took, which is of `slot` even if the
 * function of the frame was unknown until now. */
int cunei_profile_stack_sample_top(struct cunei_profile *profile,
                                   struct cunei_piece *piece, uint32_t slot);

/* An entry or a resumption of a frame that is watched, or of a region; there may be no
 * room for it. */
int cunei_profile_stack_enter(struct cunei_profile *profile, struct cunei_piece *piece,
                              uint32_t slot, bool is_call);

/* Account for what is open up to the last event, and forget in `profile` that it is. */
void cunei_profile_stack_seal(struct cunei_profile *profile,
                              const struct cunei_piece *piece);

/* The opposite: what is open stays so from the last event on. */
void cunei_profile_stack_reopen(struct cunei_profile *profile,
                                const struct cunei_piece *piece);

/* One activation of a function took that long. */
int cunei_profile_stack_sample(struct cunei_profile *profile, uint32_t slot,
                               uint64_t ticks);

/* Remember that an activation of an inherited frame ended. */
int cunei_profile_stack_add_closing(struct cunei_piece *piece,
                                    struct cunei_closing closing);

static inline bool cunei_frame_is_watched(const struct cunei_frame *frame)
{
    return frame->entered & CUNEI_FRAME_WATCHED;
}

static inline bool cunei_frame_is_unknown(const struct cunei_frame *frame)
{
    return frame->entered >= CUNEI_FRAME_UNKNOWN;
}

static inline uint32_t cunei_frame_origin(const struct cunei_frame *frame)
{
    return cunei_frame_is_unknown(frame) ? (uint32_t)frame->entered : 0;
}

/* The place of a step that a frame may be, which is one of `slot`. */
static inline struct cunei_steps_place cunei_profile_stack_step(
    const struct cunei_piece *piece, const struct cunei_frame *frame, uint32_t slot)
{
    return (struct cunei_steps_place){frame->level - 1, slot, piece->thread_count == 1};
}

static inline bool cunei_slot_is_region(const struct cunei_profile *profile,
                                        uint32_t slot)
{
    return __builtin_expect(profile->kinds.items != NULL, 0) &&
           cunei_id_kinds_is_region(&profile->kinds, cunei_slot_function(slot));
}

/* The id of the function of a frame with that slot; 0: it is not known. */
static inline uint32_t cunei_slot_known_function(uint32_t slot)
{
    return slot ? cunei_slot_function(slot) : 0;
}

/* The slot of a function's id; 0: it has none. */
static inline uint32_t cunei_slot_of(const struct cunei_profile *profile,
                                     uint32_t function)
{
    uint32_t slot = function - (CUNEI_FUNCTION_FIRST - 1);
    return function >= CUNEI_FUNCTION_FIRST && slot < profile->slot_count ? slot : 0;
}

#endif
