// SPDX-License-Identifier: MIT
/* The panes of threads, tasks, exceptions and processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"
#include "top/view/columns.h"

/* What rows are sorted by, the largest first. */
struct ranked {
    double first, second;
    uint32_t item;
    uint64_t key; /* of the row: the item, unless `rank` sets another */
};

static int compare(const void *a, const void *b)
{
    const struct ranked *one = a, *two = b;

    if (one->first != two->first)
        return one->first > two->first ? -1 : 1;
    if (one->second != two->second)
        return one->second > two->second ? -1 : 1;
    return one->item < two->item ? -1 : one->item > two->item;
}

/* Add the rows that `rank` returns true for, in the order of what it fills in. */
static int add_ranked(struct cunei_top_model *model, uint32_t count,
                      bool (*rank)(const struct cunei_top_model *model, uint32_t item,
                                   struct ranked *ranked),
                      uint32_t (*function)(const struct cunei_top_model *model,
                                           uint32_t item))
{
    struct ranked *ranked = calloc(count + 1u, sizeof(*ranked));
    uint32_t used = 0;
    int rc = ranked ? 0 : -ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        ranked[used].item = i;
        ranked[used].key = i;
        used += rank(model, i, &ranked[used]);
    }
    if (rc == 0)
        qsort(ranked, used, sizeof(*ranked), compare);
    for (uint32_t i = 0; rc == 0 && i < used; i++)
        rc = cunei_top_rows_add(&model->rows, ranked[i].key,
                                function ? function(model, ranked[i].item) : UINT32_MAX,
                                ranked[i].item, 0);
    free(ranked);
    return rc;
}

static void put_rate(const struct cunei_top_model *model, struct cunei_buffer *text,
                     uint64_t count)
{
    cunei_top_format_rate(
        text, cunei_top_rates_per_second(cunei_top_model_rates(model), count));
}

static void put_pid(const struct cunei_top_model *model, struct cunei_buffer *text,
                    uint32_t process)
{
    if (model->now.process_count > 1)
        cunei_buffer_format(text, "%u", model->now.processes[process].pid);
}

static struct cunei_top_thread earlier_thread(const struct cunei_top_model *model,
                                              uint32_t item)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);

    return before && item < before->thread_count ? before->threads[item]
                                                 : (struct cunei_top_thread){0};
}

static uint64_t thread_calls(const struct cunei_top_model *model, uint32_t item)
{
    return cunei_top_rates_since(model->now.threads[item].calls,
                                 earlier_thread(model, item).calls);
}

static uint32_t innermost(const struct cunei_top_model *model, uint32_t item)
{
    const struct cunei_top_thread *thread = &model->now.threads[item];

    return thread->open_count > 0 ? thread->open[thread->open_count - 1] : UINT32_MAX;
}

static bool rank_thread(const struct cunei_top_model *model, uint32_t item,
                        struct ranked *ranked)
{
    const struct cunei_top_thread *thread = &model->now.threads[item];

    ranked->first = thread->ended ? -1 : (double)thread_calls(model, item);
    ranked->second = (double)thread->calls;
    return thread->is_seen;
}

static void put_now(const struct cunei_top_model *model, struct cunei_buffer *text,
                    uint32_t item)
{
    const struct cunei_top_thread *thread = &model->now.threads[item];
    uint32_t function = innermost(model, item);

    if (thread->ended && function == UINT32_MAX)
        cunei_buffer_append_text(text, "ended");
    else
        cunei_buffer_append_text(
            text, thread->open_count > 0 ? cunei_top_known_name(&model->known, function)
                                         : "no recorded function");
}

static bool waits(const struct cunei_top_model *model, uint32_t item)
{
    uint32_t function = innermost(model, item);

    return model->now.threads[item].ended || (function < model->known.functions.count &&
                                              model->known.names[function].waits);
}

enum {
    THREAD_PID,
    THREAD_TID,
    THREAD_NAME,
    THREAD_CALL_RATE,
    THREAD_CALLS,
    THREAD_CPU,
    THREAD_DEPTH,
    THREAD_SINCE,
    THREAD_NOW
};

static void put_thread(const void *context, uint32_t row, size_t column,
                       struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct cunei_top_model *model = context;
    uint32_t item = model->rows.items[row];
    const struct cunei_top_thread *thread = &model->now.threads[item];

    *ink = waits(model, item)     ? CUNEI_TOP_INK_DIM
           : column >= THREAD_NOW ? CUNEI_TOP_INK_STRONG
                                  : CUNEI_TOP_INK_PLAIN;
    if (column == THREAD_PID)
        put_pid(model, text, thread->process);
    else if (column == THREAD_TID)
        cunei_buffer_format(text, "%u", thread->tid);
    else if (column == THREAD_NAME)
        cunei_buffer_append_text(text, thread->name);
    else if (column == THREAD_CALL_RATE)
        put_rate(model, text, thread_calls(model, item));
    else if (column == THREAD_CALLS)
        cunei_format_count(text, thread->calls);
    else if (column == THREAD_CPU && thread->has_cpu)
        cunei_format_duration(text, thread->cpu_ns);
    else if (column == THREAD_DEPTH)
        cunei_format_count(text, thread->open_depth);
    else if (column == THREAD_SINCE && thread->idle_ns > 0)
        cunei_format_duration(text, thread->idle_ns);
    else if (column == THREAD_NOW)
        put_now(model, text, item);
}

int cunei_top_draw_threads(struct cunei_top_model *model, struct cunei_grid *grid,
                           struct cunei_top_area area)
{
    struct cunei_top_table table = {
        .columns = {[THREAD_PID] = {.head = "pid", .rank = 5},
                    [THREAD_TID] = {.head = "tid", .width = 6},
                    [THREAD_NAME] = {.head = "thread", .width = 12, .is_text = true},
                    [THREAD_CALL_RATE] = {.head = "calls/s", .width = 7},
                    [THREAD_CALLS] = {.head = "calls", .rank = 2, .width = 9},
                    [THREAD_CPU] = {.head = "CPU", .rank = 3, .width = 7},
                    [THREAD_DEPTH] = {.head = "depth", .rank = 4},
                    [THREAD_SINCE] = {.head = "since", .rank = 1, .width = 7},
                    [THREAD_NOW] = {.head = "is in", .width = 16, .is_text = true}},
        .column_count = 9,
        .sorted = THREAD_CALL_RATE,
        .put = put_thread,
        .context = model,
    };
    if (model->now.process_count <= 1)
        table.columns[THREAD_PID].head = "";

    int rc = add_ranked(model, model->now.thread_count, rank_thread, innermost);
    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, &table, grid, area,
                                        "No thread was recorded so far.");
}

static struct cunei_top_task earlier_task(const struct cunei_top_model *model,
                                          uint32_t item)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);
    const struct cunei_top_task *earlier =
        before ? cunei_top_sums_find_task(before, &model->now.tasks[item]) : NULL;

    return earlier ? *earlier : (struct cunei_top_task){0};
}

/* Stays the same while tasks come and go. */
static uint64_t task_key(const struct cunei_top_task *task)
{
    return cunei_hash_number(task->number ^ cunei_hash_number(task->process));
}

/* Tasks that ended before the interval only in the view of the whole. */
static bool rank_task(const struct cunei_top_model *model, uint32_t item,
                      struct ranked *ranked)
{
    const struct cunei_top_task *task = &model->now.tasks[item];
    const struct cunei_top_task earlier = earlier_task(model, item);
    uint64_t ran_ns = cunei_top_rates_since(task->run_ns, earlier.run_ns);

    ranked->first = task->has_ended ? -1 : (double)ran_ns;
    ranked->second = (double)task->run_ns;
    ranked->key = task_key(task);
    return !earlier.has_ended;
}

static uint32_t coroutine(const struct cunei_top_model *model, uint32_t item)
{
    return model->now.tasks[item].function;
}

enum {
    TASK_PID,
    TASK_NAME,
    TASK_RUN_SHARE,
    TASK_STEP_RATE,
    TASK_STEPS,
    TASK_RUN,
    TASK_WAIT,
    TASK_STATE,
    TASK_FUNCTION
};

static void put_task(const void *context, uint32_t row, size_t column,
                     struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct cunei_top_model *model = context;
    uint32_t item = model->rows.items[row];
    const struct cunei_top_task *task = &model->now.tasks[item];
    const struct cunei_top_task earlier = earlier_task(model, item);
    uint64_t ran_ns = cunei_top_rates_since(task->run_ns, earlier.run_ns);
    double share =
        (double)ran_ns / 1e9 / (cunei_top_model_rates(model)->seconds + 1e-9);

    *ink = task->has_ended            ? CUNEI_TOP_INK_DIM
           : column == TASK_FUNCTION  ? CUNEI_TOP_INK_STRONG
           : column == TASK_RUN_SHARE ? cunei_top_heat(share)
                                      : CUNEI_TOP_INK_PLAIN;
    if (column == TASK_PID)
        put_pid(model, text, task->process);
    else if (column == TASK_NAME)
        cunei_buffer_append_text(text, task->name ? task->name : "–");
    else if (column == TASK_RUN_SHARE)
        cunei_buffer_format(text, "%.1f", 100 * share);
    else if (column == TASK_STEP_RATE)
        put_rate(model, text, cunei_top_rates_since(task->steps, earlier.steps));
    else if (column == TASK_STEPS)
        cunei_format_count(text, task->steps);
    else if (column == TASK_RUN)
        cunei_format_duration(text, task->run_ns);
    else if (column == TASK_WAIT)
        cunei_format_duration(text, task->wait_ns);
    else if (column == TASK_STATE)
        cunei_buffer_append_text(text, task->has_raised  ? "raised"
                                       : task->has_ended ? "done"
                                                         : "alive");
    else
        cunei_buffer_append_text(text,
                                 cunei_top_known_name(&model->known, task->function));
}

int cunei_top_draw_tasks(struct cunei_top_model *model, struct cunei_grid *grid,
                         struct cunei_top_area area)
{
    struct cunei_top_table table = {
        .columns =
            {[TASK_PID] = {.head = "pid", .rank = 5},
             [TASK_NAME] = {.head = "task", .width = 12, .is_text = true},
             [TASK_RUN_SHARE] = {.head = "runs%", .width = 5},
             [TASK_STEP_RATE] = {.head = "steps/s", .width = 7},
             [TASK_STEPS] = {.head = "steps", .rank = 4, .width = 7},
             [TASK_RUN] = {.head = "run", .rank = 2, .width = 7},
             [TASK_WAIT] = {.head = "wait", .rank = 1, .width = 7},
             [TASK_STATE] = {.head = "state", .rank = 3, .width = 6, .is_text = true},
             [TASK_FUNCTION] = {.head = "coroutine", .width = 16, .is_text = true}},
        .column_count = 9,
        .sorted = TASK_RUN_SHARE,
        .put = put_task,
        .context = model,
    };
    if (model->now.process_count <= 1)
        table.columns[TASK_PID].head = "";

    int rc = add_ranked(model, model->now.task_count, rank_task, coroutine);
    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, &table, grid, area,
                                        "No asyncio task was recorded so far.");
}

static uint64_t raised(const struct cunei_top_model *model, uint32_t item)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);
    uint64_t earlier =
        before && item < before->raise_count ? before->raises[item].count : 0;

    return cunei_top_rates_since(model->now.raises[item].count, earlier);
}

static bool rank_raise(const struct cunei_top_model *model, uint32_t item,
                       struct ranked *ranked)
{
    ranked->first = (double)raised(model, item);
    ranked->second = (double)model->now.raises[item].count;
    return model->now.raises[item].count > 0;
}

static uint32_t raising(const struct cunei_top_model *model, uint32_t item)
{
    return model->now.raises[item].function;
}

enum {
    RAISE_RATE,
    RAISE_COUNT,
    RAISE_CAUGHT,
    RAISE_UNHANDLED,
    RAISE_TYPE,
    RAISE_FUNCTION,
    RAISE_LINE
};

/* "app.py:12": the file of the function, and the line that raised. */
static void put_line(const struct cunei_top_model *model, struct cunei_buffer *text,
                     const struct cunei_top_raise *raise)
{
    const char *place = raise->function < model->known.functions.count
                            ? model->known.names[raise->function].place
                            : "";
    const char *colon = strrchr(place, ':');

    if (colon)
        cunei_buffer_append(text, place, (size_t)(colon - place));
    if (raise->line > 0)
        cunei_buffer_format(text, ":%u", raise->line);
}

static void put_raise(const void *context, uint32_t row, size_t column,
                      struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct cunei_top_model *model = context;
    uint32_t item = model->rows.items[row];
    const struct cunei_top_raise *raise = &model->now.raises[item];

    *ink = column == RAISE_TYPE                                ? CUNEI_TOP_INK_STRONG
           : column == RAISE_LINE                              ? CUNEI_TOP_INK_DIM
           : column == RAISE_UNHANDLED && raise->unhandled > 0 ? CUNEI_TOP_INK_BAD
                                                               : CUNEI_TOP_INK_PLAIN;
    if (column == RAISE_RATE)
        put_rate(model, text, raised(model, item));
    else if (column == RAISE_COUNT)
        cunei_format_count(text, raise->count);
    else if (column == RAISE_CAUGHT)
        cunei_format_count(text, raise->caught);
    else if (column == RAISE_UNHANDLED)
        cunei_format_count(text, raise->unhandled);
    else if (column == RAISE_TYPE)
        cunei_buffer_append_text(text, raise->type);
    else if (column == RAISE_FUNCTION)
        cunei_buffer_append_text(
            text, raise->function == UINT32_MAX
                      ? "code that is not recorded"
                      : cunei_top_known_name(&model->known, raise->function));
    else
        put_line(model, text, raise);
}

int cunei_top_draw_exceptions(struct cunei_top_model *model, struct cunei_grid *grid,
                              struct cunei_top_area area)
{
    struct cunei_top_table table = {
        .columns = {[RAISE_RATE] = {.head = "raised/s", .width = 8},
                    [RAISE_COUNT] = {.head = "raised", .width = 7},
                    [RAISE_CAUGHT] = {.head = "caught", .rank = 3, .width = 7},
                    [RAISE_UNHANDLED] = {.head = "unhandled", .rank = 1},
                    [RAISE_TYPE] = {.head = "exception", .width = 14, .is_text = true},
                    [RAISE_FUNCTION] = {.head = "raised in",
                                        .width = 16,
                                        .is_text = true},
                    [RAISE_LINE] = {.head = "file:line",
                                    .rank = 2,
                                    .width = 12,
                                    .is_text = true,
                                    .is_path = true}},
        .column_count = 7,
        .sorted = RAISE_RATE,
        .put = put_raise,
        .context = model,
    };

    int rc = add_ranked(model, model->now.raise_count, rank_raise, raising);
    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, &table, grid, area,
                                        "No exception was recorded so far.");
}

static struct cunei_top_process earlier_process(const struct cunei_top_model *model,
                                                uint32_t item)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);

    return before && item < before->process_count ? before->processes[item]
                                                  : (struct cunei_top_process){0};
}

static bool rank_process(const struct cunei_top_model *model, uint32_t item,
                         struct ranked *ranked)
{
    const struct cunei_top_process *process = &model->now.processes[item];

    ranked->first = (double)cunei_top_rates_since(process->events,
                                                  earlier_process(model, item).events);
    ranked->second = (double)process->events;
    return process->is_seen;
}

const char *cunei_top_state_word(enum cunei_trace_state state)
{
    static const char *const words[] = {
        [CUNEI_TRACE_ENDED] = "ended",   [CUNEI_TRACE_RUNNING] = "running",
        [CUNEI_TRACE_EXITED] = "exited", [CUNEI_TRACE_TERMINATED] = "terminated",
        [CUNEI_TRACE_KILLED] = "killed", [CUNEI_TRACE_REPLACED] = "replaced",
    };

    return words[state];
}

enum {
    PROCESS_PID,
    PROCESS_STATE,
    PROCESS_CPU,
    PROCESS_EVENT_RATE,
    PROCESS_CALL_RATE,
    PROCESS_CALLS,
    PROCESS_THREADS,
    PROCESS_LOST,
    PROCESS_PYTHON,
    PROCESS_COMMAND
};

static void put_process(const void *context, uint32_t row, size_t column,
                        struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct cunei_top_model *model = context;
    uint32_t item = model->rows.items[row];
    const struct cunei_top_process *now = &model->now.processes[item];
    const struct cunei_top_process earlier = earlier_process(model, item);
    double seconds = cunei_top_model_rates(model)->seconds + 1e-9;

    *ink = now->state != CUNEI_TRACE_RUNNING         ? CUNEI_TOP_INK_DIM
           : column == PROCESS_LOST && now->lost > 0 ? CUNEI_TOP_INK_BAD
           : column == PROCESS_COMMAND               ? CUNEI_TOP_INK_STRONG
                                                     : CUNEI_TOP_INK_PLAIN;
    if (column == PROCESS_PID)
        cunei_buffer_format(text, "%u", now->pid);
    else if (column == PROCESS_STATE)
        cunei_buffer_append_text(text, cunei_top_state_word(now->state));
    else if (column == PROCESS_CPU && now->has_cpu)
        cunei_buffer_format(text, "%.0f",
                            (double)cunei_top_rates_since(now->cpu_ns, earlier.cpu_ns) /
                                1e7 / seconds);
    else if (column == PROCESS_EVENT_RATE)
        put_rate(model, text, cunei_top_rates_since(now->events, earlier.events));
    else if (column == PROCESS_CALL_RATE)
        put_rate(model, text, cunei_top_rates_since(now->calls, earlier.calls));
    else if (column == PROCESS_CALLS)
        cunei_format_count(text, now->calls);
    else if (column == PROCESS_THREADS)
        cunei_format_count(text,
                           now->living_count ? now->living_count : now->thread_count);
    else if (column == PROCESS_LOST)
        cunei_format_count(text, now->lost);
    else if (column == PROCESS_PYTHON)
        cunei_buffer_append_text(text, now->python);
    else if (column == PROCESS_COMMAND)
        cunei_buffer_append_text(text, now->command);
}

int cunei_top_draw_processes(struct cunei_top_model *model, struct cunei_grid *grid,
                             struct cunei_top_area area)
{
    struct cunei_top_table table = {
        .columns = {[PROCESS_PID] = {.head = "pid", .width = 6},
                    [PROCESS_STATE] =
                        {.head = "state", .rank = 1, .width = 7, .is_text = true},
                    [PROCESS_CPU] = {.head = "CPU%", .width = 4},
                    [PROCESS_EVENT_RATE] = {.head = "events/s", .width = 8},
                    [PROCESS_CALL_RATE] = {.head = "calls/s", .rank = 4, .width = 7},
                    [PROCESS_CALLS] = {.head = "calls", .rank = 3, .width = 9},
                    [PROCESS_THREADS] = {.head = "threads", .rank = 2},
                    [PROCESS_LOST] = {.head = "lost", .rank = 1, .width = 4},
                    [PROCESS_PYTHON] =
                        {.head = "python", .rank = 5, .width = 14, .is_text = true},
                    [PROCESS_COMMAND] = {.head = "program",
                                         .width = 16,
                                         .is_text = true}},
        .column_count = 10,
        .sorted = PROCESS_EVENT_RATE,
        .put = put_process,
        .context = model,
    };

    int rc = add_ranked(model, model->now.process_count, rank_process, NULL);
    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, &table, grid, area,
                                        "No process was recorded so far.");
}
