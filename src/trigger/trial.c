// SPDX-License-Identifier: MIT
#include "trigger/trial.h"

#include <stdlib.h>

#include "base/vector.h"
#include "trace/process/process.h"
#include "trigger/causes.h"
#include "trigger/firing.h"
#include "trigger/limits.h"

void cunei_trigger_trial_add(struct cunei_trigger_trial *trial,
                             const struct cunei_trigger_firing *firing)
{
    struct cunei_trial_firing kept = {.number = trial->count,
                                      .trigger = firing->trigger,
                                      .pid = firing->process->metadata.pid};

    trial->fired[firing->trigger]++;
    if (trial->count == CUNEI_TRIAL_FIRINGS_MAX ||
        !CUNEI_VECTOR_RESERVE(trial->firings, trial->capacity, trial->count + 1) ||
        cunei_cause_copy(&kept.cause, firing->cause) < 0) {
        trial->beyond++;
        return;
    }
    trial->firings[trial->count++] = kept;
}

void cunei_trigger_trial_fini(struct cunei_trigger_trial *trial)
{
    for (size_t i = 0; i < trial->count; i++)
        cunei_cause_fini(&trial->firings[i].cause);
    free(trial->firings);
    *trial = (struct cunei_trigger_trial){0};
}

static int compare_firings(const void *left, const void *right)
{
    const struct cunei_trial_firing *a = left, *b = right;

    if (a->cause.time_ns != b->cause.time_ns)
        return a->cause.time_ns < b->cause.time_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The end of the firings that would be causes of one snapshot, from `first` on. */
static size_t find_together(const struct cunei_trigger_trial *trial, size_t first)
{
    uint64_t end_ns = trial->firings[first].cause.time_ns + CUNEI_TRIGGER_TOGETHER_NS;
    size_t end = first;

    while (end < trial->count && trial->firings[end].cause.time_ns <= end_ns)
        end++;
    return end;
}

/* A snapshot has these causes. */
static void count_causes(struct cunei_trigger_trial *trial, size_t first, size_t end)
{
    uint32_t seen = 0;

    for (size_t i = first; i < end; i++) {
        size_t trigger = trial->firings[i].trigger;
        trial->snapshots[trigger] += !(seen >> trigger & 1);
        seen |= UINT32_C(1) << trigger;
    }
}

void cunei_trigger_trial_finish(struct cunei_trigger_trial *trial,
                                const struct cunei_snapshot_limits *limits)
{
    struct cunei_snapshot_tally tally = {0};
    uint64_t max_bytes = 0;

    if (trial->count > 0)
        qsort(trial->firings, trial->count, sizeof(trial->firings[0]), compare_firings);
    for (size_t i = 0, end; i < trial->count; i = end) {
        uint64_t now_ns = trial->firings[i].cause.time_ns;
        end = find_together(trial, i);
        if (!cunei_snapshot_may(limits, &tally, now_ns, end - i, &max_bytes))
            continue;
        cunei_snapshot_count(&tally, now_ns, 0);
        count_causes(trial, i, end);
    }
    trial->snapshot_count = tally.count;
}
