// SPDX-License-Identifier: MIT
#include "export/html/counter_tracks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/html/page.h"
#include "trace/directory/trace.h"

/* Steps of the time, about one for each pixel; and of each step the least, the
 * greatest and the last number stay. */
#define STEPS      1024u
#define POINTS_MAX (4 * STEPS)

struct point {
    uint64_t time_ns;
    double number;
    uint32_t order; /* as it came */
};

struct cunei_track {
    uint32_t counter; /* its id */
    uint32_t count, capacity, came;
    struct point *points; /* owned */
};

static int compare(const void *a, const void *b)
{
    const struct point *one = a, *two = b;

    if (one->time_ns != two->time_ns)
        return one->time_ns < two->time_ns ? -1 : 1;
    return one->order < two->order ? -1 : one->order > two->order;
}

/* Of the points in one step, those that stay, moved to `kept`; returns how many. */
static uint32_t thin_step(struct point *kept, const struct point *points,
                          uint32_t count)
{
    uint32_t least = 0, greatest = 0, last = count - 1, size = 0;

    for (uint32_t i = 1; i < count; i++) {
        least = points[i].number < points[least].number ? i : least;
        greatest = points[i].number > points[greatest].number ? i : greatest;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i == least || i == greatest || i == last)
            kept[size++] = points[i];
    }
    return size;
}

/* Points come thread by thread, and go by time. */
static void thin(struct cunei_track *track, uint64_t duration_ns)
{
    uint64_t width = duration_ns / STEPS + 1;
    uint32_t kept = 0, next;

    qsort(track->points, track->count, sizeof(*track->points), compare);
    for (uint32_t i = 0; i < track->count; i = next) {
        uint64_t step = track->points[i].time_ns / width;
        for (next = i + 1; next < track->count; next++) {
            if (track->points[next].time_ns / width != step)
                break;
        }
        kept += thin_step(&track->points[kept], &track->points[i], next - i);
    }
    track->count = kept;
}

static struct cunei_track *find(struct cunei_counter_tracks *tracks, uint32_t counter)
{
    for (uint32_t i = 0; i < tracks->count; i++) {
        if (tracks->items[i].counter == counter)
            return &tracks->items[i];
    }
    if (tracks->total == CUNEI_TRACKS_MAX)
        return NULL;
    tracks->total++;
    tracks->items[tracks->count] = (struct cunei_track){.counter = counter};
    return &tracks->items[tracks->count++];
}

int cunei_counter_tracks_add(struct cunei_counter_tracks *tracks, uint32_t counter,
                             uint64_t time_ns, double number)
{
    if (!tracks->items)
        tracks->items = calloc(CUNEI_TRACKS_MAX, sizeof(*tracks->items));
    if (!tracks->items)
        return -ENOMEM;
    struct cunei_track *track = find(tracks, counter);
    if (!track) {
        tracks->left_out++;
        return 0;
    }
    if (track->count == POINTS_MAX)
        thin(track, tracks->duration_ns);
    if (!CUNEI_VECTOR_RESERVE(track->points, track->capacity, track->count + 1))
        return -ENOMEM;
    track->points[track->count++] = (struct point){time_ns, number, track->came++};
    return 0;
}

static void put_track(struct cunei_buffer *out, const struct cunei_track *track,
                      const struct cunei_trace_process *process)
{
    const struct cunei_function *names = cunei_trace_function(process, track->counter);
    const char *name = names ? names->qualname : "?";

    cunei_buffer_format(out,
                        "%s\n{\"pid\":%" PRIu64 ",\"name\":", out->size > 0 ? "," : "",
                        process->description.pid);
    cunei_page_redacted(out, name, strlen(name));
    cunei_buffer_append_text(out, ",\"points\":[");
    for (uint32_t i = 0; i < track->count; i++)
        cunei_buffer_format(out, "%s%" PRIu64 ",%.15g", i > 0 ? "," : "",
                            track->points[i].time_ns, track->points[i].number);
    cunei_buffer_append_text(out, "]}");
}

int cunei_counter_tracks_end(struct cunei_counter_tracks *tracks,
                             const struct cunei_trace_process *process)
{
    for (uint32_t i = 0; i < tracks->count; i++) {
        struct cunei_track *track = &tracks->items[i];
        /* Only what was too much before is thinned out: else all are as they were. */
        if (track->came > POINTS_MAX)
            thin(track, tracks->duration_ns);
        else
            qsort(track->points, track->count, sizeof(*track->points), compare);
        put_track(&tracks->text, track, process);
        free(track->points);
    }
    tracks->count = 0;
    return tracks->text.failed ? -ENOMEM : 0;
}

void cunei_counter_tracks_fini(struct cunei_counter_tracks *tracks)
{
    for (uint32_t i = 0; i < tracks->count; i++)
        free(tracks->items[i].points);
    free(tracks->items);
    cunei_buffer_fini(&tracks->text);
    *tracks = (struct cunei_counter_tracks){0};
}
