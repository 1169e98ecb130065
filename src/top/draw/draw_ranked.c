// SPDX-License-Identifier: MIT
/* Panes whose rows are in an order of their own. */
#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "top/draw/draw_parts.h"
#include "top/view/columns.h"

static int compare(const void *a, const void *b)
{
    const struct cunei_top_ranked *one = a, *two = b;

    if (one->first != two->first)
        return one->first > two->first ? -1 : 1;
    if (one->second != two->second)
        return one->second > two->second ? -1 : 1;
    return one->item < two->item ? -1 : one->item > two->item;
}

static int add_rows(struct cunei_top_model *model,
                    const struct cunei_top_ranking *ranking)
{
    struct cunei_top_ranked *ranked = calloc(ranking->count + 1u, sizeof(*ranked));
    uint32_t used = 0;
    int rc = ranked ? 0 : -ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < ranking->count; i++) {
        ranked[used].item = i;
        ranked[used].key = i;
        used += ranking->rank(model, i, &ranked[used]);
    }
    if (rc == 0)
        qsort(ranked, used, sizeof(*ranked), compare);
    for (uint32_t i = 0; rc == 0 && i < used; i++)
        rc = cunei_top_rows_add(
            &model->rows, ranked[i].key,
            ranking->function ? ranking->function(model, ranked[i].item) : UINT32_MAX,
            ranked[i].item, 0);
    free(ranked);
    return rc;
}

int cunei_top_draw_ranked(struct cunei_top_model *model, struct cunei_top_table *table,
                          const struct cunei_top_ranking *ranking,
                          struct cunei_grid *grid, struct cunei_top_area area)
{
    int rc = add_rows(model, ranking);

    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, table, grid, area, ranking->absence);
}

void cunei_top_put_rate(const struct cunei_top_model *model, struct cunei_buffer *text,
                        uint64_t count)
{
    cunei_top_format_rate(
        text, cunei_top_rates_per_second(cunei_top_model_rates(model), count));
}

void cunei_top_put_pid(const struct cunei_top_model *model, struct cunei_buffer *text,
                       uint32_t process)
{
    if (model->now.process_count > 1)
        cunei_buffer_format(text, "%u", model->now.processes[process].pid);
}
