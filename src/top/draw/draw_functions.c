// SPDX-License-Identifier: MIT
/* The table of functions. */
#include <string.h>

#include "base/buffer.h"
#include "top/draw/draw_parts.h"

#define HOT_SHARE  (1.0 / 5)
#define WARM_SHARE (1.0 / 20)

enum cunei_top_ink cunei_top_heat(double share)
{
    return share >= HOT_SHARE    ? CUNEI_TOP_INK_HOT
           : share >= WARM_SHARE ? CUNEI_TOP_INK_WARM
                                 : CUNEI_TOP_INK_PLAIN;
}

/* The shown columns of the view, in its order. */
struct shown {
    const struct cunei_top_model *model;
    int columns[CUNEI_TOP_COLUMNS_MAX];
};

static double heat_of(const struct cunei_top_model *model,
                      const struct cunei_top_entry *entry)
{
    return cunei_top_columns[0].key(entry, cunei_top_model_rates(model));
}

/* Nothing happened in it in the interval. */
static bool is_still(const struct cunei_top_entry *entry)
{
    const struct cunei_top_rate *rate = &entry->rate;

    return rate->calls + rate->resumes + rate->self_ns + rate->total_ns == 0;
}

static enum cunei_top_ink ink_of(const struct cunei_top_model *model,
                                 const struct cunei_top_entry *entry, int column)
{
    const struct cunei_top_column *described = &cunei_top_columns[column];
    bool is_name = strcmp(described->word, "function") == 0;
    enum cunei_top_ink heat = cunei_top_heat(heat_of(model, entry));

    if (strcmp(described->word, "place") == 0 || (entry->waits && !is_name) ||
        is_still(entry))
        return CUNEI_TOP_INK_DIM;
    if (described->is_heat)
        return heat;
    if (is_name)
        return heat == CUNEI_TOP_INK_HOT ? heat : CUNEI_TOP_INK_STRONG;
    return CUNEI_TOP_INK_PLAIN;
}

static void put(const void *context, uint32_t row, size_t column,
                struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct shown *shown = context;
    const struct cunei_top_model *model = shown->model;
    const struct cunei_top_entry *entry = &model->list.entries[row];

    cunei_top_columns[shown->columns[column]].put(entry, cunei_top_model_rates(model),
                                                  text);
    *ink = ink_of(model, entry, shown->columns[column]);
}

/* A row is a group, whose name says where it is. */
static bool shows_groups(const struct cunei_top_view *view)
{
    return view->group && !view->within;
}

static const char *head_of(const struct cunei_top_view *view,
                           const struct cunei_top_column *column)
{
    return shows_groups(view) && strcmp(column->word, "function") == 0
               ? cunei_top_group_words[view->group]
               : column->head;
}

static void add_columns(struct cunei_top_table *table, struct shown *shown)
{
    const struct cunei_top_view *view = &shown->model->view;

    for (size_t i = 0; i < cunei_top_column_count; i++) {
        int column = view->columns[i];
        const struct cunei_top_column *described = &cunei_top_columns[column];
        bool is_place = strcmp(described->word, "place") == 0;
        if (!view->is_column_shown[column] || (is_place && shows_groups(view)))
            continue;
        if (column == view->sort)
            table->sorted = (int)table->column_count;
        shown->columns[table->column_count] = column;
        table->columns[table->column_count++] = (struct cunei_top_table_column){
            .head = head_of(view, described),
            /* What it is sorted by is the last to go. */
            .rank = column == view->sort ? 0 : described->rank,
            .width = described->width,
            .is_text = described->is_text,
            .is_path = is_place || (shows_groups(view) && described->rank == 0 &&
                                    view->group == CUNEI_TOP_GROUP_FILE),
        };
    }
}

static void remember_heads(struct cunei_top_model *model,
                           const struct cunei_top_table *table,
                           const struct shown *shown)
{
    memset(model->heads, 0, sizeof(model->heads));
    for (size_t i = 0; i < table->column_count; i++) {
        model->heads[shown->columns[i]].place = table->places[i];
        model->heads[shown->columns[i]].width = table->widths[i];
    }
}

static const char *absence_of(const struct cunei_top_model *model)
{
    if (!model->has_now || model->now.whole.events == 0)
        return "Nothing was recorded so far.";
    if (model->list.all > 0)
        return "No function matches the filter (Esc removes it).";
    return "No call of a Python function was recorded so far.";
}

int cunei_top_draw_functions(struct cunei_top_model *model, struct cunei_grid *grid,
                             struct cunei_top_area area)
{
    struct shown shown = {.model = model};
    struct cunei_top_table table = {.put = put, .context = &shown, .sorted = -1};
    struct cunei_top_rows *rows = &model->rows;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < model->list.count; i++)
        rc = cunei_top_rows_add(
            rows, model->list.entries[i].key,
            shows_groups(&model->view) ? UINT32_MAX : model->list.entries[i].key, i, 0);
    if (rc < 0)
        return rc;
    add_columns(&table, &shown);
    rc = cunei_top_draw_rows(model, &table, grid, area, absence_of(model));
    remember_heads(model, &table, &shown);
    return rc;
}
