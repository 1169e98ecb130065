// SPDX-License-Identifier: MIT
/* Processes, threads, tasks and exceptions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/process_tree.h"
#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "text/names.h"
#include "top/sums/sums.h"
#include "top/sums/sums_addition.h"

/* A thread that is seen for the first time is silent after so long. */
#define SILENT_NS (500 * CUNEI_NS_PER_MS)

/* A copy that is safe to print, in place of `*to`.  -ENOMEM. */
static int put_safe(char **to, const char *text)
{
    struct cunei_buffer safe = {0};

    cunei_text_show(&safe, text, strlen(text));
    char *copy = safe.failed ? NULL : strdup(cunei_buffer_text(&safe));
    cunei_buffer_fini(&safe);
    if (!copy)
        return -ENOMEM;
    free(*to);
    *to = copy;
    return 0;
}

static int name_process(struct cunei_top_process *to,
                        const struct cunei_process *description)
{
    struct cunei_buffer text = {0};

    cunei_format_process(&text, description);
    int rc = text.failed ? -ENOMEM : put_safe(&to->command, cunei_buffer_text(&text));
    cunei_buffer_fini(&text);
    return rc == 0
               ? put_safe(&to->python, description->python ? description->python : "")
               : rc;
}

static int add_process(struct cunei_top_addition *addition, size_t index)
{
    const struct cunei_analysis_process *from = &addition->analysis->processes[index];
    struct cunei_top_sums *sums = addition->sums;
    int64_t number =
        cunei_top_keys_find(&addition->known->processes, 0, 0, from->process->path);

    if (number < 0 || !cunei_top_sums_grow(
                          (void **)&sums->processes, &sums->process_count,
                          addition->known->processes.count, sizeof(*sums->processes)))
        return -ENOMEM;
    addition->processes[index] = (uint32_t)number;
    struct cunei_top_process *to = &sums->processes[number];
    sums->is_filtered |=
        addition->analysis->bursts > 0 || from->process->description.pattern_count > 0;
    to->is_seen = true;
    to->pid = from->process->metadata.pid;
    to->state = from->process->state;
    to->start_ns = cunei_process_tree_start_ns(from);
    to->end_ns = cunei_process_tree_end_ns(from);
    to->events = from->events;
    to->calls = from->calls;
    to->lost = from->lost;
    to->cost_ns = from->cost_ns;
    to->has_cpu = from->has_cpu;
    to->cpu_ns = from->cpu_ns;
    to->start_cpu_ns = from->process->description.start_cpu_ns;
    if (from->has_cpu)
        sums->cpu_ns += from->cpu_ns;
    return name_process(to, &from->process->description);
}

int cunei_top_sums_add_processes(struct cunei_top_addition *addition)
{
    size_t count = addition->analysis->process_count;

    addition->processes = calloc(count + 1, sizeof(*addition->processes));
    if (!addition->processes)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        int rc = add_process(addition, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Whether the time after a thread's last event belongs to what it has open. */
static bool goes_on(const struct cunei_top_addition *addition,
                    const struct cunei_analysis_thread *thread)
{
    const struct cunei_trace_process *process =
        addition->analysis->processes[thread->process].process;

    return (addition->sums->is_past || process->state == CUNEI_TRACE_RUNNING) &&
           !thread->ended && thread->events > 0 && !process->description.full &&
           !addition->analysis->ends_paused;
}

static int copy_open(const struct cunei_top_addition *addition,
                     const struct cunei_analysis_thread *from,
                     struct cunei_top_thread *to)
{
    to->open_count = from->open_count;
    to->open_depth = from->open_depth;
    to->open = calloc(from->open_count + 1, sizeof(*to->open));
    if (!to->open)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->open_count; i++)
        to->open[i] = from->open[i] == UINT32_MAX
                          ? UINT32_MAX
                          : addition->functions[from->open[i] + 1];
    return 0;
}

/*
 * A thread that is at work has later events than those that were read: what it has open
 * now is not known.  One that had no event since the last sum is still where it was.
 */
static bool is_silent(const struct cunei_top_addition *addition, uint32_t number,
                      const struct cunei_analysis_thread *thread)
{
    uint64_t before = addition->known->thread_events[number];

    if (addition->sums->is_past)
        return true;
    return before > 0 ? thread->events == before
                      : addition->sums->time_ns > thread->end_ns + SILENT_NS;
}

static void take_times(struct cunei_top_addition *addition, uint32_t number,
                       const struct cunei_analysis_thread *from,
                       struct cunei_top_thread *to)
{
    uint64_t now_ns = addition->sums->time_ns;

    to->passed_ns = from->end_ns > from->begin_ns ? from->end_ns - from->begin_ns : 0;
    if (goes_on(addition, from) && now_ns > from->end_ns &&
        is_silent(addition, number, from))
        to->idle_ns = now_ns - from->end_ns;
    addition->known->thread_events[number] = from->events;
    to->passed_ns += to->idle_ns;
    addition->sums->threads_ns += to->passed_ns;
}

/* A trace that was replaced has the same serials: the later thread counts. */
static int add_thread(struct cunei_top_addition *addition,
                      const struct cunei_analysis_thread *from)
{
    struct cunei_top_sums *sums = addition->sums;
    struct cunei_top_known *known = addition->known;
    uint32_t process = addition->processes[from->process];
    int64_t number = cunei_top_keys_find(&known->threads, process, from->serial, "");

    if (number < 0 ||
        !cunei_top_sums_grow((void **)&sums->threads, &sums->thread_count,
                             known->threads.count, sizeof(*sums->threads)) ||
        !cunei_top_sums_grow((void **)&known->thread_events, &known->thread_event_count,
                             known->threads.count, sizeof(*known->thread_events)))
        return -ENOMEM;
    struct cunei_top_thread *to = &sums->threads[number];
    if (to->is_seen)
        return 0;
    *to = (struct cunei_top_thread){.process = process,
                                    .tid = from->tid,
                                    .is_seen = true,
                                    .ended = !goes_on(addition, from),
                                    .has_cpu = from->has_cpu,
                                    .events = from->events,
                                    .calls = from->calls,
                                    .cpu_ns = from->cpu_ns};
    take_times(addition, (uint32_t)number, from, to);
    sums->processes[process].thread_count++;
    sums->processes[process].living_count += !to->ended;
    int rc = put_safe(&to->name, from->name);
    if (rc == 0)
        rc = copy_open(addition, from, to);
    return rc == 0 && to->idle_ns > 0 ? cunei_top_sums_add_open(addition, to) : rc;
}

int cunei_top_sums_add_threads(struct cunei_top_addition *addition)
{
    for (size_t i = 0; i < addition->analysis->thread_count; i++) {
        int rc = add_thread(addition, &addition->analysis->threads[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_task(struct cunei_top_addition *addition,
                    const struct cunei_analysis_task *from, struct cunei_top_task *to)
{
    *to = (struct cunei_top_task){
        .process = addition->processes[from->process],
        .number = from->number,
        .function = from->function == UINT32_MAX
                        ? UINT32_MAX
                        : addition->functions[from->function + 1],
        .has_ended = from->has_ended,
        .has_raised = from->has_raised,
        .steps = from->steps,
        .run_ns = from->run_ns,
        .wait_ns = from->wait_ns,
    };
    return from->name ? put_safe(&to->name, from->name) : 0;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct cunei_top_task *one = a, *other = b;

    if (one->process != other->process)
        return one->process < other->process ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

const struct cunei_top_task *cunei_top_sums_find_task(
    const struct cunei_top_sums *sums, const struct cunei_top_task *wanted)
{
    return sums->task_count > 0 ? bsearch(wanted, sums->tasks, sums->task_count,
                                          sizeof(*sums->tasks), compare_tasks)
                                : NULL;
}

int cunei_top_sums_add_tasks(struct cunei_top_addition *addition)
{
    struct cunei_top_sums *sums = addition->sums;
    size_t count = addition->analysis->task_count;
    uint32_t before = sums->task_count;

    if (!cunei_top_sums_grow((void **)&sums->tasks, &sums->task_count, before + count,
                             sizeof(*sums->tasks)))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        int rc =
            add_task(addition, &addition->analysis->tasks[i], &sums->tasks[before + i]);
        if (rc < 0)
            return rc;
    }
    if (sums->task_count > 0)
        qsort(sums->tasks, sums->task_count, sizeof(*sums->tasks), compare_tasks);
    return 0;
}

static uint64_t positive(int64_t count)
{
    return count > 0 ? (uint64_t)count : 0;
}

static int add_raise(struct cunei_top_addition *addition,
                     const struct cunei_raise *from)
{
    struct cunei_top_sums *sums = addition->sums;
    uint32_t slot = cunei_top_addition_slot(addition, from->slot);
    int64_t number = cunei_top_keys_find(&addition->known->raises, slot, from->line,
                                         from->type ? from->type : "");

    if (number < 0 ||
        !cunei_top_sums_grow((void **)&sums->raises, &sums->raise_count,
                             addition->known->raises.count, sizeof(*sums->raises)))
        return -ENOMEM;
    struct cunei_top_raise *to = &sums->raises[number];
    to->function = slot - 1; /* UINT32_MAX for 0 */
    to->line = from->line;
    to->count += from->count;
    to->caught += positive(from->caught);
    to->unhandled += positive(from->unhandled);
    return put_safe(&to->type,
                    from->type ? cunei_format_type(from->type) : "other exceptions");
}

int cunei_top_sums_add_raises(struct cunei_top_addition *addition)
{
    const struct cunei_exceptions *exceptions = &addition->analysis->exceptions;

    for (uint32_t i = 0; i < exceptions->count; i++) {
        int rc = exceptions->items[i].count > 0 || i > 0
                     ? add_raise(addition, &exceptions->items[i])
                     : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}
