// SPDX-License-Identifier: MIT
#include "report/budget_estimates.h"

#include <math.h>

#include "analysis/function_numbers.h"
#include "report/note.h"
#include "report/section.h"
#include "text/format.h"

/* The functions that the note names, those with the most calls first. */
#define NAMED_MAX 4u

/* "± 3.1 %", never less than 0.1; "± 20 times" for a very wide estimate. */
static void put_width(struct cunei_buffer *words, double width, uint64_t of)
{
    double percent = of > 0 ? 100 * width / (double)of : 0;

    if (percent >= 1000)
        cunei_buffer_format(words, " ± %.0f times", percent / 100);
    else if (percent >= 10)
        cunei_buffer_format(words, " ± %.0f %%", percent);
    else
        cunei_buffer_format(words, " ± %.1f %%", percent < 0.1 ? 0.1 : percent);
}

static void put_function(const struct cunei_report *report, uint32_t index,
                         struct cunei_buffer *words)
{
    const struct cunei_analysis_function *facts = &report->analysis->facts[index];

    cunei_report_name(report, index, words);
    if (facts->estimate.samples == 0) {
        cunei_buffer_append_text(words, " partly recorded");
        return;
    }
    cunei_buffer_append_text(words, " calls");
    if (facts->estimate.is_counted)
        cunei_buffer_append_text(words, " counted");
    else
        put_width(words, cunei_budget_estimate_calls_width(&facts->estimate),
                  facts->calls);
    if (facts->estimate.resumes > 0) {
        cunei_buffer_append_text(words, ", resumes");
        put_width(words, cunei_budget_estimate_resumes_width(&facts->estimate),
                  facts->resumes);
    }
    cunei_buffer_append_text(words, ", self");
    put_width(words, cunei_budget_estimate_self_width(&facts->estimate),
              facts->self_ns);
}

/* The sampled function with the most estimated calls after function `after`, or
 * UINT32_MAX. */
static uint32_t find_next(const struct cunei_analysis *analysis, uint32_t after)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        uint64_t calls = analysis->facts[i].estimate.calls;
        uint64_t limit =
            after == UINT32_MAX ? UINT64_MAX : analysis->facts[after].estimate.calls;
        bool is_after = calls < limit || (calls == limit && i > after);
        if (cunei_function_is_estimated(&analysis->facts[i]) && is_after &&
            i != after &&
            (found == UINT32_MAX || calls > analysis->facts[found].estimate.calls))
            found = i;
    }
    return found;
}

static uint64_t budget_of(const struct cunei_analysis *analysis)
{
    uint64_t budget = 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        const struct cunei_process *process =
            &analysis->processes[i].process->description;
        budget = process->budget > budget ? process->budget : budget;
    }
    return budget;
}

/* Whether recording cost more than the budget, even by the lowest estimate. */
static bool is_exceeded(const struct cunei_analysis *analysis, uint64_t budget)
{
    double run_ns = cunei_overhead_run_ns(&analysis->overhead, CUNEI_OVERHEAD_LEAST);
    double cost_ns =
        cunei_overhead_cost_ns(&analysis->overhead, CUNEI_OVERHEAD_LEAST, run_ns);

    return analysis->cost_ns > 0 && analysis->overhead.cpu_ns > 0 &&
           cost_ns > (double)budget / 1e6 * run_ns;
}

/* The function with the most calls of those that were never sampled. */
static uint32_t find_kept(const struct cunei_analysis *analysis)
{
    uint64_t most = 0;
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_analysis_function *facts = &analysis->facts[i];
        uint64_t entries = facts->calls + facts->resumes;
        if (cunei_function_is_estimated(facts) || entries <= most)
            continue;
        most = entries;
        found = i;
    }
    return found;
}

static void put_kept(const struct cunei_report *report, struct cunei_buffer *words)
{
    uint32_t index = find_kept(report->analysis);

    cunei_buffer_append_text(words, "calls of functions that were not sampled");
    if (index != UINT32_MAX) {
        cunei_buffer_append_text(words, ", such as ");
        cunei_report_name(report, index, words);
    }
    cunei_buffer_append_text(
        words, ": coroutines, asynchronous generators, regions, and functions whose "
               "arguments or results are recorded are never sampled, and a program of "
               "a few milliseconds ends before any function is");
}

/* That recording took more than the budget, and why. */
static void put_excess(const struct cunei_report *report, struct cunei_buffer *words)
{
    static const char *const names[] = {
        [CUNEI_COST_DEMOTED] = "calls before their functions were sampled, and in "
                               "samples",
        [CUNEI_COST_RAISED] = "exceptions, which CPython reports for all functions "
                              "or for none",
        [CUNEI_COST_SIGHTS] = "the first call of each function",
    };
    const struct cunei_analysis *analysis = report->analysis;
    unsigned most = 0;

    for (unsigned i = 1; i < CUNEI_COST_COUNT; i++)
        most = analysis->costs[i] > analysis->costs[most] ? i : most;
    cunei_buffer_format(
        words,
        ". Recording took more than that: ≈ %.0f %% of the CPU time, mostly for ",
        fmin(100, 100 * (double)analysis->cost_ns / analysis->overhead.cpu_ns));
    if (most == CUNEI_COST_KEPT)
        put_kept(report, words);
    else
        cunei_buffer_append_text(words, names[most]);
}

/* The sampled functions with the most calls, and how wide their estimates are. */
static void put_functions(const struct cunei_report *report, uint64_t demoted,
                          struct cunei_buffer *words)
{
    uint32_t index = UINT32_MAX;

    for (unsigned i = 0; i < NAMED_MAX && i < demoted; i++) {
        index = find_next(report->analysis, index);
        cunei_buffer_append_text(words, i > 0 ? "; " : "");
        put_function(report, index, words);
    }
    if (demoted > NAMED_MAX)
        cunei_buffer_append_text(words, "; …");
}

int cunei_report_print_estimates(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    uint64_t budget = budget_of(analysis), demoted = 0;

    if (budget == 0)
        return 0;
    for (uint32_t i = 0; i < analysis->functions.count; i++)
        demoted += cunei_function_is_estimated(&analysis->facts[i]);
    cunei_buffer_format(&words, "%g %%; ", (double)budget / 1e4);
    bool is_more = is_exceeded(analysis, budget);
    if (demoted == 0)
        cunei_buffer_append_text(&words,
                                 is_more ? "no function was sampled, all numbers are "
                                           "exact"
                                         : "no function had to be sampled, all "
                                           "numbers are exact");
    else {
        cunei_format_several(&words, demoted, "function");
        cunei_buffer_append_text(&words, demoted == 1 ? " was" : " were");
        cunei_buffer_append_text(&words, " sampled, and estimated (~) from ");
        cunei_format_several(&words, analysis->bursts, "sample");
        cunei_buffer_append_text(&words, ": ");
        put_functions(report, demoted, &words);
        cunei_buffer_append_text(&words, ". All other numbers are exact");
        if (analysis->exceptions.count > 1)
            cunei_buffer_append_text(
                &words,
                ", except those of exceptions: in sampled functions they are "
                "recorded only in samples, or where they reach other functions");
    }
    if (is_more)
        put_excess(report, &words);
    return cunei_note_print(report, "budget",
                            demoted > 0 || is_more ? CUNEI_INK_WARM : CUNEI_INK_DIM,
                            &words);
}
