// SPDX-License-Identifier: MIT
/* The pane of threads. */
#include "base/buffer.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"

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
                        struct cunei_top_ranked *ranked)
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
        cunei_top_put_pid(model, text, thread->process);
    else if (column == THREAD_TID)
        cunei_buffer_format(text, "%u", thread->tid);
    else if (column == THREAD_NAME)
        cunei_buffer_append_text(text, thread->name);
    else if (column == THREAD_CALL_RATE)
        cunei_top_put_rate(model, text, thread_calls(model, item));
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
                    [THREAD_NOW] = {.head = "now in", .width = 16, .is_text = true}},
        .column_count = 9,
        .sorted = THREAD_CALL_RATE,
        .put = put_thread,
        .context = model,
    };
    const struct cunei_top_ranking ranking = {
        .count = model->now.thread_count,
        .rank = rank_thread,
        .function = innermost,
        .absence = "No thread was recorded so far.",
    };

    if (model->now.process_count <= 1)
        table.columns[THREAD_PID].head = "";
    return cunei_top_draw_ranked(model, &table, &ranking, grid, area);
}
