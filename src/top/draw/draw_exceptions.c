// SPDX-License-Identifier: MIT
/* The pane of exceptions. */
#include <string.h>

#include "base/buffer.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"

static uint64_t raised(const struct cunei_top_model *model, uint32_t item)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);
    uint64_t earlier =
        before && item < before->raise_count ? before->raises[item].count : 0;

    return cunei_top_rates_since(model->now.raises[item].count, earlier);
}

static bool rank_raise(const struct cunei_top_model *model, uint32_t item,
                       struct cunei_top_ranked *ranked)
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
        cunei_top_put_rate(model, text, raised(model, item));
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
    const struct cunei_top_ranking ranking = {
        .count = model->now.raise_count,
        .rank = rank_raise,
        .function = raising,
        .absence = "No exception was recorded so far.",
    };

    return cunei_top_draw_ranked(model, &table, &ranking, grid, area);
}
