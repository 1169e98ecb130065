// SPDX-License-Identifier: MIT
#include "model/facts/budget_estimates.h"

#include <math.h>
#include <stdlib.h>

/* No program calls more often, but a damaged trace may hold such numbers. */
#define COUNT_MAX 1e18

static double square(double value)
{
    return value * value;
}

void cunei_budget_estimate_change(struct cunei_budget_estimate *guess, uint64_t time,
                                  bool is_demoted)
{
    if (time < guess->changed)
        return;
    guess->changed = time;
    guess->is_demoted = is_demoted;
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
    to->sampled_at =
        from->sampled_at > to->sampled_at ? from->sampled_at : to->sampled_at;
    if (from->changed)
        cunei_budget_estimate_change(to, from->changed, from->is_demoted);
}

/*
 * How long the process has run since the last sample is unknown: no longer than usual
 * between two samples, or there would be another one.  So half of the usual calls are
 * added, with an error that covers none and all of them; of times only the error grows,
 * because the function that they are part of is unknown.
 */
void cunei_budget_estimate_close(struct cunei_budget_estimate *guess, uint64_t last)
{
    uint64_t since =
        guess->sampled_at > guess->changed ? guess->sampled_at : guess->changed;

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
