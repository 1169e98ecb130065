// SPDX-License-Identifier: MIT
#include "export/task_names.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "export/export.h"
#include "export/selection.h"

/* The tasks of a process, among all. */
struct range {
    size_t begin, count;
};

struct cunei_task_names {
    pthread_mutex_t lock;
    atomic_bool is_ready; /* the rest is filled in, and does not change any more */
    struct cunei_analysis analysis; /* its tasks by process and number */
    struct range *ranges;           /* owned: by index of the process in the trace */
};

struct cunei_task_names *cunei_task_names_new(void)
{
    struct cunei_task_names *names = calloc(1, sizeof(*names));

    if (names)
        (void)pthread_mutex_init(&names->lock, NULL);
    return names;
}

void cunei_task_names_free(struct cunei_task_names *names)
{
    if (!names)
        return;
    if (atomic_load_explicit(&names->is_ready, memory_order_relaxed))
        cunei_analysis_fini(&names->analysis);
    free(names->ranges);
    (void)pthread_mutex_destroy(&names->lock);
    free(names);
}

static int compare_tasks(const void *a, const void *b)
{
    const struct cunei_analysis_task *one = a, *two = b;

    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    return one->number < two->number ? -1 : one->number > two->number;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct cunei_analysis_task *one = a, *two = b;

    return one->number < two->number ? -1 : one->number > two->number;
}

/* Under the lock. */
static int read_names(const struct cunei_export *export, struct cunei_task_names *names)
{
    struct cunei_analysis *analysis = &names->analysis;

    names->ranges = calloc(export->trace->process_count + 1, sizeof(*names->ranges));
    if (!names->ranges)
        return -ENOMEM;
    int rc = cunei_selection_analyze_names(export, false, analysis);
    if (rc < 0) {
        free(names->ranges);
        names->ranges = NULL;
        return rc;
    }
    if (analysis->task_count > 0)
        qsort(analysis->tasks, analysis->task_count, sizeof(*analysis->tasks),
              compare_tasks);
    for (size_t i = analysis->task_count; i > 0; i--) {
        const struct cunei_trace_process *process =
            analysis->processes[analysis->tasks[i - 1].process].process;
        struct range *range = &names->ranges[process - export->trace->processes];
        range->begin = i - 1;
        range->count++;
    }
    return 0;
}

/* The acquire pairs with the release after reading. */
static int be_ready(const struct cunei_export *export, struct cunei_task_names *names)
{
    int rc = 0;

    if (atomic_load_explicit(&names->is_ready, memory_order_acquire))
        return 0;
    (void)pthread_mutex_lock(&names->lock);
    if (!atomic_load_explicit(&names->is_ready, memory_order_relaxed)) {
        rc = read_names(export, names);
        if (rc == 0)
            atomic_store_explicit(&names->is_ready, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&names->lock);
    return rc;
}

/* NULL: it is not known, or has no name. */
static int find(const struct cunei_export *export,
                const struct cunei_trace_process *process, uint64_t number,
                const struct cunei_analysis_task **task)
{
    struct cunei_task_names *names = export->names;
    struct cunei_analysis_task wanted = {.number = number};

    *task = NULL;
    int rc = be_ready(export, names);
    if (rc < 0)
        return rc;
    const struct range *range = &names->ranges[process - export->trace->processes];
    const struct cunei_analysis_task *found =
        range->count > 0 ? bsearch(&wanted, names->analysis.tasks + range->begin,
                                   range->count, sizeof(wanted), compare_numbers)
                         : NULL;
    if (found && found->name && found->name[0])
        *task = found;
    return 0;
}

int cunei_task_names_find(const struct cunei_export *export,
                          const struct cunei_trace_process *process, uint64_t number,
                          const char **name)
{
    const struct cunei_analysis_task *task;
    int rc = find(export, process, number, &task);

    *name = task ? task->name : NULL;
    return rc;
}

int cunei_task_names_find_once(const struct cunei_export *export,
                               const struct cunei_trace_process *process,
                               uint64_t number, struct cunei_task_names_seen *seen,
                               const char **name)
{
    const struct cunei_analysis *analysis = &export->names->analysis;
    const struct cunei_analysis_task *task;

    *name = NULL;
    if (export->options->from_ns == 0)
        return 0;
    int rc = find(export, process, number, &task);
    if (rc < 0 || !task)
        return rc;
    if (!seen->items)
        seen->items = calloc(analysis->task_count, 1);
    if (!seen->items)
        return -ENOMEM;
    if (!seen->items[task - analysis->tasks])
        *name = task->name;
    seen->items[task - analysis->tasks] = 1;
    return 0;
}

int cunei_task_names_fill(const struct cunei_export *export,
                          struct cunei_analysis *analysis)
{
    const char *name = NULL;
    int rc = 0;

    if (export->options->from_ns == 0)
        return 0;
    for (size_t i = 0; rc == 0 && i < analysis->task_count; i++) {
        struct cunei_analysis_task *task = &analysis->tasks[i];
        if (task->name)
            continue;
        rc = cunei_task_names_find(export, analysis->processes[task->process].process,
                                   task->number, &name);
        task->name = name ? strdup(name) : NULL;
        if (rc == 0 && name && !task->name)
            rc = -ENOMEM;
    }
    return rc;
}
