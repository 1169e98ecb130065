// SPDX-License-Identifier: MIT
#include "analysis/filter_proposal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/overhead.h"

/* Part of the run time: functions that cost less are not worth a line in a filter. */
#define WORTH 0.001

/* Part of the goal: functions that save less are left out only if they are needed. */
#define WORTH_WANTED 0.01

/* Part of the goal: a filter that saves less is not worth having. */
#define WORTH_HAVING 0.05

/*
 * The part of an exception's cost in a frame that is saved if the frame is left out:
 * sys.monitoring has exception events for all code or for none.
 */
#define RAISE_SAVED 0.3

static int compare_names(const void *a, const void *b)
{
    const struct cunei_filter_proposal_function *one = a, *two = b;
    int order = strcmp(one->module, two->module);

    return order ? order : strcmp(one->qualname, two->qualname);
}

static double time_per_call(const struct cunei_filter_proposal_function *function)
{
    return (double)function->self_ns / (double)function->calls;
}

/* Least loss first: by the time of a call, then by cost. */
static int compare_insight(const void *a, const void *b)
{
    const struct cunei_filter_proposal_function *one = a, *two = b;
    double first = time_per_call(one), second = time_per_call(two);

    if (first != second)
        return first < second ? -1 : 1;
    return compare_names(a, b);
}

static int compare_rows(const void *a, const void *b)
{
    const struct cunei_filter_proposal_function *one = a, *two = b;

    if (one->left_out != two->left_out)
        return one->left_out ? -1 : 1;
    if (one->cost_ns != two->cost_ns)
        return one->cost_ns > two->cost_ns ? -1 : 1;
    return compare_names(a, b);
}

/* Returns how many events a budget did not write. */
static uint64_t take_functions(struct cunei_filter_proposal *proposal,
                               const struct cunei_analysis *analysis)
{
    uint64_t all_unwritten = 0;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_analysis_function *facts = &analysis->facts[i];
        uint64_t calls = facts->calls + facts->resumes;
        /* Regions are not functions. */
        bool is_own = strncmp(analysis->functions.items[i].file, "<cunei ", 7) == 0;
        uint64_t unwritten = 2 * (facts->estimate.calls + facts->estimate.resumes);
        if (calls == 0 || is_own)
            continue;
        proposal->events += 2 * calls;
        if (facts->is_decorated)
            continue; /* filters do not apply to it */
        proposal->functions[proposal->count++] =
            (struct cunei_filter_proposal_function){
                .module = analysis->functions.items[i].module,
                .qualname = analysis->functions.items[i].qualname,
                .calls = calls,
                .events = 2 * calls,
                .unwritten = unwritten,
                .raised = facts->raised,
                .self_ns = facts->self_ns,
            };
        all_unwritten += unwritten;
    }
    proposal->has_budget = all_unwritten > 0;
    return all_unwritten;
}

static void merge_names(struct cunei_filter_proposal *proposal)
{
    size_t kept = 0;

    qsort(proposal->functions, proposal->count, sizeof(*proposal->functions),
          compare_names);
    for (size_t i = 0; i < proposal->count; i++) {
        struct cunei_filter_proposal_function *to =
            kept ? &proposal->functions[kept - 1] : NULL;
        const struct cunei_filter_proposal_function *from = &proposal->functions[i];
        if (to && compare_names(to, from) == 0) {
            to->calls += from->calls;
            to->events += from->events;
            to->unwritten += from->unwritten;
            to->raised += from->raised;
            to->self_ns += from->self_ns;
        } else
            proposal->functions[kept++] = *from;
    }
    proposal->count = kept;
}

/*
 * About half of the cost of an event is in the time of its function.  The cost of a
 * first call is not saved, because excluded functions are looked up as well.
 */
static void add_costs(struct cunei_filter_proposal *proposal, double unit_ns)
{
    for (size_t i = 0; i < proposal->count; i++) {
        struct cunei_filter_proposal_function *function = &proposal->functions[i];
        double raised = CUNEI_OVERHEAD_RAISE * (double)function->raised;
        function->saved_units = (double)function->events + RAISE_SAVED * raised;
        function->cost_ns =
            (uint64_t)(((double)function->events + raised) * unit_ns + 0.5);
        uint64_t inside_ns = function->cost_ns / 2 -
                             (uint64_t)((double)function->unwritten * unit_ns / 2);
        function->self_ns -=
            inside_ns < function->self_ns ? inside_ns : function->self_ns;
    }
}

/* The overhead without this part of all units; a negative part adds some. */
static struct cunei_overhead without(const struct cunei_overhead *all, double part)
{
    part = part < 1 ? part : 1;
    return (struct cunei_overhead){.floor_ns = all->floor_ns * (1 - part),
                                   .write_ns = all->write_ns * (1 - part)};
}

/* The cost of recording the rest, as part of the time of the program. */
static double overhead(const struct cunei_overhead *all, double part,
                       enum cunei_overhead_guess guess)
{
    struct cunei_overhead left = without(all, part);
    double run_ns = cunei_overhead_run_ns(all, guess);

    return cunei_overhead_cost_ns(&left, guess, run_ns) / (run_ns > 1 ? run_ns : 1);
}

static struct cunei_filter_proposal_overhead between(const struct cunei_overhead *all,
                                                     double part)
{
    return (struct cunei_filter_proposal_overhead){
        .least = overhead(all, part, CUNEI_OVERHEAD_LEAST),
        .usual = overhead(all, part, CUNEI_OVERHEAD_USUAL),
        .most = overhead(all, part, CUNEI_OVERHEAD_MOST),
    };
}

static bool is_cheap(const struct cunei_filter_proposal *proposal,
                     const struct cunei_overhead *all, double part)
{
    return overhead(all, part, CUNEI_OVERHEAD_USUAL) <= proposal->max_overhead;
}

/*
 * Leave out functions that cost at least `worth_ns`, until the rest is cheap enough.
 * Returns the saved part of all units, on top of `saved` by a budget.
 */
static double take(struct cunei_filter_proposal *proposal,
                   const struct cunei_overhead *all, double units, double saved,
                   double worth_ns)
{
    proposal->left_out_count = 0;
    proposal->saved_events = 0;
    for (size_t i = 0; i < proposal->count; i++) {
        struct cunei_filter_proposal_function *function = &proposal->functions[i];
        function->left_out = (double)function->cost_ns >= worth_ns &&
                             !is_cheap(proposal, all, saved / units);
        if (!function->left_out)
            continue;
        proposal->left_out_count++;
        saved += function->saved_units;
        proposal->saved_events += function->events;
    }
    return saved / units;
}

/* The time that is saved without this part of all units. */
static double saved_ns(const struct cunei_filter_proposal *proposal,
                       const struct cunei_overhead *all, double part)
{
    struct cunei_overhead left = without(all, part);
    double left_ns =
        cunei_overhead_cost_ns(&left, CUNEI_OVERHEAD_USUAL, (double)proposal->run_ns);
    double saved = (double)proposal->cost_ns - left_ns;

    return saved > 0 ? saved : 0; /* of rounding */
}

/* Functions that save next to nothing are left out only if the goal needs it. */
static double leave_out(struct cunei_filter_proposal *proposal,
                        const struct cunei_overhead *all, double units, double saved)
{
    double run_ns = (double)proposal->run_ns, worth_ns = WORTH * run_ns;
    double wanted_ns = (double)proposal->cost_ns - proposal->max_overhead * run_ns;
    double most_ns = WORTH_WANTED * wanted_ns;

    most_ns = most_ns > worth_ns ? most_ns : worth_ns;
    qsort(proposal->functions, proposal->count, sizeof(*proposal->functions),
          compare_insight);
    double part = take(proposal, all, units, saved, most_ns);
    if (is_cheap(proposal, all, part))
        return part;
    part = take(proposal, all, units, saved, worth_ns);
    if (is_cheap(proposal, all, part))
        return part;
    part = take(proposal, all, units, saved, most_ns);
    if (saved_ns(proposal, all, part) >= WORTH_HAVING * wanted_ns)
        return part;
    return take(proposal, all, units, saved, INFINITY);
}

/* With the measured cost of an event, or an assumed one. */
static struct cunei_overhead find_overhead(struct cunei_filter_proposal *proposal,
                                           const struct cunei_analysis *analysis)
{
    struct cunei_overhead overhead = analysis->overhead;

    proposal->is_cost_known = analysis->cost_ns > 0 && analysis->events > 0;
    if (proposal->is_cost_known)
        proposal->event_cost_ns = overhead.floor_ns / analysis->cost_units;
    else
        overhead.floor_ns = analysis->cost_units * proposal->event_cost_ns;
    return overhead;
}

int cunei_filter_proposal_make(struct cunei_filter_proposal *proposal,
                               const struct cunei_analysis *analysis)
{
    const struct cunei_overhead overhead = find_overhead(proposal, analysis);
    double units = analysis->cost_units > 1 ? analysis->cost_units : 1;
    double run_ns = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_USUAL);

    proposal->run_ns = run_ns > 1 ? (uint64_t)run_ns : 1;
    proposal->functions =
        calloc(analysis->functions.count + 1, sizeof(*proposal->functions));
    if (!proposal->functions)
        return -ENOMEM;
    double unwritten = (double)take_functions(proposal, analysis);
    merge_names(proposal);
    const struct cunei_overhead full = without(&overhead, -unwritten / units);
    proposal->cost_ns =
        (uint64_t)cunei_overhead_cost_ns(&full, CUNEI_OVERHEAD_USUAL, run_ns);
    add_costs(proposal, (double)proposal->cost_ns / (units + unwritten));
    double saved = leave_out(proposal, &overhead, units, -unwritten);
    proposal->all = between(&overhead, -unwritten / units);
    proposal->left = between(&overhead, saved);
    proposal->saved_ns = (uint64_t)saved_ns(proposal, &overhead, saved);
    qsort(proposal->functions, proposal->count, sizeof(*proposal->functions),
          compare_rows);
    return 0;
}

void cunei_filter_proposal_fini(struct cunei_filter_proposal *proposal)
{
    free(proposal->functions);
    proposal->functions = NULL;
    proposal->count = 0;
}
