// SPDX-License-Identifier: MIT
#include <Python.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/budget/budget.h"
#include "probe/budget/budget_private.h"
#include "probe/budget/governor.h"
#include "probe/core/write.h"

/* Of the budget, for what stays on; there are bursts, too, and mistakes. */
#define STEADY_PART 0.5
/* Run time in which what was spent too much is to be saved again. */
#define HORIZON_NS (2000.0 * CUNEI_NS_PER_MS)
/* What costs less of the program's time than this is not looked at. */
#define LOAD_LEAST 1e-6
/* Nor what has had fewer events since the last decision: nobody knows its load. */
#define EVENTS_LEAST 64u
/* What an event of an exception costs, whoever raises it: CPython makes most of it. */
#define RAISED_NS 300.0
/* What was first called just now is no hotter than this many times what it seems. */
#define ACTIVE_MOST 20.0
/* So far out somebody is looked for who is recorded. */
#define OWNER_STEPS 16u
/* How much of what a function's times are known by a burst leaves. */
#define LEARNED_KEPT 0.75
/* What of the cost of a call's events is in its own time, and what in its caller's, was
 * measured elsewhere: it may be off by this part of all of it. */
#define SHARE_ERROR 0.2
/* So many bytes of the trace are for telling what is known already, at first and in a
 * second of run time; and so much time goes by at most. */
#define TOLD_FIRST 50e3
#define TOLD_RATE  100e3
#define UNTOLD_NS  (500.0 * CUNEI_NS_PER_MS)

void cunei_demotion_write(enum cunei_phase phase, uint32_t id, enum cunei_level level,
                          bool top_is_open)
{
    uint64_t words[] = {cunei_record(0, CUNEI_CLASS_DEMOTE, phase),
                        id | (uint64_t)level << 32};
    cunei_write_words(words, 2, top_is_open);
}

static void write_sample(const struct cunei_sample *sample, bool top_is_open)
{
    uint64_t words[sizeof(*sample) / sizeof(uint64_t)];

    memcpy(words, sample, sizeof(words));
    cunei_write_words(words, sizeof(words) / sizeof(words[0]), top_is_open);
}

static void take_counts(PyCodeObject *code, uint32_t id, struct cunei_code_state *state,
                        void *context)
{
    struct cunei_budget *budget = context;
    struct cunei_governed *function = cunei_budget_find(budget, id);
    (void)code;

    if (function) {
        function->can = true;
        function->counted += (double)state->calls;
        cunei_budget_spend(budget, (double)(state->calls + state->resumes) *
                                       budget->count_ns * budget->scale.charge);
    }
    state->calls = state->resumes = 0;
}

void cunei_demotion_take_counts(struct cunei_budget *budget)
{
    cunei_code_judge_all(take_counts, budget);
}

static bool is_among(const uint32_t *ids, unsigned count, uint32_t id)
{
    for (unsigned i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

/* The one of its callers with most calls that has not been passed; 0: there is none. */
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
 * Who is open where a function is, and recorded: it has that one's time in its own.  A
 * recursion is called by itself most of the time; what has begun it is found by going
 * back where there is no way on.
 */
static uint32_t find_owner(struct cunei_budget *budget, uint32_t id)
{
    uint32_t passed[OWNER_STEPS], way[OWNER_STEPS];
    unsigned count = 0, depth = 0;

    for (;;) {
        const struct cunei_governed *function = cunei_budget_find(budget, id);
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

/* Who resumes it is known by the time that it runs for whom. */
static uint64_t resumes_of(const struct cunei_estimate *estimate,
                           const struct cunei_sample *caller)
{
    double part = estimate->self > 0 ? (double)caller->self / estimate->self : 0;

    return (uint64_t)(estimate->resumes * fmin(part, 1) + 0.5);
}

/* What is known of a function, written down. */
static void tell(struct cunei_budget *budget, uint32_t id,
                 struct cunei_governed *function, bool top_is_open)
{
    struct cunei_sample sample;

    if (function->estimate.span_ns <= 0)
        return;
    for (unsigned i = 0; i < CUNEI_OBSERVED_CALLERS; i++) {
        if (!cunei_estimate_caller(&function->estimate, id, i, &sample))
            continue;
        sample.span = find_owner(budget, sample.caller);
        sample.resumes = resumes_of(&function->estimate, &sample);
        write_sample(&sample, top_is_open);
    }
    cunei_estimate_take(&function->estimate, id, budget->ticks_per_ns, &sample);
    write_sample(&sample, top_is_open);
}

struct cunei_second cunei_demotion_follow(const struct cunei_governed *function,
                                          double moves, double gap_ns)
{
    struct cunei_rated_by_events paced =
        cunei_rate_by_events_predict(&function->pace, moves, gap_ns);
    double calls = paced.part > 0 ? paced.calls / gap_ns : 0;
    double resumes = paced.part > 0 ? paced.resumes / gap_ns : 0;
    double entries = calls + resumes;

    return (struct cunei_second){
        .rates = {.calls = calls,
                  .resumes = resumes,
                  .self = function->own * entries,
                  .total = function->whole * entries,
                  .self_wrong = function->own_wrong * entries},
        .wrong = {.calls = calls * paced.error,
                  .resumes = resumes * paced.error,
                  .self = function->own * entries * paced.error},
        .part = paced.part,
        .bias = paced.bias,
    };
}

/* Moves since the last burst that counted, up to now. */
static double moves_since(const struct cunei_budget *budget)
{
    return budget->gap_moves + budget->rest_moves +
           cunei_budget_moves(budget, &budget->normal) - budget->moves_before;
}

/* A stretch without records ends, without a burst behind it. */
static void end_gap(const struct cunei_budget *budget, struct cunei_governed *function,
                    double moves, double now_ns)
{
    double counted = function->level == CUNEI_LEVEL_COUNTED ? function->counted : -1;
    double gap_ns = function->gap_ns + now_ns - function->since_ns;
    struct cunei_second second = cunei_demotion_follow(function, moves, gap_ns);

    cunei_estimate_gap(&function->estimate, gap_ns, NULL, 0, counted, budget->bias,
                       &second);
    function->gap_ns = 0;
    function->counted = 0;
    function->since_ns = now_ns;
}

/* What a sample of every function that is demoted takes, and those of its callers. */
static double telling_bytes(const struct cunei_budget *budget)
{
    return (1.0 + CUNEI_OBSERVED_CALLERS) * sizeof(struct cunei_sample) *
           budget->demoted;
}

void cunei_demotion_tell(struct cunei_budget *budget, double now_ns, bool top_is_open)
{
    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level != CUNEI_LEVEL_FULL)
            tell(budget, i + CUNEI_FUNCTION_FIRST, &budget->functions[i], top_is_open);
    }
    budget->told_ns = now_ns;
    budget->told_bytes += telling_bytes(budget);
}

bool cunei_demotion_is_to_be_told(const struct cunei_budget *budget, double now_ns)
{
    double allowed = TOLD_FIRST + TOLD_RATE * (now_ns - budget->begin_ns) / 1e9;

    return budget->told_bytes + telling_bytes(budget) <= allowed ||
           now_ns - budget->told_ns > UNTOLD_NS;
}

void cunei_demotion_tell_up_to(struct cunei_budget *budget, double now_ns)
{
    double moves = moves_since(budget);

    cunei_demotion_take_counts(budget);
    for (uint32_t i = 0; i < budget->capacity; i++) {
        struct cunei_governed *function = &budget->functions[i];
        if (function->level != CUNEI_LEVEL_FULL)
            end_gap(budget, function, moves, now_ns);
    }
    budget->gap_moves -= moves;
    cunei_demotion_tell(budget, now_ns, true);
}

void cunei_demotion_end(struct cunei_budget *budget, double now_ns)
{
    cunei_demotion_tell_up_to(budget, now_ns);
    for (uint32_t i = 0; i < budget->capacity; i++) {
        if (budget->functions[i].level != CUNEI_LEVEL_FULL)
            cunei_demotion_write(CUNEI_PHASE_LEAVE, i + CUNEI_FUNCTION_FIRST,
                                 CUNEI_LEVEL_FULL, true);
    }
}

/* Own time without what the events in it cost, as a rate; half of a pair's is here. */
static struct cunei_rates rates_of(const struct cunei_budget *budget,
                                   const struct cunei_observed *seen, double time_ns,
                                   double net_ns)
{
    double cost = cunei_budget_event_ns(budget) * budget->ticks_per_ns *
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

void cunei_demotion_learn(struct cunei_budget *budget, struct cunei_governed *function,
                          const struct cunei_observed *seen, double running)
{
    double entries = (double)(seen->calls + seen->resumes);

    if (entries == 0)
        return;
    struct cunei_rates one = rates_of(budget, seen, entries, entries);
    double kept = function->has_learned ? LEARNED_KEPT : 0;
    function->own = kept * function->own + (1 - kept) * running * one.self;
    function->own_wrong =
        kept * function->own_wrong + (1 - kept) * running * one.self_wrong;
    function->whole = kept * function->whole + (1 - kept) * running * one.total;
    function->has_learned = true;
}

/* What is new between bursts, of functions that are recorded. */
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
        struct cunei_governed *function =
            cunei_budget_find(budget, place + CUNEI_FUNCTION_FIRST);
        double load = (double)seen->events * cunei_budget_load_ns(budget) / program_ns;
        others -= seen->events;
        if (!function || !function->can ||
            (function->level == CUNEI_LEVEL_FULL && seen->events < EVENTS_LEAST))
            *fixed += load;
        else if (function->level == CUNEI_LEVEL_FULL) {
            function->load = function->load > 0 ? function->load + load / 2 : load;
            function->self = (double)seen->self / budget->ticks_per_ns / program_ns;
        }
    }
    *fixed += (double)others * budget->event_ns * budget->scale.charge / program_ns;
    double raised_ns = RAISED_NS * (double)(cunei_budget_raised - budget->raised);
    budget->raised = cunei_budget_raised;
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

/* The part of the time between bursts in which the process ran: functions are seen to
 * take time that they wait, or the machine runs something else. */
static double running_of(const struct cunei_budget *budget, double span_ns)
{
    const struct cunei_observer *normal = &budget->normal;
    double seen = 0;

    for (uint32_t i = 0; i < normal->touched_count; i++)
        seen += (double)normal->functions[normal->touched[i]].self;
    return seen > 0 ? fmin(1, span_ns * budget->ticks_per_ns / seen) : 1;
}

/* What is the same for all functions of a decision. */
struct decision {
    double now_ns, moves;
    double program_ns; /* the time since the last one, without what was spent … */
    double net;        /* … which is this part of it */
    double running;    /* the part in which the process ran */
    bool top_is_open;
};

/* The part of that since a function was called first: it may have become hot just now,
 * and until there is a burst nothing else is known of it. */
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
    struct cunei_governed *function = &budget->functions[place];
    uint32_t id = place + CUNEI_FUNCTION_FIRST;
    const struct cunei_observed *seen = cunei_observer_find(&budget->normal, id);

    if (function->level != CUNEI_LEVEL_FULL)
        end_gap(budget, function, at->moves, at->now_ns);
    else {
        function->estimate = (struct cunei_estimate){0};
        function->pace = (struct cunei_rate_by_events){0};
        if (seen) {
            double active = active_ns(budget, at, seen);
            function->estimate.last = rates_of(budget, seen, active, active);
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
        /* It may have waited for most of that time: the first burst knows better. */
        if (seen && !function->has_learned) {
            cunei_demotion_learn(budget, function, seen, at->running);
            function->has_learned = false;
        }
    }
    if (level == CUNEI_LEVEL_FULL)
        tell(budget, id, function, at->top_is_open);
    budget->demoted += function->level == CUNEI_LEVEL_FULL;
    budget->demoted -= level == CUNEI_LEVEL_FULL;
    function->level = level;
    function->was = true;
    cunei_demotion_write(level == CUNEI_LEVEL_FULL ? CUNEI_PHASE_LEAVE
                                                   : CUNEI_PHASE_ENTER,
                         id, level, at->top_is_open);
}

/*
 * Moves that were read are kept.  Where fewer functions make them from here on, those
 * before are as many fewer.
 */
static void clear_normal(struct cunei_budget *budget, double moves)
{
    double left = cunei_budget_moves(budget, &budget->normal);
    double part = moves > 0 ? left / moves : left < moves ? 0 : 1;

    budget->rest_moves = (budget->rest_moves + moves - budget->moves_before) * part;
    budget->gap_moves *= part;
    budget->moves_before = 0;
    for (uint32_t i = 0; i < budget->capacity && part < 1; i++)
        budget->functions[i].pace.moves *= part;
    cunei_observer_clear(&budget->normal);
}

void cunei_demotion_decide(struct cunei_budget *budget, double now_ns, bool top_is_open)
{
    double span_ns = now_ns - budget->window_ns - budget->bursts_ns;
    double program_ns = fmax(span_ns - budget->window_spent_ns, span_ns / 10);
    struct cunei_limits limits = {.allowed = STEADY_PART * allowance(budget, now_ns),
                                  .counted = budget->count_ns / (2 * budget->event_ns)};
    size_t count = 0;

    cunei_demotion_take_counts(budget);
    learn(budget, program_ns, &limits.fixed);
    struct cunei_candidate *items = calloc(budget->capacity + 1, sizeof(*items));
    for (uint32_t i = 0; items && i < budget->capacity; i++) {
        const struct cunei_governed *function = &budget->functions[i];
        if (function->can && (function->load > LOAD_LEAST || function->level))
            items[count++] = (struct cunei_candidate){
                .place = i,
                .load = function->load,
                .self = function->self,
                .level = function->level,
            };
    }
    size_t changes = cunei_governor_decide(items, count, &limits);
    double moves = cunei_budget_moves(budget, &budget->normal);
    const struct decision at = {.now_ns = now_ns,
                                .moves = moves_since(budget),
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
    clear_normal(budget, moves);
    budget->window_ns = cunei_budget_run_ns();
    budget->bursts_ns = budget->window_spent_ns = 0;
    if (budget->next_ns == 0)
        cunei_burst_schedule_plan(budget);
}
