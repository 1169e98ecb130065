// SPDX-License-Identifier: MIT
/*
 * The frames that a `stack` or a `switch` event lists, from the bottom up: first
 * `hidden` frames of unknown functions, then those of `functions`.
 */
#ifndef CUNEI_STACK_STACK_VIEW_H
#define CUNEI_STACK_STACK_VIEW_H

#include "wire/event.h"

/* Frames beyond this depth are counted, not kept. */
#define CUNEI_DEPTH_MAX (1u << 20)
/* Of the frames that a `switch` omits, this many are kept: the event is frequent. */
#define CUNEI_SWITCH_HIDDEN_MAX 4096u

struct cunei_stack_view {
    const uint32_t *functions; /* borrowed */
    uint32_t hidden;
    uint32_t depth; /* includes the hidden ones */
    uint32_t end;   /* ids from here on are unknown functions */
};

static inline struct cunei_stack_view cunei_stack_view_of(const uint32_t *functions,
                                                          uint32_t count,
                                                          uint32_t omitted,
                                                          uint32_t end)
{
    uint32_t padding = count > 0 && functions[0] == 0;
    uint32_t hidden = omitted;

    count -= padding;
    if (count > CUNEI_DEPTH_MAX)
        count = CUNEI_DEPTH_MAX;
    if (hidden > CUNEI_DEPTH_MAX - count)
        hidden = CUNEI_DEPTH_MAX - count;
    return (struct cunei_stack_view){functions + padding, hidden, hidden + count, end};
}

static inline struct cunei_stack_view cunei_stack_view_of_stack(
    const struct cunei_stack *event, uint32_t end)
{
    return cunei_stack_view_of(event->functions, event->count, event->omitted, end);
}

static inline struct cunei_stack_view cunei_stack_view_of_switch(
    const struct cunei_switch *event, uint32_t end)
{
    return cunei_stack_view_of(event->functions, event->count,
                               event->omitted < CUNEI_SWITCH_HIDDEN_MAX
                                   ? event->omitted
                                   : CUNEI_SWITCH_HIDDEN_MAX,
                               end);
}

/* The function at a position, from 0; 0: unknown. */
static inline uint32_t cunei_stack_view_function(const struct cunei_stack_view *view,
                                                 uint32_t position)
{
    uint32_t function =
        position < view->hidden ? 0 : view->functions[position - view->hidden];
    return function >= CUNEI_FUNCTION_FIRST && function < view->end ? function : 0;
}

#endif
