// SPDX-License-Identifier: MIT
/*
 * Flights of exceptions: from where one is raised to who takes it, and on from there
 * where that one lets it go.
 *
 * An exception that flies is in a list of its thread.  One that has landed, or has
 * ended a frame, is also in a table for all threads: whoever kept it may raise it
 * again, as futures do.  Nothing here refers to an object.  Pointers are compared and
 * never followed, and what is old is forgotten.
 */
#ifndef CUNEI_PROBE_FLIGHT_H
#define CUNEI_PROBE_FLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/line.h"

#define CUNEI_FLIGHT_TYPE_MAX 200u

struct cunei_flight {
    const void *exception;
    const void *owner; /* the flights of the thread that put it into the table */
    const void *type;
    const void *raised_by; /* the code that the traceback begins with */
    const void *seen_by;   /* the code that was added to it last */
    const void *traceback; /* that a group has where it lands; else NULL */
    /* Only where an evaluator of frames tells of it (probe/passing.h). */
    const void *head;   /* its traceback when it was seen last */
    const void *object; /* the exception, once it is one: `exception` is where the
                           traceback ends */
    bool is_stop;       /* a StopIteration */
    uint32_t function;
    uint32_t line;
    uint32_t handler; /* who took it last */
    uint32_t handler_line;
    uint32_t unwound; /* frames that it has ended */
    uint32_t depth;   /* of the frame in which it was seen last */
    bool is_landed;
    bool is_shared; /* it is in the table */
    bool is_bare;   /* it has no traceback */
};

/* One that flies; its type's name, because it may be dead when that is told. */
struct cunei_flying {
    struct cunei_flight flight;
    size_t type_size;
    char type[CUNEI_FLIGHT_TYPE_MAX + 1];
};

/* Exceptions that fly in one thread at once: a destructor may raise while one does. */
#define CUNEI_FLIGHTS_MAX 8

/* Groups that landed: what `except*` leaves of one has its traceback. */
#define CUNEI_FLIGHT_GROUPS 8u

/* Those of a thread.  Private but for `lines`. */
struct cunei_flights {
    unsigned recording; /* that they are of */
    unsigned count;
    unsigned group_count; /* of all that landed */
    struct cunei_lines lines;
    struct cunei_flight groups[CUNEI_FLIGHT_GROUPS]; /* the last ones of them */
    struct cunei_flying items[CUNEI_FLIGHTS_MAX];    /* in the order of their begin */
};

/* Made at the first exception; in the static part of the thread's storage. */
extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct cunei_flights *cunei_flights_mine;

/*
 * Whose flights are in the table, in sets by their addresses.  They are apart from what
 * is known of them: each exception is looked for.
 */
#define CUNEI_FLIGHT_SET_BITS 8
#define CUNEI_FLIGHT_WAYS     4u

extern __attribute__((visibility("hidden"))) struct cunei_flight_table {
    atomic_bool is_used; /* one has flown in this recording, in any thread */
    const void *_Atomic exceptions[1u << CUNEI_FLIGHT_SET_BITS][CUNEI_FLIGHT_WAYS];
} cunei_flight_table;

static inline size_t cunei_flight_set(const void *exception)
{
    uint64_t hash = (uint64_t)(uintptr_t)exception * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> (64 - CUNEI_FLIGHT_SET_BITS);
}

/* Which of the set's ways `wanted` has; CUNEI_FLIGHT_WAYS: none. */
static inline size_t cunei_flight_way_of(size_t set, const void *wanted)
{
    size_t way = 0;

    while (way < CUNEI_FLIGHT_WAYS &&
           atomic_load_explicit(&cunei_flight_table.exceptions[set][way],
                                memory_order_relaxed) != wanted)
        way++;
    return way;
}

/* Forget all flights of all threads; while nothing is recorded. */
void cunei_flights_reset(void);

/* The calling thread's; NULL: no memory. */
struct cunei_flights *cunei_flights_own(void);

/* The flight of an exception, lent until another begins or ends; NULL: none. */
struct cunei_flying *cunei_flights_find(struct cunei_flights *flights,
                                        const void *exception);

/*
 * One that must be over when another begins at `depth`, lent as above: it had come that
 * far already, or there is no room for both.  NULL: none.
 */
struct cunei_flying *cunei_flights_find_over(struct cunei_flights *flights,
                                             uint32_t depth);

/* Add one, lent as above; there is room. */
struct cunei_flying *cunei_flights_add(struct cunei_flights *flights,
                                       const struct cunei_flight *flight);

/* Put one into the table, for other threads to find. */
void cunei_flights_share(struct cunei_flights *flights, struct cunei_flight *flight);

/* It has landed: from the list into the table. */
void cunei_flights_land(struct cunei_flights *flights, struct cunei_flying *flying);

/* The last one that landed with this traceback, lent until another does; or NULL. */
const struct cunei_flight *cunei_flights_find_group(const struct cunei_flights *flights,
                                                    const void *traceback);

/* Forget it: it is in the hands of another thread. */
void cunei_flights_remove(struct cunei_flights *flights, struct cunei_flying *flying);

/*
 * Whether it flies in this thread, or has landed somewhere, or one at its address.
 * `is_group`: also whether it may be what is left of one, which is another object.
 */
bool cunei_flight_is_known(const void *exception, bool is_group);

/*
 * Whether that must be asked at all.  Where not, it is unheard of: exceptions that fly
 * through code that is not recorded all come by here.
 */
static inline bool cunei_flight_may_be_known(const void *exception)
{
    /* Who hands an exception to another thread does that with a lock of its own. */
    if (!atomic_load_explicit(&cunei_flight_table.is_used, memory_order_relaxed))
        return false;
    if (cunei_flights_mine &&
        (cunei_flights_mine->count | cunei_flights_mine->group_count))
        return true;
    return cunei_flight_way_of(cunei_flight_set(exception), exception) <
           CUNEI_FLIGHT_WAYS;
}

/* What the table has for an exception; false: nothing. */
bool cunei_flight_look_up(const void *exception, struct cunei_flight *flight);

/* Take it out of the table; false: it is not there, or not the owner's (NULL: any). */
bool cunei_flight_take(const void *exception, const void *owner);

#endif
