// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception_track.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/lock.h"
#include "probe/core/thread_data.h"

#define WAYS CUNEI_EXCEPTION_WAYS

_Thread_local struct cunei_exception_tracks *cunei_exception_tracks_mine;
struct cunei_exception_track_table cunei_exception_track_table;

/* The tracks in one set, with a lock each so that threads seldom meet. */
static struct set {
    cunei_mutex lock;
    unsigned next; /* the way to overwrite if none is free */
    struct cunei_exception_track ways[WAYS];
} sets[1u << CUNEI_EXCEPTION_SET_BITS];
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

static void free_thread_data(void *tracks)
{
    cunei_exception_tracks_mine = NULL;
    free(tracks);
}

struct cunei_exception_tracks *cunei_exception_tracks_own(void)
{
    if (!cunei_exception_tracks_mine)
        cunei_exception_tracks_mine = cunei_thread_data_new(
            sizeof(*cunei_exception_tracks_mine), free_thread_data);
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_mine;
    unsigned recording = atomic_load_explicit(&recordings, memory_order_relaxed);

    if (tracks && tracks->recording != recording) {
        tracks->recording = recording;
        tracks->count = 0;
        tracks->group_count = 0;
    }
    return tracks;
}

struct cunei_propagating *cunei_exception_tracks_find(
    struct cunei_exception_tracks *tracks, const void *exception)
{
    for (size_t i = tracks->count; i > 0; i--) {
        if (tracks->items[i - 1].track.exception == exception)
            return &tracks->items[i - 1];
    }
    return NULL;
}

struct cunei_propagating *cunei_exception_tracks_last(
    struct cunei_exception_tracks *tracks)
{
    return tracks->count ? &tracks->items[tracks->count - 1] : NULL;
}

struct cunei_propagating *cunei_exception_tracks_find_finished(
    struct cunei_exception_tracks *tracks, uint32_t depth)
{
    for (size_t i = 0; i < tracks->count; i++) {
        if (tracks->items[i].track.depth >= depth)
            return &tracks->items[i];
    }
    return tracks->count == CUNEI_EXCEPTION_TRACKS_MAX ? &tracks->items[0] : NULL;
}

struct cunei_propagating *cunei_exception_tracks_add(
    struct cunei_exception_tracks *tracks, const struct cunei_exception_track *track)
{
    struct cunei_propagating *propagating = &tracks->items[tracks->count++];

    propagating->track = *track;
    atomic_store_explicit(&cunei_exception_track_table.is_used, true,
                          memory_order_relaxed);
    return propagating;
}

void cunei_exception_tracks_remove(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating)
{
    size_t index = (size_t)(propagating - tracks->items);

    tracks->count--;
    memmove(propagating, propagating + 1,
            (tracks->count - index) * sizeof(*propagating));
}

void cunei_exception_tracks_caught(struct cunei_exception_tracks *tracks,
                                   struct cunei_propagating *propagating)
{
    propagating->track.is_caught = true;
    cunei_exception_tracks_share(tracks, &propagating->track);
    if (propagating->track.traceback)
        tracks->groups[tracks->group_count++ % CUNEI_EXCEPTION_GROUPS] =
            propagating->track;
    cunei_exception_tracks_remove(tracks, propagating);
}

const struct cunei_exception_track *cunei_exception_tracks_find_group(
    const struct cunei_exception_tracks *tracks, const void *traceback)
{
    for (unsigned i = 1; i <= CUNEI_EXCEPTION_GROUPS && i <= tracks->group_count; i++) {
        const struct cunei_exception_track *group =
            &tracks->groups[(tracks->group_count - i) % CUNEI_EXCEPTION_GROUPS];
        if (group->traceback == traceback)
            return group;
    }
    return NULL;
}

void cunei_exception_tracks_share(struct cunei_exception_tracks *tracks,
                                  struct cunei_exception_track *track)
{
    size_t at = cunei_exception_track_set(track->exception);
    struct set *set = &sets[at];

    track->is_shared = true;
    track->owner = tracks;
    cunei_mutex_lock(&set->lock);
    size_t way = cunei_exception_track_way_of(at, track->exception);
    if (way == WAYS)
        way = cunei_exception_track_way_of(at, NULL);
    if (way == WAYS)
        way = set->next++ % WAYS;
    set->ways[way] = *track;
    set_way(at, way, track->exception);
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
                                   struct cunei_exception_track *track)
{
    size_t at = cunei_exception_track_set(exception);
    struct set *set = &sets[at];

    cunei_mutex_lock(&set->lock);
    size_t way = cunei_exception_track_way_of(at, exception);
    if (way < WAYS)
        *track = set->ways[way];
    cunei_mutex_unlock(&set->lock);
    return way < WAYS;
}

bool cunei_exception_track_remove(const void *exception, const void *owner)
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
