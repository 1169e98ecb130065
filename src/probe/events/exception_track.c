// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception_track.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/lock.h"
#include "probe/core/thread.h"

#define WAYS CUNEI_FLIGHT_WAYS

_Thread_local struct cunei_exception_tracks *cunei_exception_tracks_mine;
struct cunei_exception_track_table cunei_exception_track_table;

/* What is known of those in one set; it has a lock so that threads seldom meet. */
static struct set {
    cunei_mutex lock;
    unsigned next; /* the way to use where none is free */
    struct cunei_exception_track ways[WAYS];
} sets[1u << CUNEI_FLIGHT_SET_BITS];
static atomic_uint recordings;

/* Lock held; NULL frees the way. */
static void set_way(size_t set, size_t way, const void *exception)
{
    atomic_store_explicit(&cunei_exception_track_table.exceptions[set][way], exception,
                          memory_order_relaxed);
}

void cunei_exception_tracks_reset(void)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        cunei_mutex_lock(&sets[i].lock);
        for (size_t way = 0; way < WAYS; way++)
            set_way(i, way, NULL);
        cunei_mutex_unlock(&sets[i].lock);
    }
    atomic_store_explicit(&cunei_exception_track_table.is_used, false,
                          memory_order_relaxed);
    atomic_fetch_add(&recordings, 1);
}

static void thread_ends(void *flights)
{
    cunei_exception_tracks_mine = NULL;
    free(flights);
}

static struct cunei_exception_tracks *new_flights(void)
{
    struct cunei_exception_tracks *flights = calloc(1, sizeof(*flights));

    if (flights && !cunei_thread_add_part(flights, thread_ends)) {
        free(flights);
        flights = NULL;
    }
    cunei_exception_tracks_mine = flights;
    return flights;
}

struct cunei_exception_tracks *cunei_exception_tracks_own(void)
{
    struct cunei_exception_tracks *flights =
        cunei_exception_tracks_mine ? cunei_exception_tracks_mine : new_flights();
    unsigned recording = atomic_load_explicit(&recordings, memory_order_relaxed);

    if (flights && flights->recording != recording) {
        flights->recording = recording;
        flights->count = 0;
        flights->group_count = 0;
    }
    return flights;
}

struct cunei_flying *cunei_exception_tracks_find(struct cunei_exception_tracks *flights,
                                                 const void *exception)
{
    for (size_t i = flights->count; i > 0; i--) {
        if (flights->items[i - 1].flight.exception == exception)
            return &flights->items[i - 1];
    }
    return NULL;
}

struct cunei_flying *cunei_exception_tracks_find_over(
    struct cunei_exception_tracks *flights, uint32_t depth)
{
    for (size_t i = 0; i < flights->count; i++) {
        if (flights->items[i].flight.depth >= depth)
            return &flights->items[i];
    }
    return flights->count == CUNEI_FLIGHTS_MAX ? &flights->items[0] : NULL;
}

struct cunei_flying *cunei_exception_tracks_add(
    struct cunei_exception_tracks *flights, const struct cunei_exception_track *flight)
{
    struct cunei_flying *flying = &flights->items[flights->count++];

    flying->flight = *flight;
    atomic_store_explicit(&cunei_exception_track_table.is_used, true,
                          memory_order_relaxed);
    return flying;
}

void cunei_exception_tracks_remove(struct cunei_exception_tracks *flights,
                                   struct cunei_flying *flying)
{
    size_t index = (size_t)(flying - flights->items);

    flights->count--;
    memmove(flying, flying + 1, (flights->count - index) * sizeof(*flying));
}

void cunei_exception_tracks_land(struct cunei_exception_tracks *flights,
                                 struct cunei_flying *flying)
{
    flying->flight.is_landed = true;
    cunei_exception_tracks_share(flights, &flying->flight);
    if (flying->flight.traceback)
        flights->groups[flights->group_count++ % CUNEI_FLIGHT_GROUPS] = flying->flight;
    cunei_exception_tracks_remove(flights, flying);
}

const struct cunei_exception_track *cunei_exception_tracks_find_group(
    const struct cunei_exception_tracks *flights, const void *traceback)
{
    for (unsigned i = 1; i <= CUNEI_FLIGHT_GROUPS && i <= flights->group_count; i++) {
        const struct cunei_exception_track *group =
            &flights->groups[(flights->group_count - i) % CUNEI_FLIGHT_GROUPS];
        if (group->traceback == traceback)
            return group;
    }
    return NULL;
}

void cunei_exception_tracks_share(struct cunei_exception_tracks *flights,
                                  struct cunei_exception_track *flight)
{
    size_t at = cunei_exception_track_set(flight->exception);
    struct set *set = &sets[at];

    flight->is_shared = true;
    flight->owner = flights;
    cunei_mutex_lock(&set->lock);
    size_t way = cunei_exception_track_way_of(at, flight->exception);
    if (way == WAYS)
        way = cunei_exception_track_way_of(at, NULL);
    if (way == WAYS)
        way = set->next++ % WAYS;
    set->ways[way] = *flight;
    set_way(at, way, flight->exception);
    cunei_mutex_unlock(&set->lock);
}

bool cunei_exception_track_is_known(const void *exception, bool is_group)
{
    unsigned recording = atomic_load_explicit(&recordings, memory_order_relaxed);
    struct cunei_exception_tracks *mine = cunei_exception_tracks_mine;

    if (mine && mine->recording == recording &&
        (cunei_exception_tracks_find(mine, exception) ||
         (is_group && mine->group_count)))
        return true;
    return cunei_exception_track_way_of(cunei_exception_track_set(exception),
                                        exception) < WAYS;
}

bool cunei_exception_track_look_up(const void *exception,
                                   struct cunei_exception_track *flight)
{
    size_t at = cunei_exception_track_set(exception);
    struct set *set = &sets[at];

    cunei_mutex_lock(&set->lock);
    size_t way = cunei_exception_track_way_of(at, exception);
    if (way < WAYS)
        *flight = set->ways[way];
    cunei_mutex_unlock(&set->lock);
    return way < WAYS;
}

bool cunei_exception_track_take(const void *exception, const void *owner)
{
    size_t at = cunei_exception_track_set(exception);
    struct set *set = &sets[at];

    cunei_mutex_lock(&set->lock);
    size_t way = cunei_exception_track_way_of(at, exception);
    if (way < WAYS && owner && set->ways[way].owner != owner)
        way = WAYS;
    if (way < WAYS)
        set_way(at, way, NULL);
    cunei_mutex_unlock(&set->lock);
    return way < WAYS;
}
