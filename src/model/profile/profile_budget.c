// SPDX-License-Identifier: MIT
#include "model/profile/profile_budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts/call_edges.h"
#include "model/profile/profile_stack.h"

static double square(double value)
{
    return value * value;
}

static int reserve(struct cunei_profile *profile)
{
    if (!profile->guesses.items)
        profile->guesses.items =
            calloc(profile->slot_count, sizeof(*profile->guesses.items));
    return profile->guesses.items ? 0 : -ENOMEM;
}

static void read_demote(struct cunei_profile *profile,
                        const struct cunei_demote *demote, uint64_t time)
{
    enum cunei_phase phase = cunei_record_phase(demote->record);

    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_LEAVE) {
        struct cunei_budget_estimate *guess =
            &profile->guesses.items[cunei_slot_of(profile, demote->function)];
        guess->demotions += phase == CUNEI_PHASE_ENTER;
        cunei_budget_estimate_change(guess, time, phase == CUNEI_PHASE_ENTER);
    }
    profile->guesses.bursts += phase == CUNEI_PHASE_RESUME;
}

/* It stood in the own time of a function that was recorded. */
static void read_caller(struct cunei_profile *profile, uint32_t slot,
                        const struct cunei_sample *sample)
{
    uint32_t caller = cunei_slot_of(profile, sample->caller);

    uint32_t owner = cunei_slot_of(profile, (uint32_t)sample->span);

    profile->guesses.items[owner].hidden += sample->self;
    if (!profile->edges)
        return;
    /* Not in one expression: finding the edge may move the array. */
    uint32_t index = cunei_edges_find(profile->edges, caller, slot);
    struct cunei_edge *edge = &profile->edges->items[index];
    edge->calls += sample->calls;
    edge->resumes += sample->resumes;
    edge->self += sample->self;
    edge->total += sample->self;
    edge->inclusive += sample->self;
}

static void read_sample(struct cunei_profile *profile,
                        const struct cunei_sample *sample, uint64_t time)
{
    uint32_t slot = cunei_slot_of(profile, sample->function);
    double bias = (double)sample->bias / 1e6;
    double self_bias = (double)sample->self_bias / 1e6;
    bool is_counted = sample->flags & CUNEI_SAMPLE_COUNTED;

    if (cunei_record_phase(sample->record) == CUNEI_PHASE_LEAVE) {
        read_caller(profile, slot, sample);
        return;
    }
    const struct cunei_budget_estimate guess = {
        .calls = sample->calls,
        .resumes = sample->resumes,
        .self = sample->self,
        .total = sample->total,
        .span = sample->span,
        .samples = 1,
        .is_counted = is_counted,
        .calls_variance = square((double)sample->calls_error),
        .resumes_variance = square((double)sample->resumes_error),
        .self_variance = square((double)sample->self_error),
        .calls_bias = is_counted ? 0 : (double)sample->calls * bias,
        .resumes_bias = (double)sample->resumes * bias,
        .self_bias = (double)sample->self * self_bias,
        .sampled_at = time,
    };
    cunei_budget_estimate_add(&profile->guesses.items[slot], &guess, 1);
}

int cunei_profile_budget_read(struct cunei_profile *profile, const uint64_t *event,
                              uint64_t time)
{
    int rc = reserve(profile);

    if (rc < 0)
        return rc;
    if (cunei_record_class(event[0]) == CUNEI_CLASS_DEMOTE)
        read_demote(profile, (const void *)event, time);
    else
        read_sample(profile, (const void *)event, time);
    return 0;
}

int cunei_profile_budget_grow(struct cunei_profile *profile, uint32_t slot_count)
{
    uint32_t before = profile->slot_count;
    struct cunei_budget_estimate *items = profile->guesses.items;

    if (!items)
        return 0;
    items = realloc(items, slot_count * sizeof(*items));
    if (!items)
        return -ENOMEM;
    memset(items + before, 0, (slot_count - before) * sizeof(*items));
    profile->guesses.items = items;
    return 0;
}

int cunei_profile_budget_add(struct cunei_profile *profile,
                             const struct cunei_profile *other)
{
    uint32_t count = other->slot_count < profile->slot_count ? other->slot_count
                                                             : profile->slot_count;

    profile->guesses.bursts += other->guesses.bursts;
    if (!other->guesses.items)
        return 0;
    int rc = reserve(profile);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (other->guesses.items[i].samples || other->guesses.items[i].hidden ||
            other->guesses.items[i].changed)
            cunei_budget_estimate_add(&profile->guesses.items[i],
                                      &other->guesses.items[i], 1);
    }
    return rc;
}

void cunei_profile_budget_close(struct cunei_profile *profile, uint64_t last)
{
    for (uint32_t i = 0; profile->guesses.items && i < profile->slot_count; i++)
        cunei_budget_estimate_close(&profile->guesses.items[i], last);
}
