// SPDX-License-Identifier: MIT
/*
 * Whether two analyses are the same in all that a report can show.  Functions, and what
 * is counted by them, may stand in another order.
 */
#ifndef CUNEI_TESTS_SAME_ANALYSIS_H
#define CUNEI_TESTS_SAME_ANALYSIS_H

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"

/* The index in `b` of each function of `a`; those without events need not be there. */
static uint32_t *same_map(const struct cunei_analysis *a, struct cunei_analysis *b)
{
    uint32_t *map = calloc(a->functions.count + 1, sizeof(*map));

    assert_non_null(map);
    for (uint32_t i = 0; i < a->functions.count; i++) {
        uint32_t count = b->functions.count;
        int index = cunei_functions_add(&b->functions, &a->functions.items[i]);
        assert_true(index >= 0);
        map[i] = (uint32_t)index;
        if (b->functions.count > count) {
            b->functions.count = count; /* it was not there */
            const struct cunei_analysis_function *facts = &a->facts[i];
            assert_true(facts->calls + facts->resumes + facts->total_ns == 0);
            map[i] = UINT32_MAX;
        }
    }
    return map;
}

static uint64_t same_bucket(const struct cunei_histogram *histogram, uint32_t bucket)
{
    uint32_t index = bucket - histogram->first;

    return index < histogram->span ? histogram->counts[index] : 0;
}

static void same_histogram(const struct cunei_histogram *a,
                           const struct cunei_histogram *b)
{
    for (uint32_t i = 0; i < CUNEI_HISTOGRAM_BUCKETS; i++)
        assert_int_equal(same_bucket(a, i), same_bucket(b, i));
}

/* `is_exact`: both were read with the same clock (analysis/follow.h). */
static void same_functions(const struct cunei_analysis *a,
                           const struct cunei_analysis *b, const uint32_t *map,
                           bool is_exact)
{
    for (uint32_t i = 0; i < a->functions.count; i++) {
        if (map[i] == UINT32_MAX)
            continue;
        struct cunei_analysis_function left = a->facts[i], right = b->facts[map[i]];
        if (is_exact)
            same_histogram(&left.histogram, &right.histogram);
        else
            left.max_ns = right.max_ns = 0;
        left.histogram = right.histogram = (struct cunei_histogram){0};
        assert_memory_equal(&left, &right, sizeof(left));
    }
}

static void same_threads(const struct cunei_analysis *a, const struct cunei_analysis *b,
                         const uint32_t *map)
{
    assert_int_equal(a->thread_count, b->thread_count);
    for (size_t i = 0; i < a->thread_count; i++) {
        struct cunei_analysis_thread left = a->threads[i], right = b->threads[i];
        assert_int_equal(left.open_count, right.open_count);
        for (uint32_t j = 0; j < left.open_count; j++)
            assert_int_equal(map[left.open[j]], right.open[j]);
        assert_string_equal(left.name, right.name);
        left.open = right.open = NULL;
        assert_memory_equal(&left, &right, sizeof(left));
    }
}

static void same_tasks(const struct cunei_analysis *a, const struct cunei_analysis *b,
                       const uint32_t *map)
{
    assert_int_equal(a->task_count, b->task_count);
    for (size_t i = 0; i < a->task_count; i++) {
        const struct cunei_analysis_task *left = &a->tasks[i], *right = &b->tasks[i];
        assert_int_equal(left->number, right->number);
        assert_string_equal(left->name ? left->name : "",
                            right->name ? right->name : "");
        assert_int_equal(map[left->function], right->function);
        assert_int_equal(left->has_ended, right->has_ended);
        assert_int_equal(left->has_raised, right->has_raised);
        assert_int_equal(left->steps, right->steps);
        assert_int_equal(left->run_ns, right->run_ns);
        assert_int_equal(left->wait_ns, right->wait_ns);
        assert_int_equal(left->begin_ns, right->begin_ns);
        assert_int_equal(left->end_ns, right->end_ns);
    }
}

static void same_processes(const struct cunei_analysis *a,
                           const struct cunei_analysis *b)
{
    assert_int_equal(a->process_count, b->process_count);
    for (size_t i = 0; i < a->process_count; i++) {
        struct cunei_analysis_process left = a->processes[i], right = b->processes[i];
        assert_string_equal(left.process->path, right.process->path);
        assert_int_equal(left.process->state, right.process->state);
        left.process = right.process = NULL;
        left.size_bytes = right.size_bytes = 0; /* of live packets: not in files yet */
        assert_int_equal(left.parent, right.parent);
        assert_int_equal(left.inherits, right.inherits);
        assert_int_equal(left.events, right.events);
        assert_int_equal(left.calls, right.calls);
        assert_int_equal(left.lost, right.lost);
        assert_int_equal(left.dropped_packets, right.dropped_packets);
        assert_int_equal(left.missing_packets, right.missing_packets);
        assert_int_equal(left.begin_ns, right.begin_ns);
        assert_int_equal(left.end_ns, right.end_ns);
        assert_int_equal(left.cost_ns, right.cost_ns);
        assert_int_equal(left.thread_count, right.thread_count);
        assert_int_equal(left.has_cpu, right.has_cpu);
        assert_int_equal(left.cpu_ns, right.cpu_ns);
        assert_memory_equal(&left.collections, &right.collections,
                            sizeof(left.collections));
    }
}

static uint32_t same_slot(uint32_t slot, const uint32_t *map)
{
    return slot ? map[slot - 1] + 1 : 0;
}

static void same_tree(const struct cunei_tree *a, struct cunei_tree *b,
                      const uint32_t *map)
{
    uint32_t *nodes = calloc(a->count + 1, sizeof(*nodes));

    assert_non_null(nodes);
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 1; i < a->count; i++) {
        const struct cunei_node *left = &a->nodes[i];
        uint32_t slot = same_slot(left->slot, map), before = b->count;
        nodes[i] = cunei_tree_child(b, nodes[left->parent], slot);
        assert_int_equal(b->count, before);
        const struct cunei_node *right = &b->nodes[nodes[i]];
        assert_int_equal(left->calls, right->calls);
        assert_int_equal(left->resumes, right->resumes);
        assert_int_equal(left->recursive, right->recursive);
        assert_int_equal(left->self, right->self);
        assert_int_equal(left->gap, right->gap);
    }
    free(nodes);
}

static void same_edges(const struct cunei_edges *a, struct cunei_edges *b,
                       const uint32_t *map)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 1; i < a->count; i++) {
        const struct cunei_edge *left = &a->items[i];
        uint32_t before = b->count;
        const struct cunei_edge *right = &b->items[cunei_edges_find(
            b, same_slot(left->caller, map), same_slot(left->callee, map))];
        assert_int_equal(b->count, before);
        assert_int_equal(left->calls, right->calls);
        assert_int_equal(left->resumes, right->resumes);
        assert_int_equal(left->recursive, right->recursive);
        assert_int_equal(left->total, right->total);
        assert_int_equal(left->self, right->self);
        assert_int_equal(left->inclusive, right->inclusive);
    }
}

static void same_exceptions(const struct cunei_exceptions *a,
                            const struct cunei_exceptions *b, const uint32_t *map)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 1; i < a->count; i++) {
        const struct cunei_raise *left = &a->items[i], *right = NULL;
        for (uint32_t j = 1; j < b->count; j++) {
            if (strcmp(b->items[j].type, left->type) == 0 &&
                b->items[j].slot == same_slot(left->slot, map) &&
                b->items[j].line == left->line)
                right = &b->items[j];
        }
        assert_true(right);
        if (!right)
            continue;
        assert_int_equal(left->count, right->count);
        assert_int_equal(left->caught, right->caught);
        assert_int_equal(left->unhandled, right->unhandled);
        assert_int_equal(left->unwound, right->unwound);
    }
    assert_int_equal(a->handler_count, b->handler_count);
}

static void same_lines(const struct cunei_lines *a, const struct cunei_lines *b,
                       const uint32_t *map)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 1; i < a->count; i++) {
        const struct cunei_line_facts *left = &a->items[i], *right = NULL;
        for (uint32_t j = 1; j < b->count; j++) {
            if (b->items[j].function == same_slot(left->function, map) &&
                b->items[j].line == left->line)
                right = &b->items[j];
        }
        assert_true(right);
        if (!right)
            continue;
        assert_int_equal(left->hits, right->hits);
        assert_int_equal(left->time, right->time);
        assert_int_equal(left->is_searched, right->is_searched);
    }
}

static void same_sums(const struct cunei_analysis *a, const struct cunei_analysis *b)
{
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->calls, b->calls);
    assert_int_equal(a->resumes, b->resumes);
    assert_int_equal(a->raised, b->raised);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->dropped_packets, b->dropped_packets);
    assert_int_equal(a->missing_packets, b->missing_packets);
    assert_int_equal(a->orphans, b->orphans);
    assert_int_equal(a->unclosed, b->unclosed);
    assert_int_equal(a->appeared, b->appeared);
    assert_int_equal(a->unknown, b->unknown);
    assert_int_equal(a->switches, b->switches);
    assert_int_equal(a->line_events, b->line_events);
    assert_int_equal(a->bursts, b->bursts);
    assert_int_equal(a->estimated_calls, b->estimated_calls);
    assert_memory_equal(a->user_events, b->user_events, sizeof(a->user_events));
    assert_int_equal(a->regions, b->regions);
    assert_int_equal(a->misused, b->misused);
    assert_int_equal(a->pauses, b->pauses);
    assert_int_equal(a->paused_ns, b->paused_ns);
    assert_int_equal(a->begin_ns, b->begin_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->damage_count, b->damage_count);
}

static inline void assert_same_analysis(const struct cunei_analysis *a,
                                        struct cunei_analysis *b, bool is_exact)
{
    uint32_t *map = same_map(a, b);

    same_sums(a, b);
    same_functions(a, b, map, is_exact);
    same_threads(a, b, map);
    same_tasks(a, b, map);
    same_processes(a, b);
    same_exceptions(&a->exceptions, &b->exceptions, map);
    same_lines(&a->lines, &b->lines, map);
    if (a->tree && b->tree)
        same_tree(a->tree, b->tree, map);
    if (a->edges && b->edges)
        same_edges(a->edges, b->edges, map);
    free(map);
}

#endif
