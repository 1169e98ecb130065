// SPDX-License-Identifier: MIT
/*
 * Keeps a stack of open frames in step with the events of a thread, where an event does
 * not fit what is open: events may be missing, and regions need not nest.
 *
 * The frames belong to the caller, which gives access to them by a constant table of
 * methods; these do what an entry, an end or a loss means to the caller.  A plain entry
 * needs nothing from here.  The rules, for all readers of events:
 *
 *   leave    ends the topmost frame of the function.  If the stack has none, it ends
 *            the innermost frame if the function of that is unknown, or nothing.  Of
 *            several frames of the function in a row, an `unwind` before the leave
 *            says which one.  A function ends the functions above it, whose own leaves
 *            are missing; regions above it, and all that is above a region, stay.
 *   stack    is what is really open.  Frames that are not in it have ended, and frames
 *            that are only in it have begun.
 *
 * What stays open but has to move is put aside from the top and put back.  Inline with
 * a table that the compiler can see, cunei_resync_leave costs what a comparison does.
 */
#ifndef CUNEI_STACK_RESYNC_H
#define CUNEI_STACK_RESYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack/stack_view.h"
#include "wire/id_kind.h"

/* A leave or a yield, or the first member of a struct of the caller. */
struct cunei_resync_leave {
    uint32_t function;
    uint64_t
        run; /* of the `unwind` before it; 0: there was none, or it did not count */
};

/* Functions that change the stack return 0; anything else ends the change. */
struct cunei_resync_methods {
    size_t frame_size; /* of what put_aside keeps */
    bool is_exact;     /* an unknown function matches none but an unknown one */

    uint32_t (*depth)(const void *stack);

    /* The frame at a depth, from 1. */
    uint32_t (*function)(const void *stack, uint32_t depth); /* 0: unknown */
    bool (*is_region)(const void *stack, uint32_t depth);

    /* How many frames of its function are in a row up to it, regions aside. */
    uint32_t (*run)(const void *stack, uint32_t depth);

    /* Whether a function, or 0 for unknown ones, may have a frame. */
    bool (*is_open)(const void *stack, uint32_t function);

    /* The top frame is left. */
    int (*leave)(void *stack, const struct cunei_resync_leave *leave);

    /* The top frame ended, but its leave is missing; by a `stack` or by a leave. */
    int (*miss)(void *stack, bool is_sync);

    /* Remove the top frame, to be put back. */
    int (*put_aside)(void *stack, void *frame, bool is_sync);
    int (*put_back)(void *stack, const void *frame, bool is_sync);

    /* These only for cunei_resync_stack.  The function of a frame that may have been
     * unknown; what depends on the frames below may have changed.  NULL: is_exact. */
    int (*name)(void *stack, uint32_t depth, uint32_t function);

    /* A frame put aside is of this function; NULL: is_exact. */
    void (*name_aside)(void *frame, uint32_t function);

    /* All frames that are still open are on the stack, and no others.  May be NULL. */
    int (*settle)(void *stack);

    /* A frame is open whose entry is missing. */
    int (*find)(void *stack, uint32_t function);
};

/* The same for a frame at a depth that is not the top. */
int cunei_resync_leave_below(const struct cunei_resync_methods *methods, void *stack,
                             const struct cunei_resync_leave *leave, uint32_t depth);

/* Make the stack what `view` lists.  -ENOMEM, or what a method returned. */
int cunei_resync_stack(const struct cunei_resync_methods *methods, void *stack,
                       const struct cunei_id_kinds *kinds,
                       const struct cunei_stack_view *view);

/* The depth of the innermost function, from a depth downwards; 0: there is none. */
static inline uint32_t cunei_resync_function_below(
    const struct cunei_resync_methods *methods, const void *stack, uint32_t depth)
{
    while (depth > 0 && methods->is_region(stack, depth))
        depth--;
    return depth;
}

/* The depth of the frame that a leave with a `run` ends; 0: it is not open. */
uint32_t cunei_resync_unwound_depth(const struct cunei_resync_methods *methods,
                                    const void *stack,
                                    const struct cunei_resync_leave *leave);

/* The depth of the frame that a leave ends, from 1; 0: it is not open. */
static inline uint32_t cunei_resync_left_depth(
    const struct cunei_resync_methods *methods, const void *stack,
    const struct cunei_resync_leave *leave, bool is_region)
{
    uint32_t depth = methods->depth(stack);

    if (leave->run > 0 && !is_region)
        return cunei_resync_unwound_depth(methods, stack, leave);
    if (depth > 0 && methods->function(stack, depth) == leave->function)
        return depth;
    if (methods->is_open(stack, leave->function)) {
        while (depth > 0 && methods->function(stack, depth) != leave->function)
            depth--;
        return depth;
    }
    depth = is_region ? 0 : cunei_resync_function_below(methods, stack, depth);
    return depth > 0 && methods->function(stack, depth) == 0 ? depth : 0;
}

/* End the frame at a depth. */
static inline int cunei_resync_leave_at(const struct cunei_resync_methods *methods,
                                        void *stack,
                                        const struct cunei_resync_leave *leave,
                                        uint32_t depth)
{
    return depth == methods->depth(stack)
               ? methods->leave(stack, leave)
               : cunei_resync_leave_below(methods, stack, leave, depth);
}

#endif
