// SPDX-License-Identifier: MIT
/* The pane of asyncio tasks. */
#include "base/buffer.h"
#include "base/map.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"

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
                      struct cunei_top_ranked *ranked)
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
        cunei_top_put_pid(model, text, task->process);
    else if (column == TASK_NAME)
        cunei_buffer_append_text(text, task->name ? task->name : "–");
    else if (column == TASK_RUN_SHARE)
        cunei_buffer_format(text, "%.1f", 100 * share);
    else if (column == TASK_STEP_RATE)
        cunei_top_put_rate(model, text,
                           cunei_top_rates_since(task->steps, earlier.steps));
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
    const struct cunei_top_ranking ranking = {
        .count = model->now.task_count,
        .rank = rank_task,
        .function = coroutine,
        .absence = "No asyncio task was recorded so far.",
    };

    if (model->now.process_count <= 1)
        table.columns[TASK_PID].head = "";
    return cunei_top_draw_ranked(model, &table, &ranking, grid, area);
}
