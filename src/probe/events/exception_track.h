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
#ifndef CUNEI_PROBE_EVENTS_EXCEPTION_TRACK_H
#define CUNEI_PROBE_EVENTS_EXCEPTION_TRACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/code/line.h"

#define CUNEI_EXCEPTION_TRACK_TYPE_MAX 200u

struct cunei_exception_track {
    const void *exception;
    const void *owner; /* the flights of the thread that put it into the table */
    const void *type;
    const void *raised_by; /* the code that the traceback begins with */
    const void *seen_by;   /* the code that was added to it last */
    const void *traceback; /* that a group has where it lands; else NULL */
    /* Only where an evaluator of frames tells of it (probe/events/exception_legacy.h).
     */
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
    bool is_caught;
    bool is_shared; /* it is in the table */
    bool is_bare;   /* it has no traceback */
};

/* One that flies; its type's name, because it may be dead when that is told. */
struct cunei_propagating {
    struct cunei_exception_track track;
    size_t type_size;
    char type[CUNEI_EXCEPTION_TRACK_TYPE_MAX + 1];
};

/* Exceptions that fly in one thread at once: a destructor may raise while one does. */
#define CUNEI_EXCEPTION_TRACKS_MAX 8

/* Groups that landed: what `except*` leaves of one has its traceback. */
#define CUNEI_EXCEPTION_GROUPS 8u

/* Those of a thread.  Private but for `lines`. */
struct cunei_exception_tracks {
    unsigned recording; /* that they are of */
    unsigned count;
    unsigned group_count; /* of all that landed */
    struct cunei_line_cache lines;
    struct cunei_exception_track
        groups[CUNEI_EXCEPTION_GROUPS]; /* the last ones of them */
    struct cunei_propagating
        items[CUNEI_EXCEPTION_TRACKS_MAX]; /* in the order of their begin */
};

/* Made at the first exception; in the static part of the thread's storage. */
extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct cunei_exception_tracks
    *cunei_exception_tracks_mine;

/*
 * Whose flights are in the table, in sets by their addresses.  They are apart from what
 * is known of them: each exception is looked for.
 */
#define CUNEI_EXCEPTION_SET_BITS 8
#define CUNEI_EXCEPTION_WAYS     4u

extern __attribute__((visibility("hidden"))) struct cunei_exception_track_table {
    atomic_bool is_used; /* one has flown in this recording, in any thread */
    const void
        *_Atomic exceptions[1u << CUNEI_EXCEPTION_SET_BITS][CUNEI_EXCEPTION_WAYS];
} cunei_exception_track_table;

static inline size_t cunei_exception_track_set(const void *exception)
{
    uint64_t hash = (uint64_t)(uintptr_t)exception * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> (64 - CUNEI_EXCEPTION_SET_BITS);
}

/* Which of the set's ways `wanted` has; CUNEI_EXCEPTION_WAYS: none. */
static inline size_t cunei_exception_track_way_of(size_t set, const void *wanted)
{
    size_t way = 0;

    while (way < CUNEI_EXCEPTION_WAYS &&
           atomic_load_explicit(&cunei_exception_track_table.exceptions[set][way],
                                memory_order_relaxed) != wanted)
        way++;
    return way;
}

/* Forget all flights of all threads; while nothing is recorded. */
void cunei_exception_tracks_reset(void);

/* The calling thread's; NULL: no memory. */
struct cunei_exception_tracks *cunei_exception_tracks_own(void);

/* The flight of an exception, lent until another begins or ends; NULL: none. */
struct cunei_propagating *cunei_exception_tracks_find(
    struct cunei_exception_tracks *tracks, const void *exception);

/*
 * One that must be over when another begins at `depth`, lent as above: it had come that
 * far already, or there is no room for both.  NULL: none.
 */
struct cunei_propagating *cunei_exception_tracks_find_finished(
    struct cunei_exception_tracks *tracks, uint32_t depth);

/* Add one, lent as above; there is room. */
struct cunei_propagating *cunei_exception_tracks_add(
    struct cunei_exception_tracks *tracks, const struct cunei_exception_track *track);

/* Put one into the table, for other threads to find. */
void cunei_exception_tracks_share(struct cunei_exception_tracks *tracks,
                                  struct cunei_exception_track *track);

/* It has landed: from the list into the table. */
void cunei_exception_tracks_caught(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating);

/* The last one that landed with this traceback, lent until another does; or NULL. */
const struct cunei_exception_track *cunei_exception_tracks_find_group(
    const struct cunei_exception_tracks *tracks, const void *traceback);

/* Forget it: it is in the hands of another thread. */
void cunei_exception_tracks_remove(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating);

/*
 * Whether it flies in this thread, or has landed somewhere, or one at its address.
 * `is_group`: also whether it may be what is left of one, which is another object.
 */
bool cunei_exception_track_is_known(const void *exception, bool is_group);

/*
 * Whether that must be asked at all.  Where not, it is unheard of: exceptions that fly
 * through code that is not recorded all come by here.
 */
static inline bool cunei_exception_track_may_be_known(const void *exception)
{
    /* Who hands an exception to another thread does that with a lock of its own. */
    if (!atomic_load_explicit(&cunei_exception_track_table.is_used,
                              memory_order_relaxed))
        return false;
    if (cunei_exception_tracks_mine &&
        (cunei_exception_tracks_mine->count | cunei_exception_tracks_mine->group_count))
        return true;
    return cunei_exception_track_way_of(cunei_exception_track_set(exception),
                                        exception) < CUNEI_EXCEPTION_WAYS;
}

/* What the table has for an exception; false: nothing. */
bool cunei_exception_track_look_up(const void *exception,
                                   struct cunei_exception_track *track);

/* Take it out of the table; false: it is not there, or not the owner's (NULL: any). */
bool cunei_exception_track_remove(const void *exception, const void *owner);

#endif
