// SPDX-License-Identifier: MIT
#include <Python.h>

#include <math.h>

#include "probe/budget/budget.h"
#include "probe/budget/budget_private.h"
#include "probe/budget/budget_timer.h"
#include "rt/clock.h"
#include "rt/recorder.h"

#define SETTLED_LEAST_NS (0.02 * CUNEI_NS_PER_MS)
#define LATE_NS          (5.0 * CUNEI_NS_PER_MS)
#define ASIDE_MOST       0.1 /* of a burst, for packets */
#define LAG              2.0 /* looks at the clock: how late an end may be noticed */
#define SHORT_MOST       0.1 /* of a burst: so much of it may be missing … */
#define EXTENDED_MOST    16u /* … and be caught up with, so many times */
#define ENTRIES_LEAST    100 /* in each half, to compare them */

/* How long the burst that is on settles, in ticks. */
static uint64_t settling(const struct cunei_budget *budget)
{
    return (uint64_t)(fmin(cunei_burst_schedule_settling_ns(budget),
                           budget->planned_ns / 4) *
                      budget->ticks_per_ns);
}

/*
 * When the stage that is on ends.  A burst that counts has two halves, which cost
 * differently, and each settles first.
 */
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
        cunei_budget_tick = until;
    else
        cunei_recorder_set_alarm(until);
}

/* So much of the burst is left. */
static void go_on_until(struct cunei_budget *budget, double left_ns)
{
    uint64_t late_ns = cunei_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(LATE_NS + left_ns);

    budget->burst_until =
        cunei_clock_read() + (uint64_t)(left_ns * budget->ticks_per_ns);
    set_stage_end(budget);
    cunei_budget_left = CUNEI_BUDGET_CALLS;
    cunei_budget_timer_set(late_ns, 0, budget->wake);
}

/* What was before the burst is known. */
static void end_rest(struct cunei_budget *budget)
{
    cunei_recorder_visit(cunei_budget_observe, budget);
    cunei_demotion_take_counts(budget);
    double moves = cunei_budget_moves(budget, &budget->normal);
    budget->rest_moves += moves - budget->moves_before;
    budget->gap_moves += budget->rest_moves;
}

static void miss(struct cunei_budget *budget, double now_ns, double span_ns);

void cunei_burst_begin(struct cunei_budget *budget, double now_ns, bool top_is_open)
{
    double span_ns = (double)budget->burst_until / budget->ticks_per_ns;

    end_rest(budget);
    if (budget->still_ns >= span_ns) {
        miss(budget, now_ns, span_ns);
        return;
    }
    budget->planned_ns = span_ns - budget->still_ns;
    budget->aside_ns = -(double)cunei_recorder_write_ns();
    budget->state = cunei_burst_schedule_counts_next(budget) ? CUNEI_BUDGET_COUNTS
                                                             : CUNEI_BUDGET_RECORDS;
    cunei_demotion_write(CUNEI_PHASE_RESUME, 0,
                         cunei_burst_schedule_counts_next(budget) ? CUNEI_LEVEL_COUNTED
                                                                  : CUNEI_LEVEL_FULL,
                         top_is_open);
    budget->bursts++;
    budget->looks++;
    budget->observer = &budget->burst;
    /* Which half comes first is chance: what changes in a burst is in both alike. */
    budget->source->twice =
        budget->state == CUNEI_BUDGET_COUNTS && budget->random >> 16 & 1;
    cunei_budget_switch(budget);
    budget->burst_begin = cunei_clock_read();
    budget->half_ns = budget->settled_ns = 0;
    budget->extended = 0;
    budget->burst_ns = cunei_budget_run_ns();
    budget->stage = CUNEI_STAGE_SETTLES;
    go_on_until(budget, budget->planned_ns);
}

bool cunei_burst_extend(struct cunei_budget *budget, double now_ns)
{
    double missing_ns = budget->planned_ns - (now_ns - budget->burst_ns);

    if (missing_ns < SHORT_MOST * budget->planned_ns ||
        budget->extended == EXTENDED_MOST)
        return false;
    budget->extended++;
    go_on_until(budget, missing_ns);
    return true;
}

/* Counts of a burst that counts are its own; those before it are kept. */
static void take_burst_counts(PyCodeObject *code, uint32_t id,
                              struct cunei_code_state *state, void *context)
{
    struct cunei_budget *budget = context;
    struct cunei_governed *function = cunei_budget_find(budget, id);
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

/* The stage that is on ends, and what was called in it has been taken. */
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

/* What was recorded up to here is in the trace, and says nothing of how long calls
 * take. */
static void go_on_recording(struct cunei_budget *budget)
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

static void go_on_counting(struct cunei_budget *budget, double now_ns)
{
    cunei_code_judge_all(take_burst_counts, budget);
    end_stage(budget, now_ns);
    budget->stage++;
    if (budget->stage == CUNEI_STAGE_SETTLES_AGAIN)
        cunei_budget_turn(budget);
    set_stage_end(budget);
    budget->stage_ns = cunei_budget_run_ns();
}

void cunei_burst_go_on(struct cunei_budget *budget, double now_ns)
{
    if (cunei_clock_read() < budget->stage_until)
        return;
    if (budget->state == CUNEI_BUDGET_COUNTS)
        go_on_counting(budget, now_ns);
    else
        go_on_recording(budget);
}

/*
 * Entries of the half that heard of ends, too; where there was but one half, of that.
 */
static double entries_twice(const struct cunei_budget *budget,
                            const struct cunei_governed *function)
{
    return budget->source->twice
               ? function->settled - (budget->half_ns > 0 ? function->half_entries : 0)
               : (budget->half_ns > 0 ? function->half_entries : 0);
}

/* By how much longer an entry takes where ends are heard of, too. */
static void add_pair(struct cunei_budget *budget)
{
    double first = 0, second = 0;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_governed *function = &budget->functions[i];
        if (function->level == CUNEI_LEVEL_FULL)
            continue;
        first += function->half_entries;
        second += function->settled - function->half_entries;
    }
    if (budget->half_ns <= 0 || first < ENTRIES_LEAST || second < ENTRIES_LEAST)
        return;
    double ratio =
        (budget->settled_ns - budget->half_ns) / second / (budget->half_ns / first);
    cunei_scale_pair(&budget->scale, budget->source->twice ? ratio : 1 / ratio);
}

/*
 * What a burst that counts would have taken if it had been settled from its begin on.
 * Where it never was, it was too short, or too little was called.
 */
static double settle(struct cunei_budget *budget, double time_ns)
{
    double entries = 0, settled = 0;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_governed *function = &budget->functions[i];
        if (function->level == CUNEI_LEVEL_FULL)
            continue;
        entries += function->burst_calls + function->burst_resumes;
        settled += function->settled;
    }
    if (settled >= ENTRIES_LEAST)
        return fmin(time_ns, budget->settled_ns * entries / settled);
    for (uint32_t i = 0; i < budget->capacity; i++) {
        struct cunei_governed *function = &budget->functions[i];
        function->settled = function->burst_calls + function->burst_resumes;
        function->half_entries = 0;
    }
    budget->half_ns = 0;
    budget->settled_ns = time_ns;
    return time_ns;
}

/* What a burst cost more than the time before it, as far as it is known. */
static struct cunei_scale_side side_of_burst(const struct cunei_budget *budget,
                                             double time_ns, bool is_counted)
{
    struct cunei_scale_side side = {.time_ns = time_ns};

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_governed *function = &budget->functions[i];
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

/* The span of time that a burst has looked at. */
struct span {
    double moves; /* of functions that were never demoted */
    double time_ns;
    double net_ns;  /* what it would have taken without a burst */
    double now_ns;  /* run time at its end */
    double bias;    /* of that, which part may be wrong */
    double running; /* the part of the burst in which the process ran */
};

/* One function's part of a recorded burst: its times, and who calls it. */
static void close_recorded(struct cunei_budget *budget, uint32_t id,
                           struct cunei_governed *function, const struct span *span)
{
    const struct cunei_observed *seen = cunei_observer_find(&budget->burst, id);
    double load =
        seen ? (double)seen->events * cunei_budget_load_ns(budget) / span->net_ns : 0;

    if (seen) {
        cunei_demotion_learn(budget, function, seen, span->running);
        cunei_estimate_callers(&function->estimate, seen);
    }
    function->load = (function->load + load) / 2;
    function->gap_ns += fmax(0, budget->wanted_ns - function->since_ns);
    function->since_ns = span->now_ns;
}

/* Of one that was counted: how often it is called, and with that what went before. */
static void close_counted(const struct cunei_budget *budget,
                          struct cunei_governed *function, const struct span *span)
{
    struct cunei_estimate *estimate = &function->estimate;
    double net_ns = span->net_ns;
    double entries = function->burst_calls + function->burst_resumes;
    double counted = function->level == CUNEI_LEVEL_COUNTED ? function->counted : -1;
    struct cunei_rates rates = {
        .calls = function->burst_calls / net_ns,
        .resumes = function->burst_resumes / net_ns,
        .self = function->own * entries / net_ns,
        .total = function->whole * entries / net_ns,
        .self_wrong = function->own_wrong * entries / net_ns,
    };

    function->self = rates.self / budget->ticks_per_ns;
    function->load =
        (function->load + 2 * entries * cunei_budget_load_ns(budget) / net_ns) / 2;
    double gap_ns = function->gap_ns + fmax(0, budget->wanted_ns - function->since_ns);
    const struct cunei_rate_by_events_burst burst = {
        .moves = span->moves,
        .calls = function->burst_calls,
        .resumes = function->burst_resumes,
        .net_ns = net_ns,
        .predicted =
            estimate->last_ns > 0 ? estimate->last.calls + estimate->last.resumes : -1,
        .bias = span->bias,
    };
    cunei_rate_by_events_add(&function->pace, &burst);
    struct cunei_second second =
        cunei_demotion_follow(function, budget->gap_moves, gap_ns);
    cunei_estimate_gap(estimate, gap_ns, &rates, span->time_ns, counted, span->bias,
                       &second);
    estimate->calls += function->burst_calls;
    estimate->resumes += function->burst_resumes;
    estimate->self += function->own * entries;
    estimate->self_bias += function->own_wrong * entries;
    estimate->total += function->whole * entries;
    estimate->span_ns += span->time_ns;
    function->gap_ns = 0;
    function->counted = 0;
    function->since_ns = span->now_ns;
}

/* What never is demoted tells how fast the program is in a burst. */
static void add_progress(struct cunei_budget *budget, double moves, double time_ns,
                         bool is_counted)
{
    double rest_ns = budget->wanted_ns - budget->rest_ns;

    time_ns += budget->still_ns;
    if (budget->rest_ns > 0 && rest_ns > time_ns)
        cunei_scale_progress(&budget->scale, is_counted, moves,
                             budget->rest_moves * time_ns / rest_ns);
}

/* What is not recorded begins where everything has been switched, but for the time
 * that has gone by since the span of the burst was over. */
static void begin_rest(struct cunei_budget *budget, double over_ns)
{
    double now_ns = cunei_budget_run_ns();

    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level != CUNEI_LEVEL_FULL)
            budget->functions[i].since_ns = now_ns - over_ns;
    }
    budget->rest_ns = now_ns;
    budget->rest_moves = 0;
    budget->moves_before = cunei_budget_moves(budget, &budget->normal);
}

/*
 * Functions that are demoted cannot have taken more time of their own than has gone by:
 * where they seem to, too little was taken off for the cost of their events.  Of others
 * that burst knows nothing.
 */
static void fit(struct cunei_budget *budget, double net_ns)
{
    double ticks = 0;

    for (uint32_t i = 0; i < budget->capacity; i++) {
        const struct cunei_governed *function = &budget->functions[i];
        if (function->level != CUNEI_LEVEL_FULL)
            ticks += function->own * (function->burst_calls + function->burst_resumes);
    }
    double part = net_ns * budget->ticks_per_ns / fmax(ticks, 1);
    for (uint32_t i = 0; i < budget->capacity && part < 1; i++) {
        struct cunei_governed *function = &budget->functions[i];
        if (function->level == CUNEI_LEVEL_FULL ||
            function->burst_calls + function->burst_resumes == 0)
            continue;
        function->own *= part;
        function->whole *= part;
    }
}

/* One function's part of a burst. */
static void close_one(struct cunei_budget *budget, uint32_t place, bool is_counted,
                      const struct span *span)
{
    struct cunei_governed *function = &budget->functions[place];

    if (function->level == CUNEI_LEVEL_FULL)
        return;
    if (is_counted)
        close_counted(budget, function, span);
    else
        close_recorded(budget, place + CUNEI_FUNCTION_FIRST, function, span);
    function->burst_calls = function->burst_resumes = 0;
    function->settled = function->half_entries = 0;
}

/* The whole span of a burst was over before it could begin: nothing was called. */
static void miss(struct cunei_budget *budget, double now_ns, double span_ns)
{
    bool is_counted = cunei_burst_schedule_counts_next(budget);
    const struct span span = {
        .time_ns = span_ns, .net_ns = span_ns, .now_ns = now_ns, .running = 1};

    for (uint32_t i = 0; i < budget->capacity; i++)
        close_one(budget, i, is_counted, &span);
    if (is_counted)
        budget->gap_moves = 0;
    budget->looks++;
    double over_ns = budget->still_ns - span_ns;
    cunei_burst_schedule_plan(budget);
    begin_rest(budget, over_ns);
}

/*
 * A burst ends between two instructions, too, where the clock is looked at.  What comes
 * later than that was in a C function, in which nothing was called.
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
    /* That is by the wall, where something else may have run meanwhile. */
    time_ns -= fmin(aside_ns, ASIDE_MOST * time_ns);

    cunei_budget_tick = UINT64_MAX;
    cunei_recorder_set_alarm(0);
    end_stage(budget, now_ns - over_ns);
    budget->bursts_ns += time_ns;
    budget->settled_ns *= time_ns / fmax(took_ns - over_ns, 1);
    if (is_counted) {
        time_ns = settle(budget, time_ns);
        add_pair(budget);
    } else if (budget->stage == CUNEI_STAGE_SETTLES)
        budget->settled_ns = time_ns;
    else
        time_ns = budget->settled_ns = fmax(budget->settled_ns, SETTLED_LEAST_NS);
    double moves = cunei_budget_moves(budget, &budget->burst);
    add_progress(budget, moves, time_ns, is_counted);
    struct cunei_scale_side side =
        side_of_burst(budget, budget->settled_ns, is_counted);
    cunei_scale_add(&budget->scale, is_counted, side.calls, side.time_ns, side.cost_ns);
    double net_ns = cunei_scale_net(&budget->scale, is_counted, &side, &budget->bias) *
                    (time_ns / budget->settled_ns);
    double wall_ns =
        (double)(cunei_clock_read() - budget->burst_begin) / budget->ticks_per_ns;
    const struct span span = {
        .moves = moves,
        .time_ns = time_ns + budget->still_ns,
        .net_ns = net_ns + budget->still_ns,
        .now_ns = now_ns,
        .bias = budget->bias,
        .running = fmin(1, took_ns / fmax(wall_ns, 1000)),
    };

    if (is_counted)
        fit(budget, span.net_ns);
    for (uint32_t i = 0; i < budget->capacity; i++)
        close_one(budget, i, is_counted, &span);
    budget->source->twice = false;
    if (is_counted)
        budget->gap_moves = 0;
    budget->state = CUNEI_BUDGET_RESTS;
    budget->observer = &budget->normal;
    cunei_demotion_write(CUNEI_PHASE_YIELD, 0, is_counted ? CUNEI_LEVEL_COUNTED : 0,
                         top_is_open);
    cunei_budget_switch(budget);
    cunei_observer_clear(&budget->burst);
    if (cunei_demotion_is_to_be_told(budget, now_ns))
        cunei_demotion_tell(budget, now_ns, top_is_open);
    cunei_burst_schedule_plan(budget);
    begin_rest(budget, over_ns);
}
