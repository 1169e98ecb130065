// SPDX-License-Identifier: MIT
/*
 * Counts the events and times of each function, by caller, in packets that were just
 * written.  The budget decides by these; nothing is counted while an event is written.
 *
 *     cunei_observer_read(&observer, begin, words, count);    (packets, in any order)
 *     for (i < observer.touched_count)
 *         … observer.functions[observer.touched[i]] …
 *     cunei_observer_clear(&observer);
 *
 * No Python in it.  One thread at a time uses an observer.
 */
#ifndef CUNEI_PROBE_BUDGET_OBSERVE_H
#define CUNEI_PROBE_BUDGET_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callers of a function that are counted apart. */
#define CUNEI_OBSERVED_CALLERS 3u

struct cunei_observed_caller {
    uint32_t function;
    uint32_t calls;
    uint64_t self; /* of the callee */
};

struct cunei_observed {
    uint64_t self;   /* ticks on top of the stack */
    uint64_t total;  /* ticks anywhere in it, recursion counted once */
    uint64_t events; /* of its own, each of which costs something */
    uint64_t inner;  /* of its callees: half of what these cost is in its self */
    uint64_t calls, resumes;
    uint64_t first; /* tick of the first of its events */
    struct cunei_observed_caller callers[CUNEI_OBSERVED_CALLERS];
    uint64_t alone_calls, alone_self; /* while its caller was unknown */
    uint64_t opened;                  /* private, as the next two */
    uint32_t open;
    bool is_touched;
};

struct cunei_observer {
    struct cunei_observed *functions; /* owned: by id, from CUNEI_FUNCTION_FIRST on */
    uint32_t capacity;
    uint32_t *touched; /* owned: places of those with events */
    uint32_t touched_count;
    uint64_t events; /* of functions, and all others */
    uint64_t last;   /* tick of the last one */
    bool failed;     /* no memory: what was read is not complete */
};

/* The events of a packet that begins at `begin`, its `stack` first. */
void cunei_observer_read(struct cunei_observer *observer, uint64_t begin,
                         const uint64_t *words, size_t count);

/* The counts of a function; NULL: it had no events. */
const struct cunei_observed *cunei_observer_find(const struct cunei_observer *observer,
                                                 uint32_t function);

/* Forget what was read. */
void cunei_observer_clear(struct cunei_observer *observer);
void cunei_observer_fini(struct cunei_observer *observer);

#endif
