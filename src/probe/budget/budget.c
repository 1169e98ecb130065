// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/budget/budget_events.h"
#include "probe/budget/budget_hot.h"
#include "probe/budget/budget_state.h"
#include "probe/budget/budget_timer.h"
#include "probe/budget/burst.h"
#include "probe/budget/burst_schedule.h"
#include "probe/budget/demotion.h"
#include "probe/code/code_resolve.h"
#include "probe/core/cold_event.h"
#include "probe/core/compat.h"
#include "rt/clock.h"
#include "rt/recorder.h"

/* If the cost could not be measured: that of slow machines. */
#define EVENT_COST_PS UINT64_C(40000)
#define COUNT_SHARE   0.35
/* Limits of the cost of a counted end / that of a counted start: beyond them, something
 * disturbed the measurement. */
#define END_LEAST 0.7
#define END_MOST  1.25
/* In programs whose calls are known it was 0.6 to 0.9 of what is measured. */
#define END_HERE 0.7
/* What reading an event again takes, until it is measured. */
#define OBSERVE_NS 10.0

/* Run time between two decisions. */
#define WINDOW_NS (100.0 * CUNEI_NS_PER_MS)

/* There is one recording at a time. */
static struct cunei_budget budget;

static void wake(void);

enum cunei_level cunei_budget_level(uint32_t id)
{
    return budget.source ? cunei_budget_level_of(&budget, id) : CUNEI_LEVEL_FULL;
}

void cunei_budget_apply_level(PyCodeObject *code, enum cunei_level level)
{
    budget.source->methods->set_level(budget.source, code, level, budget.counts_ends);
}

void cunei_budget_closing(struct cunei_stream *stream)
{
    if (!budget.source)
        return;
    cunei_budget_observe(stream, &budget);
    cunei_budget_hot.is_due = true;
}

void cunei_budget_charge(uint64_t ticks)
{
    if (budget.source)
        cunei_budget_spend(&budget, (double)ticks / budget.ticks_per_ns);
}

unsigned cunei_budget_bursts(void)
{
    return budget.bursts;
}

void cunei_budget_alarmed(void)
{
    cunei_budget_hot.is_due = budget.source != NULL;
}

static bool is_time_to_decide(double now_ns)
{
    double span_ns = now_ns - budget.window_ns - budget.bursts_ns;
    double spent_ns = budget.window_spent_ns;

    return span_ns > WINDOW_NS || (spent_ns > 0.5 * CUNEI_NS_PER_MS &&
                                   spent_ns > 1.5 * budget.share * span_ns);
}

static void act(double now_ns, bool is_event, bool top_is_open)
{
    bool switches = true;

    if (budget.state != CUNEI_BUDGET_RESTS) {
        bool is_over = cunei_clock_read() >= budget.burst_until &&
                       !cunei_burst_extend(&budget, now_ns);
        if (is_over)
            cunei_burst_end(&budget, now_ns, top_is_open);
        else
            cunei_burst_continue(&budget, now_ns);
        switches = is_over;
    } else if (budget.next_ns && now_ns >= budget.next_run_ns &&
               cunei_clock_ns(CLOCK_MONOTONIC) >= budget.next_ns) {
        /* First of all: time spent here is not the program's. */
        bool begins = cunei_burst_schedule_lets_begin(&budget, now_ns);
        if (is_time_to_decide(now_ns)) {
            cunei_recorder_visit(cunei_budget_observe, &budget);
            cunei_demotion_decide(&budget, now_ns, top_is_open);
        }
        if (begins && budget.demoted > 0)
            cunei_burst_begin(&budget, now_ns, top_is_open);
    } else if (is_time_to_decide(now_ns)) {
        cunei_recorder_visit(cunei_budget_observe, &budget);
        cunei_demotion_decide(&budget, now_ns, top_is_open);
    } else
        switches = false;
    uint64_t now = cunei_clock_read();
    if (switches && is_event && budget.state == CUNEI_BUDGET_RESTS)
        (void)cunei_recorder_room(&now, 0, top_is_open);
}

static void act_once(bool is_event, bool top_is_open)
{
    cunei_budget_hot.is_due = false;
    cunei_budget_hot.left = CUNEI_BUDGET_CALLS;
    if (!budget.source || budget.is_acting || !cunei_recorder_is_on())
        return;
    budget.is_acting = true;
    struct cunei_cold_event event = cunei_cold_event_begin();
    double begin_ns = cunei_budget_run_ns();
    act(begin_ns, is_event, top_is_open);
    uint64_t written_ns = cunei_recorder_write_ns();
    double took_ns = cunei_budget_run_ns() - begin_ns;
    uint64_t timer_ns;
    (void)cunei_budget_timer_run_ns(&timer_ns);
    cunei_budget_spend(&budget, took_ns + (double)(written_ns - budget.written_ns) +
                                    (double)(timer_ns - budget.timer_ns));
    budget.timer_ns = timer_ns;
    budget.written_ns = written_ns;
    cunei_cold_event_end(&event);
    cunei_budget_hot.is_due = false;
    budget.is_acting = false;
}

void cunei_budget_act(bool top_is_open)
{
    act_once(true, top_is_open);
}

static void wake(void)
{
    act_once(false, true);
    if (budget.source && budget.next_ns && budget.state == CUNEI_BUDGET_RESTS)
        cunei_budget_timer_set(budget.next_ns, (uint64_t)budget.next_run_ns, wake);
}

void cunei_budget_begin(const struct cunei_budget_options *options)
{
    const struct cunei_event_cost *cost = &options->cost;
    uint64_t event_ps = cost->event_ps ? cost->event_ps : EVENT_COST_PS;

    cunei_budget_forget();
    if (options->millionths == 0)
        return;
    budget.share = (double)options->millionths / 1e6;
    budget.event_ns = (double)event_ps / 1e3;
    budget.count_ns = cost->count_ps ? (double)cost->count_ps / 1e3
                                     : 2 * budget.event_ns * COUNT_SHARE;
    budget.end_part = cost->end_part > 0 ? cost->end_part : 1;
    budget.end_part = fmin(END_MOST, fmax(END_LEAST, budget.end_part));
    budget.ticks_per_ns = (double)cunei_recorder_frequency() / 1e9;
    budget.observer = &budget.normal;
    budget.observe_ns = OBSERVE_NS;
    budget.wake = wake;
    budget.random = (uint32_t)cunei_clock_read();
    budget.raised = cunei_budget_hot.raised;
    cunei_scale_init(&budget.scale, END_HERE * budget.end_part);
    budget.bias = budget.scale.error;
    budget.begin_ns = budget.window_ns = budget.samples_ns = cunei_budget_run_ns();
    cunei_budget_hot.tick = UINT64_MAX;
    cunei_budget_hot.left = CUNEI_BUDGET_CALLS;
    budget.source = options->source;
}

/* End the current burst and read all events; returns the run time up to here. */
static double read_all(void)
{
    double now_ns = cunei_budget_run_ns();

    if (budget.state != CUNEI_BUDGET_RESTS)
        cunei_burst_end(&budget, now_ns, true);
    cunei_recorder_visit(cunei_budget_observe, &budget);
    return now_ns;
}

void cunei_budget_write_all(void)
{
    if (!budget.source || budget.is_acting || !cunei_recorder_is_on())
        return;
    budget.is_acting = true;
    struct cunei_cold_event event = cunei_cold_event_begin();
    cunei_budget_write_samples_up_to(&budget, read_all());
    cunei_cold_event_end(&event);
    budget.is_acting = false;
}

void cunei_budget_end(void)
{
    if (!budget.source || budget.is_acting)
        return;
    budget.is_acting = true;
    cunei_budget_timer_stop();
    uint32_t before = cunei_recorder_begin_event();
    cunei_demotion_end(&budget, read_all());
    cunei_budget_timer_stop();
    cunei_recorder_end_event(before);
}

/* Record a code object in full again. */
static void restore(PyCodeObject *code, uint32_t id, struct cunei_code_state *state,
                    void *unused)
{
    (void)unused;
    (void)id;
    state->calls = state->resumes = 0;
    if (state->level == CUNEI_LEVEL_FULL)
        return;
    cunei_code_set_level(code, CUNEI_LEVEL_FULL);
    budget.source->methods->set_level(budget.source, code, CUNEI_LEVEL_FULL, false);
}

void cunei_budget_restart(void)
{
    if (!budget.source)
        return;
    cunei_code_judge_all(restore, NULL);
    cunei_observer_clear(&budget.normal);
    cunei_observer_clear(&budget.burst);
    free(budget.functions);
    budget.functions = NULL;
    budget.capacity = budget.demoted = 0;
    budget.next_ns = 0;
    budget.window_ns = budget.samples_ns = cunei_budget_run_ns();
    budget.bursts_ns = budget.window_spent_ns = 0;
    budget.is_acting = false;
}

void cunei_budget_forget(void)
{
    if (budget.source) {
        struct cunei_compat_error pending = cunei_compat_put_aside();
        cunei_budget_timer_stop();
        cunei_code_judge_all(restore, NULL);
        cunei_compat_put_back(&pending);
    }
    cunei_observer_fini(&budget.normal);
    cunei_observer_fini(&budget.burst);
    free(budget.functions);
    memset(&budget, 0, sizeof(budget));
    cunei_budget_hot.is_due = false;
}
