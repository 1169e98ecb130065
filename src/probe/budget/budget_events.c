// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/budget_events.h"

#include <math.h>
#include <string.h>

#include "probe/budget/budget_state.h"
#include "probe/core/write.h"

/* How many callers are followed outwards to find one that is recorded. */
#define OWNER_STEPS 16u
/* Bytes of the trace for samples that repeat what is known, at first and per second of
 * run time; and the longest time without any. */
#define SAMPLE_BYTES_FIRST 50e3
#define SAMPLE_BYTES_PER_S 100e3
#define SAMPLES_LATEST_NS  (500.0 * CUNEI_NS_PER_MS)

void cunei_budget_write_demote(enum cunei_phase phase, uint32_t id,
                               enum cunei_level level, bool top_is_open)
{
    uint64_t words[] = {cunei_record(0, CUNEI_CLASS_DEMOTE, phase),
                        id | (uint64_t)level << 32};
    cunei_write_words(words, 2, top_is_open);
}

static void put_sample(const struct cunei_sample *sample, bool top_is_open)
{
    uint64_t words[sizeof(*sample) / sizeof(uint64_t)];

    memcpy(words, sample, sizeof(words));
    cunei_write_words(words, sizeof(words) / sizeof(words[0]), top_is_open);
}

static bool is_among(const uint32_t *ids, unsigned count, uint32_t id)
{
    for (unsigned i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* The caller with the most calls that was not visited yet; 0: there is none. */
static uint32_t next_caller(const struct cunei_estimate *estimate,
                            const uint32_t *passed, unsigned count)
{
    const struct cunei_estimate_caller *callers = estimate->callers;
    uint32_t id = 0;
    double most = -1;

    for (unsigned i = 0; i < CUNEI_OBSERVED_CALLERS; i++) {
        if (callers[i].calls <= most || is_among(passed, count, callers[i].function))
            continue;
        most = callers[i].calls;
        id = callers[i].function;
    }
    return id;
}

/*
 * The nearest caller that is recorded: its own time contains that of the function.  A
 * recursive function is mostly called by itself; to find what started it, go back where
 * all callers have been visited.
 */
static uint32_t find_owner(struct cunei_budget *budget, uint32_t id)
{
    uint32_t passed[OWNER_STEPS], way[OWNER_STEPS];
    unsigned count = 0, depth = 0;

    for (;;) {
        const struct cunei_budget_function *function = cunei_budget_find(budget, id);
        if (!function || function->level == CUNEI_LEVEL_FULL)
            return id;
        if (!is_among(passed, count, id)) {
            if (count == OWNER_STEPS)
                return 0;
            passed[count++] = way[depth++] = id;
        }
        id = next_caller(&function->estimate, passed, count);
        if (id)
            continue;
        if (--depth == 0)
            return 0;
        id = way[depth - 1];
    }
}

/* The resumes for one caller, in proportion to the time that the function runs for it.
 */
static uint64_t resumes_of(const struct cunei_estimate *estimate,
                           const struct cunei_sample *caller)
{
    double part = estimate->self > 0 ? (double)caller->self / estimate->self : 0;

    return (uint64_t)(estimate->resumes * fmin(part, 1) + 0.5);
}

void cunei_budget_write_sample(struct cunei_budget *budget, uint32_t id,
                               struct cunei_budget_function *function, bool top_is_open)
{
    struct cunei_sample sample;

    if (function->estimate.span_ns <= 0)
        return;
    for (unsigned i = 0; i < CUNEI_OBSERVED_CALLERS; i++) {
        if (!cunei_estimate_caller(&function->estimate, id, i, &sample))
            continue;
        sample.span = find_owner(budget, sample.caller);
        sample.resumes = resumes_of(&function->estimate, &sample);
        put_sample(&sample, top_is_open);
    }
    cunei_estimate_take(&function->estimate, id, budget->ticks_per_ns, &sample);
    put_sample(&sample, top_is_open);
}

struct cunei_second_rates cunei_budget_predict(
    const struct cunei_budget_function *function, double steady, double gap_ns)
{
    struct cunei_rate_prediction predicted =
        cunei_rate_by_events_predict(&function->rate, steady, gap_ns);
    double calls = predicted.part > 0 ? predicted.calls / gap_ns : 0;
    double resumes = predicted.part > 0 ? predicted.resumes / gap_ns : 0;
    double entries = calls + resumes;

    return (struct cunei_second_rates){
        .rates = {.calls = calls,
                  .resumes = resumes,
                  .self = function->self_ticks * entries,
                  .total = function->total_ticks * entries,
                  .self_wrong = function->self_ticks_wrong * entries},
        .wrong = {.calls = calls * predicted.error,
                  .resumes = resumes * predicted.error,
                  .self = function->self_ticks * entries * predicted.error},
        .part = predicted.part,
        .bias = predicted.bias,
    };
}

void cunei_budget_end_gap(const struct cunei_budget *budget,
                          struct cunei_budget_function *function, double steady,
                          double now_ns)
{
    double counted = function->level == CUNEI_LEVEL_COUNTED ? function->counted : -1;
    double gap_ns = function->gap_ns + now_ns - function->since_ns;
    struct cunei_second_rates second = cunei_budget_predict(function, steady, gap_ns);

    cunei_estimate_gap(&function->estimate, gap_ns, NULL, 0, counted, budget->bias,
                       &second);
    function->gap_ns = 0;
    function->counted = 0;
    function->since_ns = now_ns;
}

/* Bytes for the samples of all demoted functions and their callers. */
static double bytes_of_samples(const struct cunei_budget *budget)
{
    return (1.0 + CUNEI_OBSERVED_CALLERS) * sizeof(struct cunei_sample) *
           budget->demoted;
}

void cunei_budget_write_samples(struct cunei_budget *budget, double now_ns,
                                bool top_is_open)
{
    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level != CUNEI_LEVEL_FULL)
            cunei_budget_write_sample(budget, i + CUNEI_FUNCTION_FIRST,
                                      &budget->functions[i], top_is_open);
    }
    budget->samples_ns = now_ns;
    budget->samples_bytes += bytes_of_samples(budget);
}

bool cunei_budget_samples_are_due(const struct cunei_budget *budget, double now_ns)
{
    double allowed =
        SAMPLE_BYTES_FIRST + SAMPLE_BYTES_PER_S * (now_ns - budget->begin_ns) / 1e9;

    return budget->samples_bytes + bytes_of_samples(budget) <= allowed ||
           now_ns - budget->samples_ns > SAMPLES_LATEST_NS;
}

void cunei_budget_write_samples_up_to(struct cunei_budget *budget, double now_ns)
{
    double steady = cunei_budget_steady_since(budget);

    cunei_budget_take_counts(budget);
    for (uint32_t i = 0; i < budget->capacity; i++) {
        struct cunei_budget_function *function = &budget->functions[i];
        if (function->level != CUNEI_LEVEL_FULL)
            cunei_budget_end_gap(budget, function, steady, now_ns);
    }
    budget->gap_steady -= steady;
    cunei_budget_write_samples(budget, now_ns, true);
}
