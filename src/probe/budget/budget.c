// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/budget/budget_private.h"
#include "probe/budget/budget_timer.h"
#include "probe/code/code_resolve.h"
#include "probe/core/compat.h"
#include "rt/clock.h"
#include "rt/recorder.h"

/* Where nothing could be measured: what it costs on slow machines. */
#define EVENT_COST_PS UINT64_C(40000)
#define COUNT_SHARE   0.35
/* What an end costs to be counted, of what a beginning does: beyond, something came
 * between while it was measured. */
#define END_LEAST 0.7
#define END_MOST  1.25
/* In programs whose calls are known otherwise it was 0.6 to 0.9 of what is measured. */
#define END_HERE 0.7
/* What reading an event again takes, as long as nobody knows, and how many tell it. */
#define OBSERVE_NS     10.0
#define OBSERVED_LEAST 256

/* Run time after which it is time to decide anew. */
#define WINDOW_NS (100.0 * CUNEI_NS_PER_MS)

bool cunei_budget_due;
uint32_t cunei_budget_left;
uint64_t cunei_budget_tick;
uint64_t cunei_budget_raised;

/* One recording's at a time. */
static struct cunei_budget budget;

static void wake(void);

double cunei_budget_run_ns(void)
{
    return (double)cunei_budget_timer_others_ns(NULL);
}

void cunei_budget_spend(struct cunei_budget *own, double ns)
{
    own->spent_ns += ns;
    if (own->state == CUNEI_BUDGET_RESTS)
        own->window_spent_ns += ns;
}

double cunei_budget_event_ns(const struct cunei_budget *own)
{
    return own->event_ns * own->scale.value;
}

double cunei_budget_load_ns(const struct cunei_budget *own)
{
    return own->event_ns * own->scale.charge + own->observe_ns;
}

struct cunei_governed *cunei_budget_find(struct cunei_budget *own, uint32_t id)
{
    uint32_t place = id - CUNEI_FUNCTION_FIRST;
    uint32_t capacity = own->capacity ? own->capacity : 256;

    if (id < CUNEI_FUNCTION_FIRST || id >= CUNEI_FUNCTION_CLASS_END)
        return NULL;
    if (place < own->capacity)
        return &own->functions[place];
    while (capacity <= place)
        capacity *= 2;
    struct cunei_governed *functions =
        realloc(own->functions, capacity * sizeof(*functions));
    if (!functions)
        return NULL;
    memset(functions + own->capacity, 0,
           (capacity - own->capacity) * sizeof(*functions));
    own->functions = functions;
    own->capacity = capacity;
    return &functions[place];
}

enum cunei_level cunei_budget_level(uint32_t id)
{
    const struct cunei_governed *function =
        budget.source ? cunei_budget_find(&budget, id) : NULL;

    if (!function || function->level == CUNEI_LEVEL_FULL)
        return CUNEI_LEVEL_FULL;
    return budget.state == CUNEI_BUDGET_RECORDS  ? CUNEI_LEVEL_FULL
           : budget.state == CUNEI_BUDGET_COUNTS ? CUNEI_LEVEL_COUNTED
                                                 : function->level;
}

void cunei_budget_levelled(PyCodeObject *code, enum cunei_level level)
{
    budget.source->methods->level(budget.source, code, level);
}

void cunei_budget_observe(struct cunei_stream *stream, void *context)
{
    struct cunei_budget *own = context;
    const uint64_t *words = (const void *)stream->packet;
    uint64_t first = sizeof(*stream->packet) / sizeof(uint64_t);
    uint64_t end = stream->content_bits / 64;
    uint64_t before = own->observer->events;

    if (stream->hook_word == stream->content_bits || !stream->thread)
        return;
    if (stream->hook_word)
        first = stream->hook_word / 64;
    stream->hook_word = stream->content_bits;
    uint64_t begin_ns = cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (end > first)
        cunei_observer_read(own->observer, stream->packet->timestamp_begin,
                            words + first, end - first);
    double took_ns = (double)(cunei_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
    double events = (double)(own->observer->events - before);
    if (events >= OBSERVED_LEAST)
        own->observe_ns = (own->observe_ns * 3 + took_ns / events) / 4;
    if (own->state != CUNEI_BUDGET_RESTS)
        own->aside_ns += took_ns;
    cunei_budget_spend(own, events * own->event_ns * own->scale.charge +
                                (own->is_acting ? 0 : took_ns));
}

double cunei_budget_moves(const struct cunei_budget *own,
                          const struct cunei_observer *observer)
{
    double moves = 0;

    for (uint32_t i = 0; i < observer->touched_count; i++) {
        uint32_t place = observer->touched[i];
        if (place >= own->capacity || !own->functions[place].was)
            moves += (double)observer->functions[place].events;
    }
    return moves;
}

static void set_level(PyCodeObject *code, uint32_t id, struct cunei_code_state *state,
                      void *unused)
{
    (void)unused;
    enum cunei_level level = cunei_budget_level(id);

    if (state->level == level &&
        (level != CUNEI_LEVEL_COUNTED || budget.has_twice == budget.source->twice))
        return;
    budget.switched++;
    cunei_code_set_level(code, level);
    cunei_budget_levelled(code, level);
}

void cunei_budget_switch(struct cunei_budget *own)
{
    double begin_ns = cunei_budget_run_ns();

    own->switched = 0;
    cunei_code_judge_all(set_level, own);
    own->has_twice = own->source->twice;
    cunei_recorder_renew();
    double renewal_ns = CUNEI_BUDGET_RENEWAL_NS * own->switched;
    own->switch_ns =
        (own->switch_ns * 3 + cunei_budget_run_ns() - begin_ns + renewal_ns) / 4;
    cunei_budget_spend(own, renewal_ns);
}

void cunei_budget_turn(struct cunei_budget *own)
{
    own->source->twice = !own->source->twice;
    cunei_code_judge_all(set_level, own);
    own->has_twice = own->source->twice;
}

void cunei_budget_closing(struct cunei_stream *stream)
{
    if (!budget.source)
        return;
    cunei_budget_observe(stream, &budget);
    cunei_budget_due = true;
}

void cunei_budget_took(uint64_t ticks)
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
    cunei_budget_due = budget.source != NULL;
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
            cunei_burst_go_on(&budget, now_ns);
        switches = is_over;
    } else if (budget.next_ns && now_ns >= budget.next_run_ns &&
               cunei_clock_ns(CLOCK_MONOTONIC) >= budget.next_ns) {
        /* Before anything else: what takes time here is not the program's. */
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
    cunei_budget_due = false;
    cunei_budget_left = CUNEI_BUDGET_CALLS;
    if (!budget.source || budget.is_acting || !cunei_recorder_is_on())
        return;
    budget.is_acting = true;
    struct cunei_compat_error pending = cunei_compat_put_aside();
    uint32_t before = cunei_recorder_begin_event();
    double begin_ns = cunei_budget_run_ns();
    act(begin_ns, is_event, top_is_open);
    uint64_t written_ns = cunei_recorder_write_ns();
    double took_ns = cunei_budget_run_ns() - begin_ns;
    uint64_t waker_ns;
    (void)cunei_budget_timer_others_ns(&waker_ns);
    cunei_budget_spend(&budget, took_ns + (double)(written_ns - budget.written_ns) +
                                    (double)(waker_ns - budget.waker_ns));
    budget.waker_ns = waker_ns;
    budget.written_ns = written_ns;
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&pending);
    cunei_budget_due = false;
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
    budget.raised = cunei_budget_raised;
    cunei_scale_init(&budget.scale, END_HERE * budget.end_part);
    budget.bias = budget.scale.error;
    budget.begin_ns = budget.window_ns = budget.told_ns = cunei_budget_run_ns();
    cunei_budget_tick = UINT64_MAX;
    cunei_budget_left = CUNEI_BUDGET_CALLS;
    budget.source = options->source;
}

/* A burst that is on ends.  Returns the run time up to which everything was read. */
static double read_all(void)
{
    double now_ns = cunei_budget_run_ns();

    if (budget.state != CUNEI_BUDGET_RESTS)
        cunei_burst_end(&budget, now_ns, true);
    cunei_recorder_visit(cunei_budget_observe, &budget);
    return now_ns;
}

void cunei_budget_tell(void)
{
    if (!budget.source || budget.is_acting || !cunei_recorder_is_on())
        return;
    budget.is_acting = true;
    struct cunei_compat_error pending = cunei_compat_put_aside();
    uint32_t before = cunei_recorder_begin_event();
    cunei_demotion_tell_up_to(&budget, read_all());
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&pending);
    budget.is_acting = false;
}

/* What is known is told; nothing is decided any more. */
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

/* A code object of a process before a fork has all its events again. */
static void restore(PyCodeObject *code, uint32_t id, struct cunei_code_state *state,
                    void *unused)
{
    (void)unused;
    (void)id;
    state->calls = state->resumes = 0;
    if (state->level == CUNEI_LEVEL_FULL)
        return;
    cunei_code_set_level(code, CUNEI_LEVEL_FULL);
    budget.source->methods->level(budget.source, code, CUNEI_LEVEL_FULL);
}

void cunei_budget_go_on(void)
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
    budget.window_ns = budget.told_ns = cunei_budget_run_ns();
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
    cunei_budget_due = false;
}
