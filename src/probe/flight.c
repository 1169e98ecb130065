// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/flight.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/lock.h"

#define SET_BITS 8
#define WAYS     4

/* A part of the table; the lock is its own, so that threads seldom meet. */
struct set {
    cunei_mutex lock;
    unsigned next; /* the way to use where none is free */
    struct cunei_flight ways[WAYS];
};

/* Made at the first exception; in the static part of the thread's storage. */
static
    __attribute__((tls_model("initial-exec"))) _Thread_local struct cunei_flights *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static struct set sets[1u << SET_BITS];
static atomic_uint recordings;

static struct set *set_of(const void *exception)
{
    uint64_t hash = (uint64_t)(uintptr_t)exception * UINT64_C(0x9e3779b97f4a7c15);
    return &sets[hash >> (64 - SET_BITS)];
}

/* Lock held. */
static struct cunei_flight *find_way(struct set *set, const void *exception)
{
    for (size_t i = 0; i < WAYS; i++) {
        if (set->ways[i].exception == exception)
            return &set->ways[i];
    }
    return NULL;
}

void cunei_flights_reset(void)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        cunei_mutex_lock(&sets[i].lock);
        memset(sets[i].ways, 0, sizeof(sets[i].ways));
        cunei_mutex_unlock(&sets[i].lock);
    }
    atomic_fetch_add(&recordings, 1);
}

static void thread_ends(void *flights)
{
    own = NULL;
    free(flights);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, thread_ends) == 0;
}

static struct cunei_flights *new_flights(void)
{
    struct cunei_flights *flights = calloc(1, sizeof(*flights));

    (void)pthread_once(&once, make_key);
    if (!has_key || pthread_setspecific(key, flights) != 0) {
        free(flights);
        flights = NULL;
    }
    own = flights;
    return flights;
}

struct cunei_flights *cunei_flights_own(void)
{
    struct cunei_flights *flights = own ? own : new_flights();
    unsigned recording = atomic_load_explicit(&recordings, memory_order_relaxed);

    if (flights && flights->recording != recording) {
        flights->recording = recording;
        flights->count = 0;
        flights->group_count = 0;
    }
    return flights;
}

struct cunei_flying *cunei_flights_find(struct cunei_flights *flights,
                                        const void *exception)
{
    for (size_t i = flights->count; i > 0; i--) {
        if (flights->items[i - 1].flight.exception == exception)
            return &flights->items[i - 1];
    }
    return NULL;
}

struct cunei_flying *cunei_flights_find_over(struct cunei_flights *flights,
                                             uint32_t depth)
{
    for (size_t i = 0; i < flights->count; i++) {
        if (flights->items[i].flight.depth >= depth)
            return &flights->items[i];
    }
    return flights->count == CUNEI_FLIGHTS_MAX ? &flights->items[0] : NULL;
}

struct cunei_flying *cunei_flights_add(struct cunei_flights *flights,
                                       const struct cunei_flight *flight)
{
    struct cunei_flying *flying = &flights->items[flights->count++];

    flying->flight = *flight;
    return flying;
}

void cunei_flights_remove(struct cunei_flights *flights, struct cunei_flying *flying)
{
    size_t index = (size_t)(flying - flights->items);

    flights->count--;
    memmove(flying, flying + 1, (flights->count - index) * sizeof(*flying));
}

void cunei_flights_land(struct cunei_flights *flights, struct cunei_flying *flying)
{
    flying->flight.is_landed = true;
    cunei_flights_share(flights, &flying->flight);
    if (flying->flight.traceback)
        flights->groups[flights->group_count++ % CUNEI_FLIGHT_GROUPS] = flying->flight;
    cunei_flights_remove(flights, flying);
}

const struct cunei_flight *cunei_flights_find_group(const struct cunei_flights *flights,
                                                    const void *traceback)
{
    for (unsigned i = 1; i <= CUNEI_FLIGHT_GROUPS && i <= flights->group_count; i++) {
        const struct cunei_flight *group =
            &flights->groups[(flights->group_count - i) % CUNEI_FLIGHT_GROUPS];
        if (group->traceback == traceback)
            return group;
    }
    return NULL;
}

void cunei_flights_share(struct cunei_flights *flights, struct cunei_flight *flight)
{
    struct set *set = set_of(flight->exception);

    flight->is_shared = true;
    flight->owner = flights;
    cunei_mutex_lock(&set->lock);
    struct cunei_flight *way = find_way(set, flight->exception);
    if (!way)
        way = find_way(set, NULL);
    if (!way)
        way = &set->ways[set->next++ % WAYS];
    *way = *flight;
    cunei_mutex_unlock(&set->lock);
}

bool cunei_flight_look_up(const void *exception, struct cunei_flight *flight)
{
    struct set *set = set_of(exception);

    cunei_mutex_lock(&set->lock);
    const struct cunei_flight *way = find_way(set, exception);
    if (way)
        *flight = *way;
    cunei_mutex_unlock(&set->lock);
    return way != NULL;
}

bool cunei_flight_take(const void *exception, const void *owner)
{
    struct set *set = set_of(exception);

    cunei_mutex_lock(&set->lock);
    struct cunei_flight *way = find_way(set, exception);
    if (way && owner && way->owner != owner)
        way = NULL;
    if (way)
        way->exception = NULL;
    cunei_mutex_unlock(&set->lock);
    return way != NULL;
}
