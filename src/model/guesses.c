// SPDX-License-Identifier: MIT
#include "model/guesses.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/edges.h"
#include "model/profile.h"
#include "model/stack.h"

static int reserve(struct cunei_profile *profile)
{
    if (!profile->guesses.items)
        profile->guesses.items =
            calloc(profile->slot_count, sizeof(*profile->guesses.items));
    return profile->guesses.items ? 0 : -ENOMEM;
}

static void read_demote(struct cunei_profile *profile,
                        const struct cunei_demote *demote)
{
    enum cunei_phase phase = cunei_record_phase(demote->record);

    if (phase == CUNEI_PHASE_ENTER)
        profile->guesses.items[cunei_slot_of(profile, demote->function)].demotions++;
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
    struct cunei_edge *edge =
        &profile->edges->items[cunei_edges_find(profile->edges, caller, slot)];
    edge->calls += sample->calls;
    edge->resumes += sample->resumes;
    edge->self += sample->self;
    edge->total += sample->self;
    edge->inclusive += sample->self;
}

static void read_sample(struct cunei_profile *profile,
                        const struct cunei_sample *sample)
{
    uint32_t slot = cunei_slot_of(profile, sample->function);
    double bias = (double)sample->bias / 1e6;

    if (cunei_record_phase(sample->record) == CUNEI_PHASE_LEAVE) {
        read_caller(profile, slot, sample);
        return;
    }
    const struct cunei_guess guess = {
        .calls = sample->calls,
        .resumes = sample->resumes,
        .self = sample->self,
        .total = sample->total,
        .samples = 1,
        .is_counted = sample->flags & CUNEI_SAMPLE_COUNTED,
        .calls_variance = (double)sample->calls_error * (double)sample->calls_error,
        .self_variance = (double)sample->self_error * (double)sample->self_error,
        .calls_bias = (double)sample->calls * bias,
        .self_bias = (double)sample->self * bias,
    };
    cunei_guess_add(&profile->guesses.items[slot], &guess, 1);
}

int cunei_guesses_read(struct cunei_profile *profile, const uint64_t *event)
{
    int rc = reserve(profile);

    if (rc < 0)
        return rc;
    if (cunei_record_class(event[0]) == CUNEI_CLASS_DEMOTE)
        read_demote(profile, (const void *)event);
    else
        read_sample(profile, (const void *)event);
    return 0;
}

void cunei_guess_add(struct cunei_guess *to, const struct cunei_guess *from,
                     double factor)
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
    to->calls_variance += from->calls_variance;
    to->calls_bias += from->calls_bias;
    to->self_variance += from->self_variance * factor * factor;
    to->self_bias += from->self_bias * factor;
}

int cunei_guesses_add(struct cunei_profile *profile, const struct cunei_profile *other)
{
    uint32_t count = other->slot_count < profile->slot_count ? other->slot_count
                                                             : profile->slot_count;

    profile->guesses.bursts += other->guesses.bursts;
    if (!other->guesses.items)
        return 0;
    int rc = reserve(profile);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (other->guesses.items[i].samples || other->guesses.items[i].hidden ||
            other->guesses.items[i].demotions)
            cunei_guess_add(&profile->guesses.items[i], &other->guesses.items[i], 1);
    }
    return rc;
}

void cunei_guesses_fini(struct cunei_guesses *guesses)
{
    free(guesses->items);
    *guesses = (struct cunei_guesses){0};
}

double cunei_guess_calls_width(const struct cunei_guess *guess)
{
    return CUNEI_GUESS_ERRORS * (sqrt(guess->calls_variance) + guess->calls_bias);
}

double cunei_guess_self_width(const struct cunei_guess *guess)
{
    return CUNEI_GUESS_ERRORS * (sqrt(guess->self_variance) + guess->self_bias);
}
