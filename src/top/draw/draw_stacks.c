// SPDX-License-Identifier: MIT
/* The open functions of each thread: what it is doing, and on whose behalf. */
#include <stdlib.h>

#include "base/buffer.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"

/* A row is a thread (level 0) or a function of it; keys hold both. */
static uint64_t key_of(uint32_t thread, uint32_t level)
{
    return (uint64_t)thread << 32 | level;
}

/* The innermost function first, as in a debugger. */
static int add_thread(struct cunei_top_model *model, uint32_t index)
{
    const struct cunei_top_thread *thread = &model->now.threads[index];
    struct cunei_top_rows *rows = &model->rows;

    int rc = cunei_top_rows_add(rows, key_of(index, 0), UINT32_MAX, index, 0);
    for (uint32_t i = thread->open_count; rc == 0 && i-- > 0;)
        rc = cunei_top_rows_add(rows, key_of(index, i + 1), thread->open[i], index,
                                i + 1);
    return rc;
}

static void put_thread(const struct cunei_top_model *model,
                       const struct cunei_top_thread *thread, struct cunei_buffer *text)
{
    cunei_buffer_append_text(text, thread->name[0] ? thread->name : "thread");
    cunei_buffer_format(text, " · tid %u", thread->tid);
    if (model->now.process_count > 1)
        cunei_buffer_format(text, " of pid %u",
                            model->now.processes[thread->process].pid);
    if (thread->idle_ns > 0) {
        cunei_buffer_append_text(text, " · last event ");
        cunei_format_duration(text, thread->idle_ns);
        cunei_buffer_append_text(text, " ago");
    }
    if (thread->open_depth > thread->open_count)
        cunei_buffer_format(text, " · %u functions, the innermost %u shown",
                            thread->open_depth, thread->open_count);
}

static void put(const void *context, uint32_t row, size_t column,
                struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct cunei_top_model *model = context;
    const struct cunei_top_thread *thread = &model->now.threads[model->rows.items[row]];
    uint32_t level = model->rows.levels[row];

    if (level == 0 && column == 0) {
        *ink = CUNEI_TOP_INK_TAB_OPEN;
        put_thread(model, thread, text);
    } else if (level > 0) {
        uint32_t function = thread->open[level - 1];
        bool is_known = function < model->known.functions.count;
        *ink = column > 0 || (is_known && model->known.names[function].waits)
                   ? CUNEI_TOP_INK_DIM
               : level == thread->open_count ? CUNEI_TOP_INK_HOT
                                             : CUNEI_TOP_INK_STRONG;
        cunei_buffer_append_text(text, column > 0                    ? ""
                                       : level == thread->open_count ? "  → "
                                                                     : "    ");
        cunei_buffer_append_text(
            text, column == 0 ? cunei_top_known_name(&model->known, function)
                  : is_known  ? model->known.names[function].place
                              : "");
    }
}

int cunei_top_draw_stacks(struct cunei_top_model *model, struct cunei_grid *grid,
                          struct cunei_top_area area)
{
    struct cunei_top_table table = {
        .columns = {{.head = "open functions, the innermost first",
                     .width = 30,
                     .is_text = true},
                    {.head = "file:line",
                     .rank = 1,
                     .width = 14,
                     .is_text = true,
                     .is_path = true}},
        .column_count = 2,
        .sorted = -1,
        .put = put,
        .context = model,
    };
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < model->now.thread_count; i++) {
        const struct cunei_top_thread *thread = &model->now.threads[i];
        if (thread->is_seen && thread->open_count > 0)
            rc = add_thread(model, i);
    }
    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, &table, grid, area,
                                        "No recorded function is open.");
}
