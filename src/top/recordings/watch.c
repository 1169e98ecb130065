// SPDX-License-Identifier: MIT
#include "top/recordings/watch.h"

#include <stdlib.h>

#include "base/vector.h"
#include "top/sums/sums.h"

struct cunei_top_recording *cunei_top_watch_add(struct cunei_top_watch *watch)
{
    struct cunei_top_recording *recording = calloc(1, sizeof(*recording));

    if (!recording || !CUNEI_VECTOR_RESERVE_ONE(watch->items, watch->count)) {
        free(recording);
        return NULL;
    }
    watch->items[watch->count++].recording = recording;
    return recording;
}

void cunei_top_watch_fini(struct cunei_top_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        cunei_top_recording_close(watch->items[i].recording);
        free(watch->items[i].recording);
    }
    free(watch->items);
    *watch = (struct cunei_top_watch){0};
}

void cunei_top_watch_pause(struct cunei_top_watch *watch, bool is_paused)
{
    for (size_t i = 0; i < watch->count; i++)
        cunei_top_recording_pause(watch->items[i].recording, is_paused);
}

int cunei_top_watch_poll(struct cunei_top_watch *watch)
{
    int most = 0;

    for (size_t i = 0; i < watch->count; i++) {
        int rc = cunei_top_recording_poll(watch->items[i].recording);
        if (rc < 0)
            return rc;
        most = rc > most ? rc : most;
    }
    return most;
}

static int add(struct cunei_top_sums *sums, struct cunei_top_known *known,
               const struct cunei_top_recording *recording,
               const struct cunei_analysis *analysis, bool *is_running)
{
    bool goes_on = cunei_top_recording_is_running(recording, analysis);

    sums->missed += cunei_top_recording_missed(recording);
    *is_running |= goes_on;
    sums->is_past = recording->finished && goes_on;
    if (sums->is_past)
        sums->time_ns = recording->shown_ns;
    return cunei_top_sums_add(sums, known, analysis);
}

/* Where nothing runs any more, time ends with the last event. */
static void finish(struct cunei_top_sums *sums, bool is_running)
{
    cunei_top_recording_take_cpu(sums);
    if (!is_running)
        sums->time_ns = 0;
}

int cunei_top_watch_sum(struct cunei_top_watch *watch, struct cunei_top_known *known,
                        uint64_t now_ns, struct cunei_top_sums *sums)
{
    bool is_running = false;
    int rc = 0;

    *sums = (struct cunei_top_sums){.time_ns = now_ns};
    for (size_t i = 0; rc == 0 && i < watch->count; i++) {
        struct cunei_analysis analysis;
        rc = cunei_top_recording_sum(watch->items[i].recording, &analysis);
        if (rc < 0)
            break;
        rc = add(sums, known, watch->items[i].recording, &analysis, &is_running);
        cunei_analysis_fini(&analysis);
    }
    finish(sums, is_running);
    return rc;
}

int cunei_top_watch_sum_one(const struct cunei_top_recording *recording,
                            const struct cunei_analysis *analysis,
                            struct cunei_top_known *known, uint64_t now_ns,
                            struct cunei_top_sums *sums)
{
    bool is_running = false;

    *sums = (struct cunei_top_sums){.time_ns = now_ns};
    int rc = add(sums, known, recording, analysis, &is_running);
    finish(sums, is_running);
    return rc;
}
