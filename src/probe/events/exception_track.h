// SPDX-License-Identifier: MIT
/*
 * Tracks of exceptions: from the raise to the handler, and on from there if it
 * reraises.
 *
 * An exception that propagates is in a list of its thread.  One that was caught, or has
 * ended a frame, is also in a table for all threads: it may be kept and raised again,
 * as futures do.  Nothing here holds a reference.  Pointers are compared and never
 * followed, and old tracks are overwritten.
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
    const void *owner; /* the tracks of the thread that put it into the table */
    const void *type;
    const void *raised_by; /* the code that the traceback begins with */
    const void *seen_by;   /* the code that was added to it last */
    const void *traceback; /* of a group, when it was caught; else NULL */
    /* Only with a frame evaluator (probe/events/exception_legacy.h). */
    const void *head;   /* its traceback when it was last seen */
    const void *object; /* the exception object, if there is one: `exception` is then
                           the end of the traceback */
    bool is_stop;       /* a StopIteration */
    uint32_t function;
    uint32_t line;
    uint32_t handler; /* the last one that caught it */
    uint32_t handler_line;
    uint32_t unwound; /* frames that it has ended */
    uint32_t depth;   /* of the frame in which it was last seen */
    bool is_caught;
    bool is_shared; /* it is in the table */
    bool is_bare;   /* it has no traceback */
};

/*
 * An exception that propagates, with the name of its type: it may be dead when its
 * event is written.
 */
struct cunei_propagating {
    struct cunei_exception_track track;
    size_t type_size;
    char type[CUNEI_EXCEPTION_TRACK_TYPE_MAX + 1];
};

/* Exceptions that propagate in one thread at once: a destructor may raise meanwhile. */
#define CUNEI_EXCEPTION_TRACKS_MAX 8

/* Groups that were caught: the rest that `except*` reraises has their traceback. */
#define CUNEI_EXCEPTION_GROUPS 8u

/* Those of a thread.  Private but for `lines`: the hot path reads the counts, below. */
struct cunei_exception_tracks {
    unsigned recording; /* the recording that they belong to */
    unsigned count;
    unsigned group_count; /* of all that were caught */
    struct cunei_line_cache lines;
    struct cunei_exception_track groups[CUNEI_EXCEPTION_GROUPS]; /* the last ones */
    struct cunei_propagating
        items[CUNEI_EXCEPTION_TRACKS_MAX]; /* the first to begin first */
};

/* Made at the first exception; initial-exec. */
extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct cunei_exception_tracks
    *cunei_exception_tracks_mine;

/*
 * The exceptions that have a track in the table, in sets by their addresses.  They are
 * apart from the tracks, because each exception is searched.
 */
#define CUNEI_EXCEPTION_SET_BITS 8
#define CUNEI_EXCEPTION_WAYS     4u

extern __attribute__((visibility("hidden"))) struct cunei_exception_track_table {
    atomic_bool is_used; /* there was an exception in this recording, in any thread */
    const void
        *_Atomic exceptions[1u << CUNEI_EXCEPTION_SET_BITS][CUNEI_EXCEPTION_WAYS];
} cunei_exception_track_table;

static inline size_t cunei_exception_track_set(const void *exception)
{
    uint64_t hash = (uint64_t)(uintptr_t)exception * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> (64 - CUNEI_EXCEPTION_SET_BITS);
}

/* The way of `wanted` in the set; CUNEI_EXCEPTION_WAYS: none. */
static inline size_t cunei_exception_track_way_of(size_t set, const void *wanted)
{
    size_t way = 0;

    while (way < CUNEI_EXCEPTION_WAYS &&
           atomic_load_explicit(&cunei_exception_track_table.exceptions[set][way],
                                memory_order_relaxed) != wanted)
        way++;
    return way;
}

/* Forget all tracks of all threads; while there is no recording. */
void cunei_exception_tracks_reset(void);

/* The calling thread's; NULL: no memory. */
struct cunei_exception_tracks *cunei_exception_tracks_own(void);

/* The track of an exception, valid until another begins or ends; NULL: none. */
struct cunei_propagating *cunei_exception_tracks_find(
    struct cunei_exception_tracks *tracks, const void *exception);

/* The one that began last, valid as above; NULL: none. */
struct cunei_propagating *cunei_exception_tracks_last(
    struct cunei_exception_tracks *tracks);

/*
 * One that must be finished when another begins at `depth`, valid as above: it had
 * propagated that far already, or there is no room for both.  NULL: none.
 */
struct cunei_propagating *cunei_exception_tracks_find_finished(
    struct cunei_exception_tracks *tracks, uint32_t depth);

/* Add one, valid as above; there is room. */
struct cunei_propagating *cunei_exception_tracks_add(
    struct cunei_exception_tracks *tracks, const struct cunei_exception_track *track);

/* Put one into the table, for other threads to find. */
void cunei_exception_tracks_share(struct cunei_exception_tracks *tracks,
                                  struct cunei_exception_track *track);

/* It was caught: move it from the list into the table. */
void cunei_exception_tracks_caught(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating);

/* The last one that was caught with this traceback, valid until another is; or NULL. */
const struct cunei_exception_track *cunei_exception_tracks_find_group(
    const struct cunei_exception_tracks *tracks, const void *traceback);

/* Forget it: another thread has it. */
void cunei_exception_tracks_remove(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating);

/*
 * Whether it propagates in this thread, or was caught somewhere, or another at its
 * address.  `is_group`: or may be the rest of a group, which is another object.
 */
bool cunei_exception_track_is_known(const void *exception, bool is_group);

/*
 * Whether that can be so at all.  All exceptions that propagate through code which is
 * not recorded come through here.
 */
static inline bool cunei_exception_track_may_be_known(const void *exception)
{
    /* Handing an exception to another thread takes a lock of its own. */
    if (!atomic_load_explicit(&cunei_exception_track_table.is_used,
                              memory_order_relaxed))
        return false;
    if (cunei_exception_tracks_mine &&
        (cunei_exception_tracks_mine->count | cunei_exception_tracks_mine->group_count))
        return true;
    return cunei_exception_track_way_of(cunei_exception_track_set(exception),
                                        exception) < CUNEI_EXCEPTION_WAYS;
}

/* Copy the track of an exception from the table; false: none. */
bool cunei_exception_track_look_up(const void *exception,
                                   struct cunei_exception_track *track);

/* Remove it from the table; false: it is not there, or not the owner's (NULL: any). */
bool cunei_exception_track_remove(const void *exception, const void *owner);

#endif
