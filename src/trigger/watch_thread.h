// SPDX-License-Identifier: MIT
/* The threads of a stream, one after the other: private to trigger/watch.c. */
#ifndef CUNEI_TRIGGER_WATCH_THREAD_H
#define CUNEI_TRIGGER_WATCH_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trigger/firing.h"
#include "trigger/loop_lag.h"
#include "trigger/place.h"

struct cunei_trace_part;
struct cunei_trace_process;
struct cunei_triggers;
struct cunei_walk;

/* A call, or a busy loop, that has not ended fires after this time at the earliest. */
#define CUNEI_TRIGGER_PATIENCE_NS UINT64_C(10000000000)

#define CUNEI_WATCH_NAME_MAX 127u

/* What is known of the functions of a process. */
struct cunei_watch_functions {
    uint32_t
        *triggers;  /* owned: those that look at each, by id - CUNEI_FUNCTION_FIRST */
    uint8_t *roles; /* owned: enum cunei_loop_role of each */
    uint32_t count, capacity, role_capacity;
};

struct cunei_watch_thread {
    struct cunei_trigger_place place;      /* first: its functions are called with it */
    const struct cunei_triggers *triggers; /* borrowed, as the next two */
    const struct cunei_trigger_listener *listener;
    const struct cunei_watch_functions *functions;
    const struct cunei_trace_process *process; /* as of this poll */
    struct cunei_walk *walk;                   /* owned */
    bool has_begun;                            /* something of the packet was read */
    struct cunei_loop_lag loop;
    uint64_t since_ns;  /* what was before, on the wall clock, does not fire */
    uint64_t now;       /* tick of the step that is looked at */
    bool has_fired_lag; /* for the busy time that is not over */
    uint32_t tid, serial;
    char name[CUNEI_WATCH_NAME_MAX + 1];
};

/* NULL: no memory. */
struct cunei_watch_thread *cunei_watch_thread_new(
    const struct cunei_triggers *triggers,
    const struct cunei_trigger_listener *listener);
void cunei_watch_thread_free(struct cunei_watch_thread *thread);

int cunei_watch_thread_read(struct cunei_watch_thread *thread,
                            const struct cunei_trace_part *part);
int cunei_watch_thread_end(struct cunei_watch_thread *thread);

/* Look at what is open, at this tick. */
void cunei_watch_thread_look(struct cunei_watch_thread *thread, uint64_t now);

#endif
