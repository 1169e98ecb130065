// SPDX-License-Identifier: MIT
#include "top/view/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cunei_top_model_init(struct cunei_top_model *model)
{
    *model = (struct cunei_top_model){0};
    cunei_top_view_init(&model->view);
    return cunei_top_known_init(&model->known);
}

static void rows_fini(struct cunei_top_rows *rows)
{
    free(rows->keys);
    free(rows->functions);
    free(rows->items);
    free(rows->levels);
}

void cunei_top_model_fini(struct cunei_top_model *model)
{
    cunei_top_list_fini(&model->list);
    cunei_top_history_fini(&model->history);
    cunei_top_rates_fini(&model->recent);
    cunei_top_rates_fini(&model->whole);
    cunei_top_sums_fini(&model->before);
    cunei_top_sums_fini(&model->now);
    cunei_top_view_fini(&model->view);
    cunei_top_output_fini(&model->output);
    cunei_top_known_fini(&model->known);
    rows_fini(&model->rows);
    free(model->title);
    *model = (struct cunei_top_model){0};
}

int cunei_top_model_take(struct cunei_top_model *model, struct cunei_top_sums *sums)
{
    cunei_top_sums_fini(&model->before);
    model->before = model->now;
    model->has_before = model->has_now;
    model->now = *sums;
    model->has_now = true;
    *sums = (struct cunei_top_sums){0};
    cunei_top_rates_fini(&model->recent);
    cunei_top_rates_fini(&model->whole);
    int rc = cunei_top_rates_make(&model->whole, NULL, &model->now);
    if (rc == 0)
        rc = cunei_top_rates_make(
            &model->recent, model->has_before ? &model->before : NULL, &model->now);
    if (rc == 0 && model->has_before)
        rc = cunei_top_history_add(&model->history, model->now.time_ns, &model->recent);
    return rc;
}

const struct cunei_top_rates *cunei_top_model_rates(const struct cunei_top_model *model)
{
    return model->view.is_whole ? &model->whole : &model->recent;
}

const struct cunei_top_sums *cunei_top_model_before(const struct cunei_top_model *model)
{
    return model->view.is_whole || !model->has_before ? NULL : &model->before;
}

int cunei_top_model_refresh(struct cunei_top_model *model)
{
    struct cunei_top_view *view = &model->view;
    const struct cunei_top_wish wish = cunei_top_view_wish(view);

    if (!model->has_now)
        return 0;
    int rc = cunei_top_list_make(&model->list, &wish, &model->known,
                                 cunei_top_model_before(model), &model->now,
                                 cunei_top_model_rates(model));
    if (rc == 0 && view->is_frozen && !view->frozen)
        rc = cunei_top_view_freeze(view, &model->list);
    return rc;
}

void cunei_top_rows_clear(struct cunei_top_rows *rows)
{
    rows->count = 0;
}

static bool grow(void **items, size_t count, size_t item_size)
{
    void *grown = realloc(*items, count * item_size);

    if (grown)
        *items = grown;
    return grown != NULL;
}

int cunei_top_rows_add(struct cunei_top_rows *rows, uint64_t key, uint32_t function,
                       uint32_t item, uint32_t level)
{
    uint32_t capacity = rows->capacity ? 2 * rows->capacity : 256;

    if (rows->count == rows->capacity) {
        if (!grow((void **)&rows->keys, capacity, sizeof(*rows->keys)) ||
            !grow((void **)&rows->functions, capacity, sizeof(*rows->functions)) ||
            !grow((void **)&rows->items, capacity, sizeof(*rows->items)) ||
            !grow((void **)&rows->levels, capacity, sizeof(*rows->levels)))
            return -ENOMEM;
        rows->capacity = capacity;
    }
    rows->keys[rows->count] = key;
    rows->functions[rows->count] = function;
    rows->items[rows->count] = item;
    rows->levels[rows->count++] = level;
    return 0;
}
