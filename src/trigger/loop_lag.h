// SPDX-License-Identifier: MIT
/*
 * The times in which an asyncio event loop was busy: when whatever becomes ready has to
 * wait.
 *
 *     struct cunei_loop_lag lag = {0};
 *     struct cunei_loop_busy busy;
 *     for each step of a walk:
 *         if (cunei_loop_lag_step(&lag, step, roles, role_count, &busy))
 *             … busy.ticks …
 *
 * A loop of asyncio is busy from the end of `select` to the next one, both in
 * BaseEventLoop._run_once.  Where these functions are not recorded, or the loop is
 * another one, a step of a task counts instead.
 */
#ifndef CUNEI_TRIGGER_LOOP_LAG_H
#define CUNEI_TRIGGER_LOOP_LAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_function;
struct cunei_walk_step;

enum cunei_loop_role {
    CUNEI_LOOP_NONE,
    CUNEI_LOOP_RUN_ONCE,
    CUNEI_LOOP_SELECT,
};

enum cunei_loop_role cunei_loop_role_of(const struct cunei_function *function);

struct cunei_loop_lag {
    bool has_select;     /* the loop's own functions are recorded */
    bool is_busy;        /* since: */
    uint64_t since;      /* tick */
    uint64_t longest;    /* ticks of the callback or step that took longest … */
    uint32_t function;   /* … and its function; 0: none has ended */
    bool is_step;        /* the next entry is a step of a task */
    uint32_t step_depth; /* frames up to the outermost step's; 0: none runs */
    uint64_t step_since;
};

struct cunei_loop_busy {
    uint64_t ticks;
    uint32_t function; /* 0: not known */
};

/* `roles` are those of functions by id - CUNEI_FUNCTION_FIRST.  Whether a busy time has
 * ended, or is cut off, with this step. */
bool cunei_loop_lag_step(struct cunei_loop_lag *lag, const struct cunei_walk_step *step,
                         const uint8_t *roles, uint32_t role_count,
                         struct cunei_loop_busy *busy);

/* Whether the loop is busy at the tick `now`. */
bool cunei_loop_lag_now(const struct cunei_loop_lag *lag, uint64_t now,
                        struct cunei_loop_busy *busy);

#endif
