// SPDX-License-Identifier: MIT
/* Which functions are shown, in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"
#include "wire/user_event.h"

struct entry {
    uint64_t key;
    const struct cunei_function *function;
    uint32_t index;
};

uint64_t cunei_report_mean_ns(const struct cunei_analysis_function *facts)
{
    uint64_t count = facts->calls + facts->resumes;
    return count ? facts->total_ns / count : 0;
}

/* A bucket of the histogram may reach beyond the longest, which is known exactly. */
uint64_t cunei_report_quantile_ns(const struct cunei_analysis_function *facts,
                                  double fraction)
{
    double count = (double)cunei_histogram_count(&facts->histogram);
    if (count * fraction > count - 1)
        return facts->max_ns;
    uint64_t ns = cunei_histogram_quantile(&facts->histogram, fraction);
    return ns < facts->max_ns ? ns : facts->max_ns;
}

bool cunei_report_shows(const struct cunei_report *report, uint32_t function)
{
    const struct cunei_function *names = &report->analysis->functions.items[function];

    return cunei_patterns_include(&report->options->patterns, names->module,
                                  names->qualname, names->file);
}

static uint64_t key_of(const struct cunei_analysis_function *facts, int sort)
{
    switch (sort) {
    case CUNEI_SORT_TOTAL:
        return facts->total_ns;
    case CUNEI_SORT_CALLS:
        return facts->calls;
    case CUNEI_SORT_MEAN:
        return cunei_report_mean_ns(facts);
    case CUNEI_SORT_P50:
        return cunei_report_quantile_ns(facts, 0.5);
    case CUNEI_SORT_P99:
        return cunei_report_quantile_ns(facts, 0.99);
    case CUNEI_SORT_MAX:
        return facts->max_ns;
    case CUNEI_SORT_NAME:
        return 0;
    default:
        return facts->self_ns;
    }
}

/* The greater key first; then by name, so that the order never depends on chance. */
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

/* Of a function that is only named, because it is open or raised, there is no more. */
static bool has_facts(const struct cunei_analysis_function *facts)
{
    return facts->calls || facts->resumes || facts->total_ns || facts->raised;
}

int cunei_ranking_init(struct cunei_ranking *ranking, const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct entry *entries = calloc(analysis->functions.count + 1, sizeof(*entries));

    *ranking = (struct cunei_ranking){0};
    ranking->indices = calloc(analysis->functions.count + 1, sizeof(*ranking->indices));
    if (!entries || !ranking->indices) {
        free(entries);
        cunei_ranking_fini(ranking);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (has_facts(&analysis->facts[i]) && cunei_report_shows(report, i) &&
            cunei_definition_of(&analysis->functions.items[i]) ==
                CUNEI_DEFINITION_FUNCTION)
            entries[ranking->count++] =
                (struct entry){key_of(&analysis->facts[i], report->options->sort),
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
