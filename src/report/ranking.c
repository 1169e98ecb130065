// SPDX-License-Identifier: MIT
#include "report/ranking.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "model/facts/waiting_functions.h"
#include "report/section.h"
#include "wire/user_event.h"

struct entry {
    uint64_t key;
    const struct cunei_function *function;
    uint32_t index;
};

static uint64_t self_of(const struct cunei_analysis_function *facts)
{
    return facts->self_ns;
}

static uint64_t total_of(const struct cunei_analysis_function *facts)
{
    return facts->total_ns;
}

static uint64_t calls_of(const struct cunei_analysis_function *facts)
{
    return facts->calls;
}

static uint64_t p50_of(const struct cunei_analysis_function *facts)
{
    return cunei_function_quantile_ns(facts, 0.5);
}

static uint64_t p99_of(const struct cunei_analysis_function *facts)
{
    return cunei_function_quantile_ns(facts, 0.99);
}

static uint64_t max_of(const struct cunei_analysis_function *facts)
{
    return facts->max_ns;
}

/* Equal keys are sorted by name. */
static uint64_t nothing_of(const struct cunei_analysis_function *facts)
{
    (void)facts;
    return 0;
}

const char *const cunei_report_sort_names[] = {"self", "total", "calls", "mean", "p50",
                                               "p99",  "max",   "name",  NULL};

static uint64_t (*const sort_keys[])(const struct cunei_analysis_function *facts) = {
    self_of, total_of, calls_of, cunei_function_mean_ns,
    p50_of,  p99_of,   max_of,   nothing_of,
};

static_assert(sizeof(sort_keys) / sizeof(sort_keys[0]) + 1 ==
                  sizeof(cunei_report_sort_names) / sizeof(cunei_report_sort_names[0]),
              "each word for --sort has a key");

/* The largest key first; then by name, so that the order is always the same. */
static int compare(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;

    if (one->key != two->key)
        return one->key > two->key ? -1 : 1;
    int order = strcmp(one->function->qualname, two->function->qualname);
    if (order == 0)
        order = strcmp(one->function->module, two->function->module);
    if (order == 0)
        order = strcmp(one->function->file, two->function->file);
    if (order != 0)
        return order;
    return one->function->line < two->function->line ? -1 : 1;
}

/* Functions that are only named, for example by an exception, have no numbers. */
static bool has_facts(const struct cunei_analysis_function *facts)
{
    return facts->calls || facts->resumes || facts->total_ns || facts->raised;
}

int cunei_ranking_init(struct cunei_ranking *ranking, const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct entry *entries = calloc(analysis->functions.count + 1, sizeof(*entries));
    bool is_whole = report->options->idle || report->options->json;
    const struct cunei_analysis_function *facts = report->shown.facts;

    *ranking = (struct cunei_ranking){0};
    ranking->indices = calloc(analysis->functions.count + 1, sizeof(*ranking->indices));
    if (!entries || !ranking->indices) {
        free(entries);
        cunei_ranking_fini(ranking);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (has_facts(&facts[i]) && cunei_report_shows(report, i) &&
            !report->shown.is_hidden[i] &&
            (is_whole || !cunei_is_waiting_function(&analysis->functions.items[i])) &&
            cunei_definition_of(&analysis->functions.items[i]) ==
                CUNEI_DEFINITION_FUNCTION)
            entries[ranking->count++] =
                (struct entry){sort_keys[report->options->sort](&facts[i]),
                               &analysis->functions.items[i], i};
    }
    qsort(entries, ranking->count, sizeof(*entries), compare);
    for (uint32_t i = 0; i < ranking->count; i++)
        ranking->indices[i] = entries[i].index;
    free(entries);
    return 0;
}

void cunei_ranking_fini(struct cunei_ranking *ranking)
{
    free(ranking->indices);
    *ranking = (struct cunei_ranking){0};
}
