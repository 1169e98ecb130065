// SPDX-License-Identifier: MIT
#include "top/sums/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top/sums/sums_addition.h"

bool cunei_top_sums_grow(void **items, uint32_t *count, size_t wanted, size_t item_size)
{
    if (wanted <= *count)
        return true;
    char *grown = realloc(*items, wanted * item_size);
    if (!grown)
        return false;
    memset(grown + *count * item_size, 0, (wanted - *count) * item_size);
    *items = grown;
    *count = (uint32_t)wanted;
    return true;
}

static const struct cunei_process *home_of(const struct cunei_analysis *analysis)
{
    return analysis->process_count > 0 ? &analysis->processes[0].process->description
                                       : NULL;
}

static int map_functions(struct cunei_top_addition *addition)
{
    const struct cunei_analysis *analysis = addition->analysis;

    addition->functions =
        calloc(analysis->functions.count + 1, sizeof(*addition->functions));
    if (!addition->functions)
        return -ENOMEM;
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        int64_t number = cunei_top_known_function(
            addition->known, &analysis->functions.items[i], home_of(analysis));
        if (number < 0)
            return (int)number;
        addition->functions[i + 1] = (uint32_t)number;
    }
    return 0;
}

static void add_estimate(struct cunei_analysis_function *to,
                         const struct cunei_analysis_function *from)
{
    bool is_counted = from->estimate.demotions > 0 ? from->estimate.is_counted
                                                   : to->estimate.is_counted;

    cunei_budget_estimate_add(&to->estimate, &from->estimate, 1);
    to->estimate.is_counted = is_counted;
}

static int add_facts(struct cunei_top_function *function,
                     const struct cunei_analysis_function *from)
{
    struct cunei_analysis_function *to = &function->facts;

    to->calls += from->calls;
    to->resumes += from->resumes;
    to->recursive += from->recursive;
    to->raised += from->raised;
    to->nested += from->nested;
    to->self_ns += from->self_ns;
    to->total_ns += from->total_ns;
    to->suspended_ns += from->suspended_ns;
    to->spent_ns += from->spent_ns;
    to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
    to->is_decorated |= from->is_decorated;
    add_estimate(to, from);
    function->self_ns += from->self_ns;
    function->total_ns += from->total_ns;
    return cunei_histogram_merge(&to->histogram, &from->histogram);
}

static int add_functions(struct cunei_top_addition *addition)
{
    struct cunei_top_sums *sums = addition->sums;
    const struct cunei_analysis *analysis = addition->analysis;

    if (!cunei_top_sums_grow((void **)&sums->functions, &sums->function_count,
                             addition->known->functions.count,
                             sizeof(*sums->functions)))
        return -ENOMEM;
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        uint32_t number = addition->functions[i + 1];
        int rc = add_facts(&sums->functions[number], &analysis->facts[i]);
        if (rc < 0)
            return rc;
        sums->self_ns += analysis->facts[i].self_ns;
        if (addition->known->names[number].waits)
            sums->waiting_ns += analysis->facts[i].self_ns;
    }
    return 0;
}

static void add_damages(struct cunei_analysis *whole,
                        const struct cunei_analysis *analysis)
{
    for (size_t i = 0; i < analysis->damage_count; i++) {
        if (i < CUNEI_ANALYSIS_DAMAGES_MAX &&
            whole->damage_count < CUNEI_ANALYSIS_DAMAGES_MAX)
            whole->damages[whole->damage_count] = analysis->damages[i];
        whole->damage_count++;
    }
}

static void add_whole(struct cunei_analysis *whole,
                      const struct cunei_analysis *analysis)
{
    whole->events += analysis->events;
    whole->calls += analysis->calls;
    whole->resumes += analysis->resumes;
    whole->raised += analysis->raised;
    whole->lost += analysis->lost;
    whole->dropped_packets += analysis->dropped_packets;
    whole->missing_packets += analysis->missing_packets;
    whole->orphans += analysis->orphans;
    whole->unclosed += analysis->unclosed;
    whole->appeared += analysis->appeared;
    whole->unknown += analysis->unknown;
    whole->switches += analysis->switches;
    whole->bursts += analysis->bursts;
    whole->estimated_calls += analysis->estimated_calls;
    whole->forgotten_tasks += analysis->forgotten_tasks;
    whole->pauses += analysis->pauses;
    whole->paused_ns += analysis->paused_ns;
    whole->cost_ns += analysis->cost_ns;
    whole->overhead.floor_ns += analysis->overhead.floor_ns;
    whole->overhead.write_ns += analysis->overhead.write_ns;
    if (whole->begin_ns == 0 ||
        (analysis->begin_ns > 0 && analysis->begin_ns < whole->begin_ns))
        whole->begin_ns = analysis->begin_ns;
    if (analysis->end_ns > whole->end_ns)
        whole->end_ns = analysis->end_ns;
    add_damages(whole, analysis);
}

int cunei_top_sums_add(struct cunei_top_sums *sums, struct cunei_top_known *known,
                       const struct cunei_analysis *analysis)
{
    struct cunei_top_addition addition = {sums, known, analysis, NULL, NULL};

    int rc = map_functions(&addition);
    if (rc == 0)
        rc = add_functions(&addition);
    if (rc == 0)
        rc = cunei_top_sums_add_edges(&addition);
    if (rc == 0)
        rc = cunei_top_sums_add_tree(&addition);
    if (rc == 0)
        rc = cunei_top_sums_add_processes(&addition);
    if (rc == 0)
        rc = cunei_top_sums_add_threads(&addition);
    if (rc == 0)
        rc = cunei_top_sums_add_tasks(&addition);
    if (rc == 0)
        rc = cunei_top_sums_add_raises(&addition);
    add_whole(&sums->whole, analysis);
    free(addition.functions);
    free(addition.processes);
    return rc;
}

static void free_rows(struct cunei_top_sums *sums)
{
    for (uint32_t i = 0; i < sums->function_count; i++)
        cunei_histogram_fini(&sums->functions[i].facts.histogram);
    for (uint32_t i = 0; i < sums->process_count; i++) {
        free(sums->processes[i].command);
        free(sums->processes[i].python);
    }
    for (uint32_t i = 0; i < sums->thread_count; i++) {
        free(sums->threads[i].name);
        free(sums->threads[i].open);
    }
    for (uint32_t i = 0; i < sums->task_count; i++)
        free(sums->tasks[i].name);
    for (uint32_t i = 0; i < sums->raise_count; i++)
        free(sums->raises[i].type);
}

void cunei_top_sums_fini(struct cunei_top_sums *sums)
{
    free_rows(sums);
    free(sums->functions);
    free(sums->edges);
    free(sums->nodes);
    free(sums->processes);
    free(sums->threads);
    free(sums->tasks);
    free(sums->raises);
    *sums = (struct cunei_top_sums){0};
}
