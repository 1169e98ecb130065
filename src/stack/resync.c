// SPDX-License-Identifier: MIT
#include "stack/resync.h"

#include <errno.h>
#include <stdlib.h>

#include "stack/stack_match.h"

uint32_t cunei_resync_unwound_depth(const struct cunei_resync_methods *methods,
                                    const void *stack,
                                    const struct cunei_resync_leave *leave)
{
    uint32_t top = cunei_resync_function_below(methods, stack, methods->depth(stack));
    uint64_t count = top > 0 && methods->function(stack, top) == leave->function
                         ? methods->run(stack, top)
                         : 0;
    uint32_t depth = top;

    for (uint64_t i = count; i > leave->run; i--)
        depth = cunei_resync_function_below(methods, stack, depth - 1);
    if (count >= leave->run)
        return depth;
    /* Frames of an unknown function below these may be of this one. */
    for (uint64_t i = count; i > 0; i--)
        depth = cunei_resync_function_below(methods, stack, depth - 1);
    return depth > 0 && methods->function(stack, depth) == 0 ? top : 0;
}

int cunei_resync_leave_below(const struct cunei_resync_methods *methods, void *stack,
                             const struct cunei_resync_leave *leave, uint32_t depth)
{
    bool is_region = methods->is_region(stack, depth);
    size_t above = methods->depth(stack) - depth, kept = 0;
    int rc = 0;

    char *aside = malloc((above + 1) * methods->frame_size);
    if (!aside)
        return -ENOMEM;
    while (rc == 0 && methods->depth(stack) > depth) {
        if (is_region || methods->is_region(stack, methods->depth(stack)))
            rc = methods->put_aside(stack, aside + kept++ * methods->frame_size, false);
        else
            rc = methods->miss(stack, false);
    }
    if (rc == 0)
        rc = methods->leave(stack, leave);
    while (rc == 0 && kept > 0)
        rc = methods->put_back(stack, aside + --kept * methods->frame_size, false);
    free(aside);
    return rc;
}

/* A change of a stack to what a view lists. */
struct change {
    const struct cunei_resync_methods *methods;
    void *stack;
    const struct cunei_stack_view *view;
    uint32_t common;        /* number of frames from the bottom that are in both */
    uint32_t *here, *there; /* owned where regions are open: the functions of both, … */
    uint32_t *map; /* … and a depth in the stack for each of the view, or 0 */
    char *aside;   /* owned: frames that are put aside, by depth - 1 */
};

static bool is_same(const struct change *change, uint32_t here, uint32_t there)
{
    return here == there || (!change->methods->is_exact && (here == 0 || there == 0));
}

static uint32_t common_depth(const struct change *change)
{
    const struct cunei_resync_methods *methods = change->methods;
    uint32_t depth = methods->depth(change->stack), common = 0;

    depth = depth < change->view->depth ? depth : change->view->depth;
    if (!methods->is_exact)
        common = change->view->hidden < depth ? change->view->hidden : depth;
    while (common < depth &&
           is_same(change, methods->function(change->stack, common + 1),
                   cunei_stack_view_function(change->view, common)))
        common++;
    return common;
}

/* Where regions are open, frames of the view may be elsewhere in the stack. */
static int match(struct change *change, const struct cunei_id_kinds *kinds)
{
    const struct cunei_resync_methods *methods = change->methods;
    uint32_t depth = methods->depth(change->stack), count = change->view->depth;

    change->here = malloc(((size_t)depth + 2 * (size_t)count + 1) * sizeof(uint32_t));
    change->aside = malloc((depth + (size_t)1) * methods->frame_size);
    if (!change->here || !change->aside)
        return -ENOMEM;
    change->there = change->here + depth;
    change->map = change->there + count;
    for (uint32_t i = 0; i < depth; i++)
        change->here[i] = methods->function(change->stack, i + 1);
    for (uint32_t i = 0; i < count; i++)
        change->there[i] = cunei_stack_view_function(change->view, i);
    (void)cunei_stack_match(kinds, change->here, depth, change->there, count,
                            change->map);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = change->map[i];
        if (place > 0 && !is_same(change, change->here[place - 1], change->there[i]))
            change->map[i] = 0;
    }
    change->common = 0;
    while (change->common < count && change->map[change->common] == change->common + 1)
        change->common++;
    return 0;
}

static int name_frames(const struct change *change)
{
    const struct cunei_resync_methods *methods = change->methods;
    int rc = 0;

    if (methods->is_exact || !methods->is_open(change->stack, 0))
        return 0;
    for (uint32_t i = change->view->hidden; rc == 0 && i < change->common; i++)
        rc = methods->name(change->stack, i + 1,
                           cunei_stack_view_function(change->view, i));
    return rc;
}

/* The place of what is kept of the frame that the view lists at a position, or NULL. */
static char *aside_of(const struct change *change, uint32_t position)
{
    uint32_t depth = change->map ? change->map[position] : 0;

    return depth > 0 ? change->aside + (depth - 1) * change->methods->frame_size : NULL;
}

/* End the frames above the common ones; put those aside that are still open. */
static int take_down(struct change *change)
{
    const struct cunei_resync_methods *methods = change->methods;
    int rc = 0;

    for (uint32_t i = change->common; change->map && i < change->view->depth; i++) {
        if (change->map[i] > 0)
            change->here[change->map[i] - 1] = UINT32_MAX;
    }
    for (uint32_t depth;
         rc == 0 && (depth = methods->depth(change->stack)) > change->common;) {
        if (change->map && change->here[depth - 1] == UINT32_MAX)
            rc = methods->put_aside(
                change->stack, change->aside + (depth - 1) * methods->frame_size, true);
        else
            rc = methods->miss(change->stack, true);
    }
    return rc;
}

/* Put back what is still open, with what has begun beside it if `is_all`. */
static int build(const struct change *change, bool is_all)
{
    const struct cunei_resync_methods *methods = change->methods;
    int rc = 0;

    for (uint32_t i = change->common; rc == 0 && i < change->view->depth; i++) {
        uint32_t function = cunei_stack_view_function(change->view, i);
        char *aside = aside_of(change, i);
        if (aside && function != 0 && !methods->is_exact)
            methods->name_aside(aside, function);
        if (aside)
            rc = methods->put_back(change->stack, aside, true);
        else if (is_all)
            rc = methods->find(change->stack, function);
    }
    return rc;
}

/* Frames that are still open were open, in the new order, since the last event. */
static int settle(const struct change *change)
{
    const struct cunei_resync_methods *methods = change->methods;

    if (!methods->settle)
        return 0;
    int rc = change->map ? build(change, false) : 0;
    if (rc == 0)
        rc = methods->settle(change->stack);
    for (uint32_t i = change->view->depth;
         change->map && rc == 0 && i > change->common;) {
        char *aside = aside_of(change, --i);
        if (aside)
            rc = methods->put_aside(change->stack, aside, true);
    }
    return rc;
}

static bool has_regions(const struct change *change, const struct cunei_id_kinds *kinds)
{
    const struct cunei_stack_view *view = change->view;
    bool has =
        cunei_stack_has_regions(kinds, view->functions, view->depth - view->hidden);

    if (!kinds->items)
        return false;
    for (uint32_t i = change->methods->depth(change->stack); !has && i > 0; i--)
        has = change->methods->is_region(change->stack, i);
    return has;
}

int cunei_resync_stack(const struct cunei_resync_methods *methods, void *stack,
                       const struct cunei_id_kinds *kinds,
                       const struct cunei_stack_view *view)
{
    struct change change = {.methods = methods, .stack = stack, .view = view};
    int rc = 0;

    if (has_regions(&change, kinds))
        rc = match(&change, kinds);
    else
        change.common = common_depth(&change);
    if (rc == 0)
        rc = take_down(&change);
    if (rc == 0)
        rc = settle(&change);
    if (rc == 0)
        rc = name_frames(&change);
    if (rc == 0)
        rc = build(&change, true);
    free(change.here);
    free(change.aside);
    return rc;
}
