// SPDX-License-Identifier: MIT
/*
 * The tasks of a process: how long each ran and waited, in how many steps.
 *
 * A step lasts from the entry or resumption of a task's outermost coroutine to its end
 * or next suspension (model/profile/task_steps.h finds them).  A task that starts
 * another one at once, which then runs inside it, does not run itself meanwhile.  Task
 * 0 takes what finds no place: their number is capped, and a missing allocation is
 * treated in the same way.
 */
#ifndef CUNEI_MODEL_FACTS_TASKS_H
#define CUNEI_MODEL_FACTS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define CUNEI_TASKS_MAX (1u << 20)
/* Of a task's name, this many bytes. */
#define CUNEI_TASK_NAME_MAX 1024u

struct cunei_task_facts {
    uint64_t number;
    char *name;        /* owned: its latest name; NULL: it has none */
    uint64_t named_at; /* ticks, as all times; valid with a name */
    uint32_t slot;     /* of its coroutine's function; 0: unknown */
    bool has_ended;    /* its coroutine did … */
    bool has_raised;   /* … by an exception, its cancellation for instance */
    uint64_t steps;    /* that were seen to begin */
    uint64_t run;      /* while it was the innermost task that ran */
    uint64_t busy;     /* in steps: with the tasks that ran inside them */
    uint64_t first;    /* begin of its first step … */
    uint64_t last;     /* … and the end of its last one, or of what is known of it */
};

struct cunei_tasks {
    struct cunei_task_facts *items; /* owned */
    uint32_t count;                 /* with task 0, as soon as there is one */
    uint32_t capacity;
    uint64_t forgotten;   /* tasks that were dropped */
    struct cunei_map map; /* private: of numbers */
};

void cunei_tasks_fini(struct cunei_tasks *tasks);

/* The index of a task, made if there is none; 0: no place for it. */
uint32_t cunei_tasks_find(struct cunei_tasks *tasks, uint64_t number);

/* A task has been called so since `time`; at most `size` bytes, up to a NUL. */
void cunei_tasks_name(struct cunei_tasks *tasks, uint32_t index, const char *name,
                      size_t size, uint64_t time);

/* A step of a task began, in its coroutine `slot`, or its last step continues there. */
void cunei_tasks_begin(struct cunei_task_facts *task, uint32_t slot,
                       bool continues_step, uint64_t time);

/* It was there at `time`; whether that was its end, and one by an exception. */
void cunei_tasks_see(struct cunei_task_facts *task, uint64_t time, bool has_ended,
                     bool has_raised);

/* Add what another piece of the same process knows. */
void cunei_tasks_add(struct cunei_tasks *tasks, const struct cunei_tasks *other);

/*
 * Drop tasks that have ended, but for the `keep` that ended last, if there are more
 * than twice as many.  A live view keeps its memory so.
 */
void cunei_tasks_forget(struct cunei_tasks *tasks, uint32_t keep);

/* How long it waited between its first step and its last. */
uint64_t cunei_tasks_wait(const struct cunei_task_facts *task);

#endif
