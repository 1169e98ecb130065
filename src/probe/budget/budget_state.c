// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/budget_state.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "probe/budget/budget_hot.h"
#include "probe/budget/budget_timer.h"
#include "rt/clock.h"
#include "rt/recorder.h"

#define FUNCTIONS_FIRST 256u
/* The events whose reading is timed, to know what one event takes. */
#define OBSERVED_LEAST 256
/* How much of the known times of a function a new burst keeps. */
#define LEARNED_KEPT 0.75
/* Which part of the cost of a call's events falls into its own time, and which into its
 * caller's, was measured in another program: it may be wrong by this part. */
#define SHARE_ERROR 0.2

struct cunei_budget_hot cunei_budget_hot;

double cunei_budget_run_ns(void)
{
    return (double)cunei_budget_timer_run_ns(NULL);
}

void cunei_budget_spend(struct cunei_budget *own, double ns)
{
    own->spent_ns += ns;
    if (own->state == CUNEI_BUDGET_RESTS)
        own->window_spent_ns += ns;
}

/* What an event costs in this program. */
static double event_ns(const struct cunei_budget *own)
{
    return own->event_ns * own->scale.value;
}

double cunei_budget_load_ns(const struct cunei_budget *own)
{
    return own->event_ns * own->scale.charge + own->observe_ns;
}

struct cunei_budget_function *cunei_budget_find(struct cunei_budget *own, uint32_t id)
{
    uint32_t place = id - CUNEI_FUNCTION_FIRST, before = own->capacity;

    if (id < CUNEI_FUNCTION_FIRST || id >= CUNEI_FUNCTION_CLASS_END)
        return NULL;
    uint32_t wanted = place < FUNCTIONS_FIRST ? FUNCTIONS_FIRST : place + 1;
    if (place >= before) {
        if (!CUNEI_VECTOR_RESERVE(own->functions, own->capacity, wanted))
            return NULL;
        memset(own->functions + before, 0,
               (own->capacity - before) * sizeof(*own->functions));
    }
    return &own->functions[place];
}

enum cunei_level cunei_budget_level_of(struct cunei_budget *own, uint32_t id)
{
    const struct cunei_budget_function *function = cunei_budget_find(own, id);

    if (!function || function->level == CUNEI_LEVEL_FULL)
        return CUNEI_LEVEL_FULL;
    return own->state == CUNEI_BUDGET_RECORDS  ? CUNEI_LEVEL_FULL
           : own->state == CUNEI_BUDGET_COUNTS ? CUNEI_LEVEL_COUNTED
                                               : function->level;
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

double cunei_budget_steady_events(const struct cunei_budget *own,
                                  const struct cunei_observer *observer)
{
    double steady = 0;

    for (uint32_t i = 0; i < observer->touched_count; i++) {
        uint32_t place = observer->touched[i];
        if (place >= own->capacity || !own->functions[place].was_demoted)
            steady += (double)observer->functions[place].events;
    }
    return steady;
}

static void set_level(PyCodeObject *code, uint32_t id, struct cunei_code_state *state,
                      void *context)
{
    struct cunei_budget *own = context;
    enum cunei_level level = cunei_budget_level_of(own, id);

    if (state->level == level &&
        (level != CUNEI_LEVEL_COUNTED || own->has_twice == own->counts_ends))
        return;
    own->switched++;
    cunei_code_set_level(code, level);
    own->source->methods->set_level(own->source, code, level, own->counts_ends);
}

void cunei_budget_switch(struct cunei_budget *own)
{
    double begin_ns = cunei_budget_run_ns();

    own->switched = 0;
    cunei_code_judge_all(set_level, own);
    own->has_twice = own->counts_ends;
    cunei_recorder_renew();
    double renewal_ns = CUNEI_BUDGET_RENEWAL_NS * own->switched;
    own->switch_ns =
        (own->switch_ns * 3 + cunei_budget_run_ns() - begin_ns + renewal_ns) / 4;
    cunei_budget_spend(own, renewal_ns);
}

void cunei_budget_turn(struct cunei_budget *own)
{
    own->counts_ends = !own->counts_ends;
    cunei_code_judge_all(set_level, own);
    own->has_twice = own->counts_ends;
}

double cunei_budget_steady_since(const struct cunei_budget *own)
{
    return own->gap_steady + own->rest_steady +
           cunei_budget_steady_events(own, &own->normal) - own->steady_before;
}

static void take_counts(PyCodeObject *code, uint32_t id, struct cunei_code_state *state,
                        void *context)
{
    struct cunei_budget *budget = context;
    struct cunei_budget_function *function = cunei_budget_find(budget, id);
    (void)code;

    if (function) {
        function->can_be_demoted = true;
        function->counted += (double)state->calls;
        cunei_budget_spend(budget, (double)(state->calls + state->resumes) *
                                       budget->count_ns * budget->scale.charge);
    }
    state->calls = state->resumes = 0;
}

void cunei_budget_take_counts(struct cunei_budget *budget)
{
    cunei_code_judge_all(take_counts, budget);
}

/* Of the cost of a pair of events, half falls into the function's own time. */
struct cunei_rates cunei_budget_rates_of(const struct cunei_budget *budget,
                                         const struct cunei_observed *seen,
                                         double time_ns, double net_ns)
{
    double cost = event_ns(budget) * budget->ticks_per_ns *
                  (double)(seen->events + seen->inner) / 2;
    double self = fmax((double)seen->self - cost, (double)seen->self / 20);
    double wrong = cost * fmax(SHARE_ERROR, budget->scale.error);

    return (struct cunei_rates){
        .calls = (double)seen->calls / net_ns,
        .resumes = (double)seen->resumes / net_ns,
        .self = self / net_ns,
        .total = self / net_ns + (double)(seen->total - seen->self) / time_ns,
        .self_wrong = wrong / net_ns,
    };
}

void cunei_budget_learn(struct cunei_budget *budget,
                        struct cunei_budget_function *function,
                        const struct cunei_observed *seen, double running)
{
    double entries = (double)(seen->calls + seen->resumes);

    if (entries == 0)
        return;
    struct cunei_rates one = cunei_budget_rates_of(budget, seen, entries, entries);
    double kept = function->has_learned ? LEARNED_KEPT : 0;
    function->self_ticks =
        kept * function->self_ticks + (1 - kept) * running * one.self;
    function->self_ticks_wrong =
        kept * function->self_ticks_wrong + (1 - kept) * running * one.self_wrong;
    function->total_ticks =
        kept * function->total_ticks + (1 - kept) * running * one.total;
    function->has_learned = true;
}
