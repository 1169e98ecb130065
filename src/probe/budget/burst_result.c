// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/burst_result.h"

#include <math.h>

#include "probe/budget/budget_events.h"
#include "probe/budget/budget_state.h"

#define ENTRIES_LEAST 100 /* in each half of a burst, to compare them */

/* Entries in the half that counted ends as well; if there was one half only, in it. */
static double entries_twice(const struct cunei_budget *budget,
                            const struct cunei_budget_function *function)
{
    return budget->counts_ends
               ? function->settled - (budget->half_ns > 0 ? function->half_entries : 0)
               : (budget->half_ns > 0 ? function->half_entries : 0);
}

void cunei_burst_compare_halves(struct cunei_budget *budget)
{
    double first = 0, second = 0;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_budget_function *function = &budget->functions[i];
        if (function->level == CUNEI_LEVEL_FULL)
            continue;
        first += function->half_entries;
        second += function->settled - function->half_entries;
    }
    if (budget->half_ns <= 0 || first < ENTRIES_LEAST || second < ENTRIES_LEAST)
        return;
    double ratio =
        (budget->settled_ns - budget->half_ns) / second / (budget->half_ns / first);
    cunei_scale_pair(&budget->scale, budget->counts_ends ? ratio : 1 / ratio);
}

double cunei_burst_settled_ns(struct cunei_budget *budget, double time_ns)
{
    double entries = 0, settled = 0;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_budget_function *function = &budget->functions[i];
        if (function->level == CUNEI_LEVEL_FULL)
            continue;
        entries += function->burst_calls + function->burst_resumes;
        settled += function->settled;
    }
    if (settled >= ENTRIES_LEAST)
        return fmin(time_ns, budget->settled_ns * entries / settled);
    for (uint32_t i = 0; i < budget->capacity; i++) {
        struct cunei_budget_function *function = &budget->functions[i];
        function->settled = function->burst_calls + function->burst_resumes;
        function->half_entries = 0;
    }
    budget->half_ns = 0;
    budget->settled_ns = time_ns;
    return time_ns;
}

struct cunei_scale_side cunei_burst_cost(const struct cunei_budget *budget,
                                         double time_ns, bool is_counted)
{
    struct cunei_scale_side side = {.time_ns = time_ns};

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_budget_function *function = &budget->functions[i];
        const struct cunei_observed *seen =
            cunei_observer_find(&budget->burst, i + CUNEI_FUNCTION_FIRST);
        if (function->level == CUNEI_LEVEL_FULL)
            continue;
        double entries = is_counted ? function->settled
                         : seen     ? (double)(seen->calls + seen->resumes)
                                    : 0;
        double twice = is_counted ? entries_twice(budget, function) : 0;
        double cost = is_counted
                          ? (entries + twice * budget->end_part) * budget->count_ns
                      : seen ? (double)seen->events * budget->event_ns
                             : 0;
        if (function->level == CUNEI_LEVEL_COUNTED)
            cost -= entries * budget->count_ns;
        else
            side.off += entries;
        side.calls += entries;
        side.cost_ns += cost;
    }
    return side;
}

/* A recording burst: the function's times and callers. */
static void close_recorded(struct cunei_budget *budget, uint32_t id,
                           struct cunei_budget_function *function,
                           const struct cunei_burst_span *span)
{
    const struct cunei_observed *seen = cunei_observer_find(&budget->burst, id);
    double load =
        seen ? (double)seen->events * cunei_budget_load_ns(budget) / span->net_ns : 0;

    if (seen) {
        cunei_budget_learn(budget, function, seen, span->running);
        cunei_estimate_callers(&function->estimate, seen);
    }
    function->load = (function->load + load) / 2;
    function->gap_ns += fmax(0, budget->wanted_ns - function->since_ns);
    function->since_ns = span->now_ns;
}

/* A counting burst: how often the function is called, and so the gap before it. */
static void close_counted(const struct cunei_budget *budget,
                          struct cunei_budget_function *function,
                          const struct cunei_burst_span *span)
{
    struct cunei_estimate *estimate = &function->estimate;
    double net_ns = span->net_ns;
    double entries = function->burst_calls + function->burst_resumes;
    double counted = function->level == CUNEI_LEVEL_COUNTED ? function->counted : -1;
    struct cunei_rates rates = {
        .calls = function->burst_calls / net_ns,
        .resumes = function->burst_resumes / net_ns,
        .self = function->self_ticks * entries / net_ns,
        .total = function->total_ticks * entries / net_ns,
        .self_wrong = function->self_ticks_wrong * entries / net_ns,
    };

    function->self = rates.self / budget->ticks_per_ns;
    function->load =
        (function->load + 2 * entries * cunei_budget_load_ns(budget) / net_ns) / 2;
    double gap_ns = function->gap_ns + fmax(0, budget->wanted_ns - function->since_ns);
    const struct cunei_rate_by_events_burst burst = {
        .steady = span->steady,
        .calls = function->burst_calls,
        .resumes = function->burst_resumes,
        .net_ns = net_ns,
        .predicted =
            estimate->last_ns > 0 ? estimate->last.calls + estimate->last.resumes : -1,
        .bias = span->bias,
    };
    cunei_rate_by_events_add(&function->rate, &burst);
    struct cunei_second_rates second =
        cunei_budget_predict(function, budget->gap_steady, gap_ns);
    cunei_estimate_gap(estimate, gap_ns, &rates, span->time_ns, counted, span->bias,
                       &second);
    estimate->calls += function->burst_calls;
    estimate->resumes += function->burst_resumes;
    estimate->self += function->self_ticks * entries;
    estimate->self_bias += function->self_ticks_wrong * entries;
    estimate->total += function->total_ticks * entries;
    estimate->span_ns += span->time_ns;
    function->gap_ns = 0;
    function->counted = 0;
    function->since_ns = span->now_ns;
}

void cunei_burst_add_slowdown(struct cunei_budget *budget, double steady,
                              double time_ns, bool is_counted)
{
    double rest_ns = budget->wanted_ns - budget->rest_ns;

    time_ns += budget->waited_ns;
    if (budget->rest_ns > 0 && rest_ns > time_ns)
        cunei_scale_slowdown(&budget->scale, is_counted, steady,
                             budget->rest_steady * time_ns / rest_ns);
}

void cunei_burst_limit_times(struct cunei_budget *budget, double net_ns)
{
    double ticks = 0;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_budget_function *function = &budget->functions[i];
        if (function->level != CUNEI_LEVEL_FULL)
            ticks += function->self_ticks *
                     (function->burst_calls + function->burst_resumes);
    }
    double part = net_ns * budget->ticks_per_ns / fmax(ticks, 1);
    for (uint32_t i = 0; i < budget->capacity && part < 1; i++) {
        struct cunei_budget_function *function = &budget->functions[i];
        if (function->level == CUNEI_LEVEL_FULL ||
            function->burst_calls + function->burst_resumes == 0)
            continue;
        function->self_ticks *= part;
        function->total_ticks *= part;
    }
}

static void close_one(struct cunei_budget *budget, uint32_t place, bool is_counted,
                      const struct cunei_burst_span *span)
{
    struct cunei_budget_function *function = &budget->functions[place];

    if (function->level == CUNEI_LEVEL_FULL)
        return;
    if (is_counted)
        close_counted(budget, function, span);
    else
        close_recorded(budget, place + CUNEI_FUNCTION_FIRST, function, span);
    function->burst_calls = function->burst_resumes = 0;
    function->settled = function->half_entries = 0;
}

void cunei_burst_close_functions(struct cunei_budget *budget, bool is_counted,
                                 const struct cunei_burst_span *span)
{
    for (uint32_t i = 0; i < budget->capacity; i++)
        close_one(budget, i, is_counted, span);
}
