// SPDX-License-Identifier: MIT
/*
 * The stack of the thread that a span is reading: private to the model.
 *
 * These are the rare ways; profile.c does a plain entry and a plain leave itself.  All
 * of them expect the time since the last event to be accounted for (cunei_stack_pass),
 * but for cunei_stack_sync and cunei_stack_switch, which do it.
 */
#ifndef CUNEI_MODEL_PROFILE_STACK_H
#define CUNEI_MODEL_PROFILE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

/*
 * Times end below 2⁶².  With this bit, `entered` is of a frame that the loop in
 * profile.c must not leave by itself: the span did not see its entry, or it is a
 * task's.
 */
#define CUNEI_FRAME_WATCHED (UINT64_C(1) << 63)
/* The same, and when it was entered is not known.  The lower half is which of what the
 * span found open it is, from 1; 0: none of that. */
#define CUNEI_FRAME_UNKNOWN (UINT64_C(3) << 62)

/* A leave or a yield. */
struct cunei_leave {
    uint32_t slot;
    bool is_yield;
    bool is_unwind; /* an `unwind` event with `run` came before it … */
    bool is_close;  /* … which says that this is a good end */
    uint64_t run;
    uint64_t time;
};

/* Time passes up to `time`, on top of the stack. */
void cunei_stack_pass(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time);

/* Room for one more frame; false: there is none to be had. */
bool cunei_stack_reserve(struct cunei_span *span);

/* One more frame; `entered` as it is kept in it.  Nothing is counted. */
int cunei_stack_open(struct cunei_profile *profile, struct cunei_span *span,
                     uint32_t slot, uint64_t entered, uint64_t time);

/* Count the entry or resumption of the top frame. */
void cunei_stack_count(struct cunei_profile *profile, const struct cunei_span *span,
                       bool is_call);

/* Remove the top frame without saying how long it took; or one that ended unseen. */
void cunei_stack_drop(struct cunei_profile *profile, struct cunei_span *span,
                      uint64_t time);
int cunei_stack_lose(struct cunei_profile *profile, struct cunei_span *span,
                     uint64_t time);

/* Say how long the top frame's stretch took, which is one of `slot` even if that was
 * not known so far. */
int cunei_stack_sample_top(struct cunei_profile *profile, struct cunei_span *span,
                           uint32_t slot, uint64_t time);

/* An entry or a resumption of a frame that is watched, or of a region; it may be one
 * too many. */
int cunei_stack_enter(struct cunei_profile *profile, struct cunei_span *span,
                      uint32_t slot, bool is_call, uint64_t time);
int cunei_stack_leave(struct cunei_profile *profile, struct cunei_span *span,
                      const struct cunei_leave *leave);

/* A `stack` event: what is really open.  NULL: nothing is. */
int cunei_stack_sync(struct cunei_profile *profile, struct cunei_span *span,
                     const struct cunei_stack *stack, uint64_t time);

/*
 * A `switch` event: the stretches of all that is open end, as if it yielded, and those
 * of what is open now begin, as if it were resumed.
 */
int cunei_stack_switch(struct cunei_profile *profile, struct cunei_span *span,
                       const struct cunei_switch *change, uint64_t time);

/* Account for what is open up to the last event, and forget in `profile` that it is. */
void cunei_stack_seal(struct cunei_profile *profile, const struct cunei_span *span);

/* One activation of a function took that long. */
int cunei_stack_sample(struct cunei_profile *profile, uint32_t slot, uint64_t ticks);

/* Remember that a stretch of an inherited frame ended. */
int cunei_stack_add_closing(struct cunei_span *span, struct cunei_closing closing);

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

static inline bool cunei_slot_is_region(const struct cunei_profile *profile,
                                        uint32_t slot)
{
    return __builtin_expect(profile->kinds.items != NULL, 0) &&
           cunei_id_kinds_is_region(&profile->kinds, cunei_slot_function(slot));
}

/* The slot of a function's id; 0: it has none. */
static inline uint32_t cunei_slot_of(const struct cunei_profile *profile,
                                     uint32_t function)
{
    uint32_t slot = function - (CUNEI_FUNCTION_FIRST - 1);
    return function >= CUNEI_FUNCTION_FIRST && slot < profile->slot_count ? slot : 0;
}

#endif
