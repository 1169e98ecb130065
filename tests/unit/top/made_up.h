// SPDX-License-Identifier: MIT
/*
 * An analysis that was made up, for the tests of the live view.
 *
 *     struct made_up made = {0};
 *     uint32_t f = made_up_function(&made, "f", "app.py", 10);
 *     made_up_calls(&made, f, 100, 500, 900);
 *     … &made.analysis …
 *     made_up_fini(&made);
 */
#ifndef CUNEI_TESTS_MADE_UP_H
#define CUNEI_TESTS_MADE_UP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "model/facts/call_edges.h"
#include "model/facts/call_tree.h"

#define MADE_UP_BEGIN_NS UINT64_C(1700000000000000000)

struct made_up {
    struct cunei_analysis analysis;
    struct cunei_trace_process process;
    char *arguments[2];
};

/* A process that runs `app.py`, and began at MADE_UP_BEGIN_NS. */
static inline void made_up_init(struct made_up *made)
{
    struct cunei_analysis *analysis = &made->analysis;

    *made = (struct made_up){0};
    made->arguments[0] = (char *)(uintptr_t) "app.py";
    made->process = (struct cunei_trace_process){
        .path = (char *)(uintptr_t) "/trace/host-7-0",
        .state = CUNEI_TRACE_RUNNING,
        .metadata = {.pid = 7},
        .description = {.python = (char *)(uintptr_t) "CPython 3.13.0",
                        .executable = (char *)(uintptr_t) "python3",
                        .arguments = made->arguments,
                        .argument_count = 1,
                        .directory = (char *)(uintptr_t) "/home/ann"}};
    analysis->processes = calloc(1, sizeof(*analysis->processes));
    analysis->process_count = 1;
    analysis->processes[0] =
        (struct cunei_analysis_process){.process = &made->process, .parent = SIZE_MAX};
    analysis->tree = cunei_tree_new();
    analysis->edges = cunei_edges_new();
    analysis->begin_ns = MADE_UP_BEGIN_NS;
    cunei_user_facts_init(&analysis->user_facts);
}

static inline void made_up_fini(struct made_up *made)
{
    cunei_analysis_fini(&made->analysis);
}

static inline uint32_t made_up_function(struct made_up *made, const char *module,
                                        const char *name, const char *file,
                                        uint32_t line)
{
    struct cunei_analysis *analysis = &made->analysis;
    const struct cunei_function function = {
        .module = module, .qualname = name, .file = file, .line = line};

    int index = cunei_functions_add(&analysis->functions, &function);
    assert_true(index >= 0);
    if (analysis->functions.count > analysis->fact_capacity) {
        analysis->facts = realloc(analysis->facts,
                                  analysis->functions.count * sizeof(*analysis->facts));
        memset(&analysis->facts[analysis->fact_capacity], 0, sizeof(*analysis->facts));
        analysis->fact_capacity = analysis->functions.count;
    }
    return (uint32_t)index;
}

/* So many calls, each as long as the others. */
static inline void made_up_calls(struct made_up *made, uint32_t function,
                                 uint64_t calls, uint64_t self_ns, uint64_t total_ns)
{
    struct cunei_analysis_function *facts = &made->analysis.facts[function];

    facts->calls += calls;
    facts->self_ns += self_ns;
    facts->total_ns += total_ns;
    facts->spent_ns += total_ns;
    for (uint64_t i = 0; i < calls; i++)
        assert_int_equal(cunei_histogram_add(&facts->histogram, total_ns / calls), 0);
    if (calls > 0 && total_ns / calls > facts->max_ns)
        facts->max_ns = total_ns / calls;
    made->analysis.calls += calls;
    made->analysis.events += 2 * calls;
}

/* A thread that ran from the begin on, up to `end_ns` after it. */
static inline struct cunei_analysis_thread *made_up_thread(struct made_up *made,
                                                           const char *name,
                                                           uint64_t end_ns)
{
    struct cunei_analysis *analysis = &made->analysis;

    analysis->threads = realloc(analysis->threads, (analysis->thread_count + 1) *
                                                       sizeof(*analysis->threads));
    struct cunei_analysis_thread *thread = &analysis->threads[analysis->thread_count++];
    *thread = (struct cunei_analysis_thread){
        .serial = (uint32_t)analysis->thread_count,
        .tid = 100 + (uint32_t)analysis->thread_count,
        .begin_ns = MADE_UP_BEGIN_NS,
        .end_ns = MADE_UP_BEGIN_NS + end_ns,
        .events = 10,
        .calls = 5,
    };
    strncpy(thread->name, name, sizeof(thread->name) - 1);
    if (analysis->end_ns < thread->end_ns)
        analysis->end_ns = thread->end_ns;
    return thread;
}

/* What it has open, outermost first. */
static inline void made_up_open(struct cunei_analysis_thread *thread,
                                const uint32_t *functions, uint32_t count)
{
    thread->open = calloc(count, sizeof(*thread->open));
    memcpy(thread->open, functions, count * sizeof(*functions));
    thread->open_count = thread->open_depth = count;
}

/* A way through the call tree, and the pair of its last two functions. */
static inline void made_up_task(struct made_up *made, uint64_t number, bool has_ended,
                                uint64_t run_ns)
{
    struct cunei_analysis *analysis = &made->analysis;

    analysis->tasks =
        realloc(analysis->tasks, (analysis->task_count + 1) * sizeof(*analysis->tasks));
    analysis->tasks[analysis->task_count++] =
        (struct cunei_analysis_task){.number = number,
                                     .name = strdup("task"),
                                     .function = UINT32_MAX,
                                     .has_ended = has_ended,
                                     .steps = 1,
                                     .run_ns = run_ns};
}

static inline void made_up_way(struct made_up *made, const uint32_t *functions,
                               uint32_t count, uint64_t calls, uint64_t self_ns,
                               uint64_t total_ns)
{
    uint32_t node = 0;

    for (uint32_t i = 0; i < count; i++)
        node = cunei_tree_child(made->analysis.tree, node, functions[i] + 1);
    made->analysis.tree->nodes[node].calls += calls;
    made->analysis.tree->nodes[node].self += self_ns;
    uint32_t pair =
        cunei_edges_find(made->analysis.edges, count > 1 ? functions[count - 2] + 1 : 0,
                         functions[count - 1] + 1);
    made->analysis.edges->items[pair].calls += calls;
    made->analysis.edges->items[pair].self += self_ns;
    made->analysis.edges->items[pair].total += total_ns;
}

#endif
