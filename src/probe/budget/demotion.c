// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/demotion.h"

#include <math.h>
#include <stdlib.h>

#include "probe/budget/budget_events.h"
#include "probe/budget/budget_hot.h"
#include "probe/budget/budget_state.h"
#include "probe/budget/burst_schedule.h"
#include "probe/budget/governor.h"

/* The part of the budget for functions that stay recorded; the rest is for bursts and
 * errors. */
#define STEADY_PART 0.5
/* Run time in which an overdraft is saved again. */
#define HORIZON_NS (2000.0 * CUNEI_NS_PER_MS)
/* Functions that cost less of the program's time than this are ignored. */
#define LOAD_LEAST 1e-6
/* So are functions with fewer events since the last decision: their load is unknown. */
#define EVENTS_LEAST 64u
/* What an event of an exception costs; most of it is CPython's part. */
#define RAISED_NS 300.0
/* A function that was first called just now is at most this many times as hot as its
 * share of the window. */
#define ACTIVE_MOST 20.0

void cunei_demotion_end(struct cunei_budget *budget, double now_ns)
{
    cunei_budget_write_samples_up_to(budget, now_ns);
    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level != CUNEI_LEVEL_FULL)
            cunei_budget_write_demote(CUNEI_PHASE_LEAVE, i + CUNEI_FUNCTION_FIRST,
                                      CUNEI_LEVEL_FULL, true);
    }
}

/* Update the loads of recorded functions; `*fixed`: what cannot be switched off. */
static void learn(struct cunei_budget *budget, double program_ns, double *fixed)
{
    struct cunei_observer *normal = &budget->normal;
    uint64_t others = normal->events;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level == CUNEI_LEVEL_FULL)
            budget->functions[i].load /= 2;
    }
    *fixed = 0;
    for (uint32_t i = 0; i < normal->touched_count; i++) {
        uint32_t place = normal->touched[i];
        const struct cunei_observed *seen = &normal->functions[place];
        struct cunei_budget_function *function =
            cunei_budget_find(budget, place + CUNEI_FUNCTION_FIRST);
        double load = (double)seen->events * cunei_budget_load_ns(budget) / program_ns;
        others -= seen->events;
        if (!function || !function->can_be_demoted ||
            (function->level == CUNEI_LEVEL_FULL && seen->events < EVENTS_LEAST))
            *fixed += load;
        else if (function->level == CUNEI_LEVEL_FULL) {
            function->load = function->load > 0 ? function->load + load / 2 : load;
            function->self = (double)seen->self / budget->ticks_per_ns / program_ns;
        }
    }
    *fixed += (double)others * budget->event_ns * budget->scale.charge / program_ns;
    double raised_ns = RAISED_NS * (double)(cunei_budget_hot.raised - budget->raised);
    budget->raised = cunei_budget_hot.raised;
    budget->spent_ns += raised_ns;
    *fixed += raised_ns / program_ns;
}

/* The share of the program's time that may be spent from now on. */
static double allowance(const struct cunei_budget *budget, double now_ns)
{
    double program_ns = now_ns - budget->begin_ns - budget->spent_ns;
    double left = budget->share * program_ns - budget->spent_ns;

    return fmin(budget->share,
                fmax(budget->share / 5, budget->share + left / HORIZON_NS));
}

/* The part of the time between bursts in which the process ran: times of functions
 * include waiting, and the time of other processes. */
static double running_of(const struct cunei_budget *budget, double span_ns)
{
    const struct cunei_observer *normal = &budget->normal;
    double seen = 0;

    for (uint32_t i = 0; i < normal->touched_count; i++)
        seen += (double)normal->functions[normal->touched[i]].self;
    return seen > 0 ? fmin(1, span_ns * budget->ticks_per_ns / seen) : 1;
}

/* What all functions of a decision have in common. */
struct decision {
    double now_ns, steady;
    double program_ns; /* time since the last decision, without our own … */
    double net;        /* … and the part of it that this is */
    double running;    /* the part in which the process ran */
    bool top_is_open;
};

/* The part of that time since the function was first called: it may have become hot
 * just now, and nothing else is known before the first burst. */
static double active_ns(const struct cunei_budget *budget, const struct decision *at,
                        const struct cunei_observed *seen)
{
    double since_ns =
        (double)(budget->normal.last - seen->first) / budget->ticks_per_ns;

    return fmin(at->program_ns, fmax(since_ns * at->net, at->program_ns / ACTIVE_MOST));
}

static void change(struct cunei_budget *budget, uint32_t place, enum cunei_level level,
                   const struct decision *at)
{
    struct cunei_budget_function *function = &budget->functions[place];
    uint32_t id = place + CUNEI_FUNCTION_FIRST;
    const struct cunei_observed *seen = cunei_observer_find(&budget->normal, id);

    if (function->level != CUNEI_LEVEL_FULL)
        cunei_budget_end_gap(budget, function, at->steady, at->now_ns);
    else {
        function->estimate = (struct cunei_estimate){0};
        function->rate = (struct cunei_rate_by_events){0};
        if (seen) {
            double active = active_ns(budget, at, seen);
            function->estimate.last =
                cunei_budget_rates_of(budget, seen, active, active);
            function->estimate.last.self *= at->running;
            function->estimate.last.total *= at->running;
            function->estimate.last.self_wrong *= at->running;
            function->estimate.last_ns = active;
            function->estimate.is_chosen = true;
            cunei_estimate_callers(&function->estimate, seen);
        }
        function->since_ns = at->now_ns;
        function->gap_ns = 0;
        function->counted = 0;
        /* It may have waited for most of that time: the first burst replaces this. */
        if (seen && !function->has_learned) {
            cunei_budget_learn(budget, function, seen, at->running);
            function->has_learned = false;
        }
    }
    if (level == CUNEI_LEVEL_FULL)
        cunei_budget_write_sample(budget, id, function, at->top_is_open);
    budget->demoted += function->level == CUNEI_LEVEL_FULL;
    budget->demoted -= level == CUNEI_LEVEL_FULL;
    function->level = level;
    function->was_demoted = true;
    cunei_budget_write_demote(level == CUNEI_LEVEL_FULL ? CUNEI_PHASE_LEAVE
                                                        : CUNEI_PHASE_ENTER,
                              id, level, at->top_is_open);
}

/*
 * Keep the steady events that were read.  If fewer functions are steady from now on,
 * scale the counts before down accordingly.
 */
static void clear_normal(struct cunei_budget *budget, double steady)
{
    double left = cunei_budget_steady_events(budget, &budget->normal);
    double part = steady > 0 ? left / steady : left < steady ? 0 : 1;

    budget->rest_steady = (budget->rest_steady + steady - budget->steady_before) * part;
    budget->gap_steady *= part;
    budget->steady_before = 0;
    for (uint32_t i = 0; i < budget->capacity && part < 1; i++)
        budget->functions[i].rate.steady *= part;
    cunei_observer_clear(&budget->normal);
}

void cunei_demotion_decide(struct cunei_budget *budget, double now_ns, bool top_is_open)
{
    double span_ns = now_ns - budget->window_ns - budget->bursts_ns;
    double program_ns = fmax(span_ns - budget->window_spent_ns, span_ns / 10);
    struct cunei_limits limits = {.allowed = STEADY_PART * allowance(budget, now_ns),
                                  .counted = budget->count_ns / (2 * budget->event_ns)};
    size_t count = 0;

    cunei_budget_take_counts(budget);
    learn(budget, program_ns, &limits.fixed);
    struct cunei_candidate *items = calloc(budget->capacity + 1, sizeof(*items));
    for (uint32_t i = 0; items && i < budget->capacity; i++) {
        const struct cunei_budget_function *function = &budget->functions[i];
        if (function->can_be_demoted &&
            (function->load > LOAD_LEAST || function->level))
            items[count++] = (struct cunei_candidate){
                .place = i,
                .load = function->load,
                .self = function->self,
                .level = function->level,
            };
    }
    size_t changes = cunei_governor_decide(items, count, &limits);
    double steady = cunei_budget_steady_events(budget, &budget->normal);
    const struct decision at = {.now_ns = now_ns,
                                .steady = cunei_budget_steady_since(budget),
                                .program_ns = program_ns,
                                .net = program_ns / span_ns,
                                .running = running_of(budget, span_ns),
                                .top_is_open = top_is_open};
    for (size_t i = 0; i < count && changes > 0; i++) {
        if (items[i].wanted != items[i].level)
            change(budget, items[i].place, items[i].wanted, &at);
    }
    free(items);
    if (changes > 0)
        cunei_budget_switch(budget);
    clear_normal(budget, steady);
    budget->window_ns = cunei_budget_run_ns();
    budget->bursts_ns = budget->window_spent_ns = 0;
    if (budget->next_ns == 0)
        cunei_burst_schedule_plan(budget);
}
