// SPDX-License-Identifier: MIT
#include "model/budget_estimates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/call_edges.h"
#include "model/profile.h"
#include "model/profile_stack.h"

/* No program calls more often; a hostile trace may say so. */
#define COUNT_MAX 1e18

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

/* The later of both is how it is now. */
static void change(struct cunei_budget_estimate *guess, uint64_t time, bool is_demoted)
{
    if (time < guess->changed)
        return;
    guess->changed = time;
    guess->is_demoted = is_demoted;
}

static void read_demote(struct cunei_profile *profile,
                        const struct cunei_demote *demote, uint64_t time)
{
    enum cunei_phase phase = cunei_record_phase(demote->record);

    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_LEAVE) {
        struct cunei_budget_estimate *guess =
            &profile->guesses.items[cunei_slot_of(profile, demote->function)];
        guess->demotions += phase == CUNEI_PHASE_ENTER;
        change(guess, time, phase == CUNEI_PHASE_ENTER);
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
        .told = time,
    };
    cunei_budget_estimate_add(&profile->guesses.items[slot], &guess, 1);
}

int cunei_budget_estimates_read(struct cunei_profile *profile, const uint64_t *event,
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

void cunei_budget_estimate_add(struct cunei_budget_estimate *to,
                               const struct cunei_budget_estimate *from, double factor)
{
    if (from->samples > 0)
        to->is_counted = from->is_counted && (to->samples == 0 || to->is_counted);
    to->samples += from->samples;
    to->calls += from->calls;
    to->resumes += from->resumes;
    to->demotions += from->demotions;
    to->self += (uint64_t)((double)from->self * factor);
    to->total += (uint64_t)((double)from->total * factor);
    to->hidden += (uint64_t)((double)from->hidden * factor);
    to->span += (uint64_t)((double)from->span * factor);
    to->calls_variance += from->calls_variance;
    to->calls_bias += from->calls_bias;
    to->resumes_variance += from->resumes_variance;
    to->resumes_bias += from->resumes_bias;
    to->self_variance += from->self_variance * factor * factor;
    to->self_bias += from->self_bias * factor;
    to->told = from->told > to->told ? from->told : to->told;
    if (from->changed)
        change(to, from->changed, from->is_demoted);
}

/*
 * How much of the time since it was told of the process has run, nobody knows: no more
 * than it usually does from one sample to the next, or there would have been another.
 * So half of the calls is added, and may be all of them, or none; times get wider only,
 * for whose they would have been is not known.
 */
static void close_one(struct cunei_budget_estimate *guess, uint64_t last)
{
    uint64_t since = guess->told > guess->changed ? guess->told : guess->changed;

    if (!guess->is_demoted || guess->samples == 0 || guess->span == 0 || last <= since)
        return;
    double usual = (double)guess->span / (double)guess->samples;
    double half = fmin((double)(last - since), 2 * usual) / (double)guess->span / 2;
    double calls = half * (double)guess->calls, resumes = half * (double)guess->resumes;
    guess->calls += (uint64_t)fmin(calls + 0.5, COUNT_MAX);
    guess->resumes += (uint64_t)fmin(resumes + 0.5, COUNT_MAX);
    guess->calls_variance += square(calls);
    guess->resumes_variance += square(resumes);
    guess->self_variance += square(half * (double)guess->self);
    guess->is_counted &= calls < 0.5;
}

void cunei_budget_estimates_close(struct cunei_profile *profile, uint64_t last)
{
    for (uint32_t i = 0; profile->guesses.items && i < profile->slot_count; i++)
        close_one(&profile->guesses.items[i], last);
}

int cunei_budget_estimates_add(struct cunei_profile *profile,
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

void cunei_budget_estimates_fini(struct cunei_budget_estimates *guesses)
{
    free(guesses->items);
    *guesses = (struct cunei_budget_estimates){0};
}

double cunei_budget_estimate_calls_width(const struct cunei_budget_estimate *guess)
{
    return CUNEI_GUESS_ERRORS * (sqrt(guess->calls_variance) + guess->calls_bias);
}

double cunei_budget_estimate_resumes_width(const struct cunei_budget_estimate *guess)
{
    return CUNEI_GUESS_ERRORS * (sqrt(guess->resumes_variance) + guess->resumes_bias);
}

double cunei_budget_estimate_self_width(const struct cunei_budget_estimate *guess)
{
    return CUNEI_GUESS_ERRORS * (sqrt(guess->self_variance) + guess->self_bias);
}
