// SPDX-License-Identifier: MIT
/*
 * Which tasks run on a thread: private to the model.
 *
 * A step of a task is known by the place of its coroutine's frame among the functions
 * that are open, and by that frame's function.  It ends when a frame of that function
 * at that place is left, yields or is gone, other than by a switch to another greenlet:
 * what runs there, runs for the task.  Of several steps, the innermost runs.
 *
 * A piece of a stream keeps the first end of each place and function that might be that
 * of a step from before it: of a frame that it found open, or that a switch brought.
 */
#ifndef CUNEI_MODEL_PROFILE_TASK_STEPS_H
#define CUNEI_MODEL_PROFILE_TASK_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "model/facts/tasks.h"

/* How a frame ended. */
enum cunei_ending {
    CUNEI_ENDING_LEAVE,
    CUNEI_ENDING_RAISE,
    CUNEI_ENDING_YIELD,
    CUNEI_ENDING_UNSEEN,
};

/* Private: a step of a task. */
struct cunei_step {
    uint64_t task; /* its number */
    uint32_t position;
    uint32_t slot;
    uint64_t counted; /* up to here it is in the task's facts */
};

/* Private: a frame ended that might be that of a step which began earlier. */
struct cunei_end {
    uint64_t time;
    uint64_t covered; /* ticks in which one of the piece's own steps ran by then */
    uint32_t position;
    uint32_t slot;
    enum cunei_ending ending;
};

/* Private. */
struct cunei_steps {
    struct cunei_step *items; /* owned: those that run, the innermost last */
    uint32_t count, capacity;
    uint64_t since; /* up to here the innermost one's run time is counted */
    uint64_t covered;
    uint64_t first_covered; /* when the first thread ended */
    struct cunei_end *ends; /* owned: of the first thread, in order of time */
    uint32_t end_count, end_capacity;
    struct cunei_map map; /* of position and slot */
};

/* A place of the stack: how many functions are open below the frame, and its slot. */
struct cunei_steps_place {
    uint32_t position;
    uint32_t slot;
    bool is_first; /* on the piece's first thread */
};

/* The frame at a place is a step of a task; `continues_step`: it continues the last
 * one. */
int cunei_steps_begin(struct cunei_tasks *tasks, struct cunei_steps *steps,
                      struct cunei_steps_place place, uint64_t task,
                      bool continues_step, uint64_t time);

/* The frame at the place ended, which is watched (model/profile/profile_stack.h). */
int cunei_steps_end(struct cunei_tasks *tasks, struct cunei_steps *steps,
                    struct cunei_steps_place place, uint64_t time,
                    enum cunei_ending ending);

/* Count what runs up to a time; it may be that of the end of the first thread. */
void cunei_steps_seal(struct cunei_tasks *tasks, struct cunei_steps *steps,
                      bool is_first, uint64_t time);

/* The thread ends: after a seal, its open steps no longer run. */
void cunei_steps_drop(struct cunei_steps *steps);

/* What runs at the end of a piece's thread continues in the first thread of the next
 * piece, from `begin` to `end`. */
int cunei_steps_continue(struct cunei_tasks *tasks, struct cunei_steps *steps,
                         const struct cunei_steps *right, bool is_first, uint64_t begin,
                         uint64_t end);

/* Append the steps of the next piece. */
int cunei_steps_append(struct cunei_steps *steps, const struct cunei_steps *right);
void cunei_steps_fini(struct cunei_steps *steps);

#endif
