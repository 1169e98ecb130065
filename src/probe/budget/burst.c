// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/burst.h"

#include <math.h>

#include "probe/budget/budget_events.h"
#include "probe/budget/budget_hot.h"
#include "probe/budget/budget_state.h"
#include "probe/budget/budget_timer.h"
#include "probe/budget/burst_result.h"
#include "probe/budget/burst_schedule.h"
#include "rt/clock.h"
#include "rt/recorder.h"

#define SETTLED_LEAST_NS (0.02 * CUNEI_NS_PER_MS)
#define LATE_NS          (5.0 * CUNEI_NS_PER_MS)
#define ASIDE_MOST       0.1 /* part of a burst for writing packets */
#define LAG              2.0 /* readings of the clock after which an end is late */
#define SHORT_MOST       0.1 /* part of a burst that may be missing … */
#define EXTENDED_MOST    16u /* … before it is extended, at most so often */

/* How long the current burst takes to settle, in ticks. */
static uint64_t settling(const struct cunei_budget *budget)
{
    return (uint64_t)(fmin(cunei_burst_schedule_settling_ns(budget),
                           budget->planned_ns / 4) *
                      budget->ticks_per_ns);
}

/* Set the end of the current stage.  A counting burst has two halves of different cost;
 * each of them settles first. */
static void set_stage_end(struct cunei_budget *budget)
{
    bool is_counted = budget->state == CUNEI_BUDGET_COUNTS;
    uint64_t now = cunei_clock_read(), until = budget->burst_until;

    if (budget->stage == CUNEI_STAGE_SETTLES ||
        budget->stage == CUNEI_STAGE_SETTLES_AGAIN)
        until = now + settling(budget);
    else if (budget->stage == CUNEI_STAGE_FIRST && is_counted && now < until)
        until = now + (until - now) / 2;
    budget->stage_until = until;
    if (is_counted)
        cunei_budget_hot.tick = until;
    else
        cunei_recorder_set_alarm(until);
}

/* The burst ends in `left_ns`. */
static void set_end(struct cunei_budget *budget, double left_ns)
{
    uint64_t late_ns = cunei_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(LATE_NS + left_ns);

    budget->burst_until =
        cunei_clock_read() + (uint64_t)(left_ns * budget->ticks_per_ns);
    set_stage_end(budget);
    cunei_budget_hot.left = CUNEI_BUDGET_CALLS;
    cunei_budget_timer_set(late_ns, 0, budget->wake);
}

/* The time before the burst is over: read its events and counts. */
static void end_gap_before(struct cunei_budget *budget)
{
    cunei_recorder_visit(cunei_budget_observe, budget);
    cunei_budget_take_counts(budget);
    double steady = cunei_budget_steady_events(budget, &budget->normal);
    budget->rest_steady += steady - budget->steady_before;
    budget->gap_steady += budget->rest_steady;
}

static void miss(struct cunei_budget *budget, double now_ns, double span_ns);

void cunei_burst_begin(struct cunei_budget *budget, double now_ns, bool top_is_open)
{
    double span_ns = (double)budget->burst_until / budget->ticks_per_ns;

    end_gap_before(budget);
    if (budget->waited_ns >= span_ns) {
        miss(budget, now_ns, span_ns);
        return;
    }
    budget->planned_ns = span_ns - budget->waited_ns;
    budget->aside_ns = -(double)cunei_recorder_write_ns();
    budget->state = cunei_burst_schedule_counts_next(budget) ? CUNEI_BUDGET_COUNTS
                                                             : CUNEI_BUDGET_RECORDS;
    cunei_budget_write_demote(CUNEI_PHASE_RESUME, 0,
                              cunei_burst_schedule_counts_next(budget)
                                  ? CUNEI_LEVEL_COUNTED
                                  : CUNEI_LEVEL_FULL,
                              top_is_open);
    budget->bursts++;
    budget->looks++;
    budget->observer = &budget->burst;
    /* At random, so that a trend within bursts affects both kinds of halves alike. */
    budget->counts_ends =
        budget->state == CUNEI_BUDGET_COUNTS && budget->random >> 16 & 1;
    cunei_budget_switch(budget);
    budget->burst_begin = cunei_clock_read();
    budget->half_ns = budget->settled_ns = 0;
    budget->extended = 0;
    budget->burst_ns = cunei_budget_run_ns();
    budget->stage = CUNEI_STAGE_SETTLES;
    set_end(budget, budget->planned_ns);
}

bool cunei_burst_extend(struct cunei_budget *budget, double now_ns)
{
    double missing_ns = budget->planned_ns - (now_ns - budget->burst_ns);

    if (missing_ns < SHORT_MOST * budget->planned_ns ||
        budget->extended == EXTENDED_MOST)
        return false;
    budget->extended++;
    set_end(budget, missing_ns);
    return true;
}

/* Calls that were counted in the current stage. */
static void take_burst_counts(PyCodeObject *code, uint32_t id,
                              struct cunei_code_state *state, void *context)
{
    struct cunei_budget *budget = context;
    struct cunei_budget_function *function = cunei_budget_find(budget, id);
    (void)code;

    if (!function)
        return;
    function->burst_calls += (double)state->calls;
    function->burst_resumes += (double)state->resumes;
    if (budget->stage == CUNEI_STAGE_FIRST || budget->stage == CUNEI_STAGE_SECOND)
        function->settled += (double)(state->calls + state->resumes);
    cunei_budget_spend(budget, (double)(state->calls + state->resumes) *
                                   budget->count_ns * budget->scale.charge);
    state->calls = state->resumes = 0;
}

/* The current stage ends; its counts have been taken. */
static void end_stage(struct cunei_budget *budget, double now_ns)
{
    if (budget->stage == CUNEI_STAGE_FIRST) {
        budget->half_ns = now_ns - budget->stage_ns;
        for (uint32_t i = 0; i < budget->capacity; i++)
            budget->functions[i].half_entries = budget->functions[i].settled;
    }
    if (budget->stage == CUNEI_STAGE_FIRST || budget->stage == CUNEI_STAGE_SECOND)
        budget->settled_ns += now_ns - budget->stage_ns;
}

/* Events before the burst has settled are in the trace, but do not show how long calls
 * take. */
static void continue_recording(struct cunei_budget *budget)
{
    if (budget->stage != CUNEI_STAGE_SETTLES)
        return;
    cunei_recorder_visit(cunei_budget_observe, budget);
    cunei_observer_clear(&budget->burst);
    budget->stage = CUNEI_STAGE_FIRST;
    budget->aside_ns = -(double)cunei_recorder_write_ns();
    set_stage_end(budget);
    budget->stage_ns = cunei_budget_run_ns();
}

static void continue_counting(struct cunei_budget *budget, double now_ns)
{
    cunei_code_judge_all(take_burst_counts, budget);
    end_stage(budget, now_ns);
    budget->stage++;
    if (budget->stage == CUNEI_STAGE_SETTLES_AGAIN)
        cunei_budget_turn(budget);
    set_stage_end(budget);
    budget->stage_ns = cunei_budget_run_ns();
}

void cunei_burst_continue(struct cunei_budget *budget, double now_ns)
{
    if (cunei_clock_read() < budget->stage_until)
        return;
    if (budget->state == CUNEI_BUDGET_COUNTS)
        continue_counting(budget, now_ns);
    else
        continue_recording(budget);
}

/* The gap after a burst begins when all events are switched, minus the time since the
 * burst should have ended. */
static void begin_gap_after(struct cunei_budget *budget, double over_ns)
{
    double now_ns = cunei_budget_run_ns();

    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level != CUNEI_LEVEL_FULL)
            budget->functions[i].since_ns = now_ns - over_ns;
    }
    budget->rest_ns = now_ns;
    budget->rest_steady = 0;
    budget->steady_before = cunei_budget_steady_events(budget, &budget->normal);
}

/* The burst was over before it could begin: nothing was called in it. */
static void miss(struct cunei_budget *budget, double now_ns, double span_ns)
{
    bool is_counted = cunei_burst_schedule_counts_next(budget);
    const struct cunei_burst_span span = {
        .time_ns = span_ns, .net_ns = span_ns, .now_ns = now_ns, .running = 1};

    cunei_burst_close_functions(budget, is_counted, &span);
    if (is_counted)
        budget->gap_steady = 0;
    budget->looks++;
    double over_ns = budget->waited_ns - span_ns;
    cunei_burst_schedule_plan(budget);
    begin_gap_after(budget, over_ns);
}

/*
 * The end of a burst is noticed between two instructions, when the clock is read.  If
 * that is much too late, the program was in a C function, in which nothing was called.
 */
static double overtime(const struct cunei_budget *budget, double took_ns,
                       bool is_counted)
{
    double over_ns = took_ns - budget->planned_ns, entries = 0;

    for (uint32_t i = 0; i < budget->capacity; i++)
        entries +=
            budget->functions[i].burst_calls + budget->functions[i].burst_resumes;
    double looks =
        is_counted ? entries / CUNEI_BUDGET_CALLS : (double)budget->burst.events;
    return over_ns * looks > LAG * took_ns ? over_ns : 0;
}

void cunei_burst_end(struct cunei_budget *budget, double now_ns, bool top_is_open)
{
    bool is_counted = budget->state == CUNEI_BUDGET_COUNTS;
    double aside_ns = budget->aside_ns + (double)cunei_recorder_write_ns();
    double took_ns = fmax(now_ns - budget->burst_ns, 1000);
    cunei_recorder_visit(cunei_budget_observe, budget);
    cunei_code_judge_all(take_burst_counts, budget);
    double over_ns = overtime(budget, took_ns, is_counted);
    double time_ns = took_ns - over_ns;
    /* Writing is measured in wall time, in which other processes may have run. */
    time_ns -= fmin(aside_ns, ASIDE_MOST * time_ns);

    cunei_budget_hot.tick = UINT64_MAX;
    cunei_recorder_set_alarm(0);
    end_stage(budget, now_ns - over_ns);
    budget->bursts_ns += time_ns;
    budget->settled_ns *= time_ns / fmax(took_ns - over_ns, 1);
    if (is_counted) {
        time_ns = cunei_burst_settled_ns(budget, time_ns);
        cunei_burst_compare_halves(budget);
    } else if (budget->stage == CUNEI_STAGE_SETTLES)
        budget->settled_ns = time_ns;
    else
        time_ns = budget->settled_ns = fmax(budget->settled_ns, SETTLED_LEAST_NS);
    double steady = cunei_budget_steady_events(budget, &budget->burst);
    cunei_burst_add_slowdown(budget, steady, time_ns, is_counted);
    struct cunei_scale_side side =
        cunei_burst_cost(budget, budget->settled_ns, is_counted);
    cunei_scale_add(&budget->scale, is_counted, side.calls, side.time_ns, side.cost_ns);
    double net_ns = cunei_scale_net(&budget->scale, is_counted, &side, &budget->bias) *
                    (time_ns / budget->settled_ns);
    double wall_ns =
        (double)(cunei_clock_read() - budget->burst_begin) / budget->ticks_per_ns;
    const struct cunei_burst_span span = {
        .steady = steady,
        .time_ns = time_ns + budget->waited_ns,
        .net_ns = net_ns + budget->waited_ns,
        .now_ns = now_ns,
        .bias = budget->bias,
        .running = fmin(1, took_ns / fmax(wall_ns, 1000)),
    };

    if (is_counted)
        cunei_burst_limit_times(budget, span.net_ns);
    cunei_burst_close_functions(budget, is_counted, &span);
    budget->counts_ends = false;
    if (is_counted)
        budget->gap_steady = 0;
    budget->state = CUNEI_BUDGET_RESTS;
    budget->observer = &budget->normal;
    cunei_budget_write_demote(CUNEI_PHASE_YIELD, 0,
                              is_counted ? CUNEI_LEVEL_COUNTED : 0, top_is_open);
    cunei_budget_switch(budget);
    cunei_observer_clear(&budget->burst);
    if (cunei_budget_samples_are_due(budget, now_ns))
        cunei_budget_write_samples(budget, now_ns, top_is_open);
    cunei_burst_schedule_plan(budget);
    begin_gap_after(budget, over_ns);
}
