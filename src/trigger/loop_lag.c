// SPDX-License-Identifier: MIT
#include "trigger/loop_lag.h"

#include <string.h>

#include "model/walk/walk_step.h"
#include "wire/event.h"
#include "wire/metadata.h"

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

enum cunei_loop_role cunei_loop_role_of(const struct cunei_function *function)
{
    if (strcmp(function->module, "asyncio.base_events") == 0 &&
        strcmp(function->qualname, "BaseEventLoop._run_once") == 0)
        return CUNEI_LOOP_RUN_ONCE;
    if (strcmp(function->module, "selectors") == 0 &&
        ends_with(function->qualname, ".select"))
        return CUNEI_LOOP_SELECT;
    return CUNEI_LOOP_NONE;
}

struct view {
    const struct cunei_walk_step *step;
    const uint8_t *roles;
    uint32_t role_count;
};

/* The role of a frame, `above` frames below the one that the step is about. */
static enum cunei_loop_role role_of(const struct view *view, uint32_t above)
{
    if (above >= view->step->depth)
        return CUNEI_LOOP_NONE;
    uint32_t function = view->step->frames[view->step->depth - 1 - above].function;
    uint32_t index = function - CUNEI_FUNCTION_FIRST;
    return index < view->role_count ? (enum cunei_loop_role)view->roles[index]
                                    : CUNEI_LOOP_NONE;
}

static bool is_select(const struct view *view)
{
    return role_of(view, 0) == CUNEI_LOOP_SELECT &&
           role_of(view, 1) == CUNEI_LOOP_RUN_ONCE;
}

static bool end_busy(struct cunei_loop_lag *lag, uint64_t time,
                     struct cunei_loop_busy *busy)
{
    if (!lag->is_busy)
        return false;
    lag->is_busy = false;
    *busy =
        (struct cunei_loop_busy){.ticks = time - lag->since, .function = lag->function};
    return true;
}

static bool enter(struct cunei_loop_lag *lag, const struct view *view,
                  struct cunei_loop_busy *busy)
{
    bool is_step = lag->is_step;

    lag->is_step = false;
    if (is_step && lag->step_depth == 0) {
        lag->step_depth = view->step->depth;
        lag->step_since = view->step->time;
    }
    if (!is_select(view))
        return false;
    lag->has_select = true;
    return end_busy(lag, view->step->time, busy);
}

/* A callback of the loop, or the coroutine of a task, has returned to it. */
static void note_callback(struct cunei_loop_lag *lag, const struct view *view)
{
    const struct cunei_walk_frame *frame = &view->step->frames[view->step->depth - 1];
    uint64_t took = view->step->time - frame->entered;

    if (frame->is_known && took >= lag->longest) {
        lag->longest = took;
        lag->function = frame->function;
    }
}

static bool end_step(struct cunei_loop_lag *lag, const struct cunei_walk_step *step,
                     struct cunei_loop_busy *busy)
{
    if (lag->step_depth == 0 || step->depth != lag->step_depth)
        return false;
    lag->step_depth = 0;
    *busy = (struct cunei_loop_busy){.ticks = step->time - lag->step_since,
                                     .function = step->function};
    return !lag->has_select;
}

static bool leave(struct cunei_loop_lag *lag, const struct view *view,
                  struct cunei_loop_busy *busy)
{
    const struct cunei_walk_step *step = view->step;

    if (is_select(view)) {
        lag->is_busy = true;
        lag->since = step->time;
        lag->longest = 0;
        lag->function = 0;
        return false;
    }
    if (role_of(view, 0) == CUNEI_LOOP_RUN_ONCE)
        return end_busy(lag, step->time, busy);
    if (lag->is_busy && role_of(view, 2) == CUNEI_LOOP_RUN_ONCE)
        note_callback(lag, view);
    return end_step(lag, step, busy);
}

bool cunei_loop_lag_now(const struct cunei_loop_lag *lag, uint64_t now,
                        struct cunei_loop_busy *busy)
{
    bool is_step = !lag->has_select && lag->step_depth > 0;
    uint64_t since = is_step ? lag->step_since : lag->since;

    if ((!lag->is_busy && !is_step) || now < since)
        return false;
    *busy = (struct cunei_loop_busy){.ticks = now - since};
    return true;
}

bool cunei_loop_lag_step(struct cunei_loop_lag *lag, const struct cunei_walk_step *step,
                         const uint8_t *roles, uint32_t role_count,
                         struct cunei_loop_busy *busy)
{
    const struct view view = {step, roles, role_count};

    switch (step->kind) {
    case CUNEI_WALK_ENTER:
        return enter(lag, &view, busy);
    case CUNEI_WALK_LEAVE:
        return leave(lag, &view, busy);
    case CUNEI_WALK_EVENT:
        lag->is_step |= cunei_record_class(step->event[0]) == CUNEI_CLASS_TASK &&
                        cunei_record_phase(step->event[0]) != CUNEI_PHASE_LEAVE;
        return false;
    case CUNEI_WALK_OPEN: {
        bool is_busy = cunei_loop_lag_now(lag, step->time, busy);
        *lag = (struct cunei_loop_lag){0};
        return is_busy;
    }
    case CUNEI_WALK_THREAD:
    case CUNEI_WALK_LOST:
    case CUNEI_WALK_SWITCH:
        *lag = (struct cunei_loop_lag){0};
        return false;
    case CUNEI_WALK_MISSED:
        if (step->depth <= lag->step_depth)
            lag->step_depth = 0;
        return false;
    default:
        return false;
    }
}
