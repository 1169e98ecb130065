// SPDX-License-Identifier: MIT
/* The pane of processes. */
#include "base/buffer.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"
#include "trace/process/exit_words.h"

static struct cunei_top_process earlier_process(const struct cunei_top_model *model,
                                                uint32_t item)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);

    return before && item < before->process_count ? before->processes[item]
                                                  : (struct cunei_top_process){0};
}

static bool rank_process(const struct cunei_top_model *model, uint32_t item,
                         struct cunei_top_ranked *ranked)
{
    const struct cunei_top_process *process = &model->now.processes[item];

    ranked->first = (double)cunei_top_rates_since(process->events,
                                                  earlier_process(model, item).events);
    ranked->second = (double)process->events;
    return process->is_seen;
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
        cunei_buffer_append_text(text, cunei_trace_state_word(now->state));
    else if (column == PROCESS_CPU && now->has_cpu)
        cunei_buffer_format(text, "%.0f",
                            (double)cunei_top_rates_since(now->cpu_ns, earlier.cpu_ns) /
                                1e7 / seconds);
    else if (column == PROCESS_EVENT_RATE)
        cunei_top_put_rate(model, text,
                           cunei_top_rates_since(now->events, earlier.events));
    else if (column == PROCESS_CALL_RATE)
        cunei_top_put_rate(model, text,
                           cunei_top_rates_since(now->calls, earlier.calls));
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
    const struct cunei_top_ranking ranking = {
        .count = model->now.process_count,
        .rank = rank_process,
        .absence = "No process was recorded so far.",
    };

    return cunei_top_draw_ranked(model, &table, &ranking, grid, area);
}
