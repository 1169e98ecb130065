// SPDX-License-Identifier: MIT
/* One function: its numbers, the last ten minutes, durations, callers and callees. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/function_numbers.h"
#include "base/buffer.h"
#include "model/facts/call_edges.h"
#include "text/format.h"
#include "text/terminal_text.h"
#include "top/draw/draw_parts.h"
#include "top/view/columns.h"

#define GRAPH_HEIGHT_MAX 8
#define BUCKETS_MAX      64u
#define AXIS_WIDTH       9
/* The top of the axis at least: 0.1 %, the smallest share that is not printed as 0. */
#define SHARE_MIN (1.0 / 1000)

/* What is shown: the numbers of one function. */
struct detail {
    struct cunei_top_model *model;
    uint32_t function;
    struct cunei_top_entry entry;
};

static struct detail detail_of(struct cunei_top_model *model)
{
    uint32_t function = model->view.details[model->view.detail_count - 1];
    const struct cunei_top_name *name = &model->known.names[function];
    const struct cunei_top_rates *rates = cunei_top_model_rates(model);
    const struct cunei_top_function *sums = &model->now.functions[function];

    return (struct detail){
        .model = model,
        .function = function,
        .entry = {.key = function,
                  .name = name->name,
                  .place = name->place,
                  .sums = sums,
                  .rate = rates->functions[function],
                  .waits = name->waits,
                  .is_estimated = cunei_function_is_estimated(&sums->facts),
                  .is_self_estimated = cunei_function_is_self_estimated(&sums->facts)}};
}

/* "self% 61.2   calls/s 1.2k …": what the table would show, on as many rows. */
static int draw_numbers(const struct detail *detail, struct cunei_grid *grid, int row,
                        int end)
{
    const struct cunei_top_rates *rates = cunei_top_model_rates(detail->model);
    int column = 1;

    for (size_t i = 0; i < cunei_top_column_count && row < end; i++) {
        const struct cunei_top_column *described = &cunei_top_columns[i];
        struct cunei_buffer text = {0};
        if (described->is_text || described->head[0] == '\0')
            continue;
        described->put(&detail->entry, rates, &text);
        int width = (int)cunei_terminal_width(described->head) + 1 +
                    (int)cunei_terminal_width(cunei_buffer_text(&text));
        if (column > 1 && column + width > grid->column_count - 1) {
            row++;
            column = 1;
        }
        if (row < end) {
            int left = grid->column_count - column;
            column += cunei_grid_put(grid, row, column, left, CUNEI_TOP_INK_DIM,
                                     described->head);
            column +=
                1 + cunei_grid_put(grid, row, column + 1, left, CUNEI_TOP_INK_STRONG,
                                   cunei_buffer_text(&text));
            column += 3;
        }
        cunei_buffer_fini(&text);
    }
    return row + 1;
}

static int draw_names(const struct detail *detail, struct cunei_grid *grid, int row)
{
    struct cunei_buffer text = {0};
    int column = 1;
    int half = grid->column_count * 3 / 5;

    cunei_terminal_text(&text, detail->entry.name, (size_t)half);
    column += cunei_grid_put(grid, row, column, half, CUNEI_TOP_INK_HOT,
                             cunei_buffer_text(&text)) +
              2;
    cunei_buffer_clear(&text);
    int left = grid->column_count - column - 1;
    cunei_terminal_path(&text, detail->entry.place, left > 0 ? (size_t)left : 0);
    (void)cunei_grid_put(grid, row, column, left, CUNEI_TOP_INK_DIM,
                         cunei_buffer_text(&text));
    cunei_buffer_fini(&text);
    return row + 1;
}

/* The mean share of the seconds that one column of a graph stands for. */
static double share_at(const struct cunei_top_history *history,
                       const struct cunei_top_point *points, int column, int width,
                       uint32_t count)
{
    uint32_t begin = (uint32_t)((uint64_t)(uint32_t)column * count / (uint32_t)width);
    uint32_t end =
        (uint32_t)((uint64_t)(uint32_t)(column + 1) * count / (uint32_t)width);
    double sum = 0;

    if (end == begin)
        end = begin + 1;
    for (uint32_t i = begin; i < end; i++)
        sum += (double)points[cunei_top_history_slot(history, i)].self_share;
    return sum / (end - begin);
}

static void draw_graph_column(struct cunei_grid *grid, int row, int height, int column,
                              double level)
{
    for (int i = 0; i < height; i++) {
        double part = level * height - i;
        if (part <= 0.02)
            break;
        (void)cunei_grid_put(grid, row + height - 1 - i, column, 1, CUNEI_TOP_INK_GRAPH,
                             cunei_top_block(part));
    }
}

static void put_axis(struct cunei_grid *grid, int row, double share)
{
    struct cunei_buffer text = {0};

    cunei_buffer_format(&text, "%.1f %%", 100 * share);
    cunei_grid_put_right(grid, row, 0, AXIS_WIDTH - 1, CUNEI_TOP_INK_DIM,
                         cunei_buffer_text(&text));
    cunei_buffer_fini(&text);
}

/* self% over the last ten minutes, or as much of them as there is; now is right. */
static int draw_history(const struct detail *detail, struct cunei_grid *grid, int row,
                        int height)
{
    const struct cunei_top_history *history = &detail->model->history;
    const struct cunei_top_point *points =
        cunei_top_history_of(history, detail->function);
    uint32_t count = history->point_count;
    int width = grid->column_count - AXIS_WIDTH - 1;
    struct cunei_buffer text = {0};
    double most = SHARE_MIN;

    cunei_buffer_append_text(&text, "self% in the last ");
    cunei_format_duration(&text, (uint64_t)count * 1000000000u);
    cunei_grid_fill(grid, row, CUNEI_TOP_INK_HEAD);
    (void)cunei_grid_put(grid, row, 1, grid->column_count, CUNEI_TOP_INK_HEAD,
                         count ? cunei_buffer_text(&text) : "self% over time: not yet");
    cunei_buffer_fini(&text);
    if (!points || count == 0 || height < 2 || width < 2)
        return row + 1;
    if (width > (int)count)
        width = (int)count;
    for (int i = 0; i < width; i++) {
        double share = share_at(history, points, i, width, count);
        most = share > most ? share : most;
    }
    put_axis(grid, row + 1, most);
    put_axis(grid, row + height - 1, 0);
    for (int i = 0; i < width; i++)
        draw_graph_column(grid, row + 1, height - 1, AXIS_WIDTH + width - 1 - i,
                          share_at(history, points, i, width, count) / most);
    return row + height;
}

/* Durations by powers of two. */
static uint32_t collect_buckets(const struct cunei_histogram *histogram,
                                uint64_t counts[BUCKETS_MAX], uint32_t *first)
{
    uint32_t end = 0;

    *first = BUCKETS_MAX;
    for (uint32_t i = 0; i < histogram->span; i++) {
        uint64_t least_ns = cunei_histogram_least(histogram->first + i);
        uint32_t power = least_ns ? 63u - (uint32_t)__builtin_clzll(least_ns) : 0;
        if (histogram->counts[i] == 0)
            continue;
        counts[power] += histogram->counts[i];
        *first = power < *first ? power : *first;
        end = power + 1 > end ? power + 1 : end;
    }
    return end;
}

static void draw_bucket(struct cunei_grid *grid, int row, uint32_t power,
                        uint64_t count, uint64_t most)
{
    struct cunei_buffer text = {0};
    int width = grid->column_count - 36;

    cunei_buffer_append_text(&text, "from ");
    cunei_format_duration(&text, UINT64_C(1) << power);
    (void)cunei_grid_put(grid, row, 1, 14, CUNEI_TOP_INK_DIM, cunei_buffer_text(&text));
    cunei_buffer_clear(&text);
    cunei_format_count(&text, count);
    cunei_grid_put_right(grid, row, 15, 12, CUNEI_TOP_INK_PLAIN,
                         cunei_buffer_text(&text));
    cunei_buffer_clear(&text);
    cunei_top_put_bar(&text, (double)count / (double)most, width > 40 ? 40 : width);
    (void)cunei_grid_put(grid, row, 29, grid->column_count - 30, CUNEI_TOP_INK_GRAPH,
                         cunei_buffer_text(&text));
    cunei_buffer_fini(&text);
}

/* Rows of its histogram, where each has a power of two. */
static int count_durations(const struct detail *detail)
{
    uint64_t counts[BUCKETS_MAX] = {0};
    uint32_t first;

    uint32_t end =
        collect_buckets(&detail->entry.sums->facts.histogram, counts, &first);
    return first < end ? (int)(end - first) : 0;
}

static int draw_durations(const struct detail *detail, struct cunei_grid *grid, int row,
                          int height)
{
    uint64_t counts[BUCKETS_MAX] = {0}, most = 0;
    uint32_t first, end;

    end = collect_buckets(&detail->entry.sums->facts.histogram, counts, &first);
    cunei_grid_fill(grid, row, CUNEI_TOP_INK_HEAD);
    (void)cunei_grid_put(grid, row++, 1, grid->column_count, CUNEI_TOP_INK_HEAD,
                         end > 0 ? "durations of single calls"
                                 : "durations: no call has ended so far");
    if (first >= end)
        return row;
    /* Where there is little room, a row stands for several powers of two. */
    uint32_t step = height > 0 ? (end - first + (uint32_t)height - 1) / (uint32_t)height
                               : BUCKETS_MAX;
    for (uint32_t i = first; i < end; i++) {
        uint32_t begin = first + (i - first) / step * step;
        counts[begin] += i == begin ? 0 : counts[i];
        most = counts[begin] > most ? counts[begin] : most;
    }
    for (uint32_t i = first; i < end && i < BUCKETS_MAX; i += step)
        draw_bucket(grid, row++, i, counts[i], most);
    return row;
}

/* A caller or callee: an edge of the function. */
struct neighbour {
    bool is_callee;
    uint32_t edge, function;
    struct cunei_top_calls calls; /* of the interval */
};

static struct cunei_top_calls edge_since(const struct cunei_top_model *model,
                                         uint32_t edge)
{
    const struct cunei_top_sums *before = cunei_top_model_before(model);
    struct cunei_top_calls calls = model->now.edges[edge];

    if (before && edge < before->edge_count) {
        const struct cunei_top_calls *from = &before->edges[edge];
        calls.calls = cunei_top_rates_since(calls.calls, from->calls);
        calls.self_ns = cunei_top_rates_since(calls.self_ns, from->self_ns);
        calls.total_ns = cunei_top_rates_since(calls.total_ns, from->total_ns);
    }
    return calls;
}

static int compare(const void *a, const void *b)
{
    const struct neighbour *one = a, *two = b;

    if (one->is_callee != two->is_callee)
        return one->is_callee ? 1 : -1;
    if (one->calls.total_ns != two->calls.total_ns)
        return one->calls.total_ns > two->calls.total_ns ? -1 : 1;
    return one->edge < two->edge ? -1 : one->edge > two->edge;
}

struct neighbours {
    const struct detail *detail;
    struct neighbour *items; /* owned */
    uint32_t count;
};

static int find_neighbours(struct neighbours *found)
{
    const struct cunei_top_model *model = found->detail->model;
    const struct cunei_edges *edges = model->known.edges;
    uint32_t slot = found->detail->function + 1;

    found->items = calloc(2 * model->now.edge_count + 1u, sizeof(*found->items));
    if (!found->items)
        return -ENOMEM;
    for (uint32_t i = 0; i < model->now.edge_count; i++) {
        const struct cunei_edge *edge = &edges->items[i];
        if (model->now.edges[i].calls == 0 && model->now.edges[i].total_ns == 0)
            continue;
        if (edge->callee == slot)
            found->items[found->count++] =
                (struct neighbour){false, i, edge->caller - 1, edge_since(model, i)};
        if (edge->caller == slot)
            found->items[found->count++] =
                (struct neighbour){true, i, edge->callee - 1, edge_since(model, i)};
    }
    qsort(found->items, found->count, sizeof(*found->items), compare);
    return 0;
}

enum {
    NEXT_KIND,
    NEXT_TOTAL_SHARE,
    NEXT_TOTAL,
    NEXT_CALL_RATE,
    NEXT_CALLS,
    NEXT_NAME,
    NEXT_PLACE
};

static void put(const void *context, uint32_t row, size_t column,
                struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct neighbours *found = context;
    const struct neighbour *item = &found->items[row];
    const struct cunei_top_model *model = found->detail->model;
    const struct cunei_top_rates *rates = cunei_top_model_rates(model);
    bool is_known = item->function < model->known.functions.count;

    *ink = column == NEXT_NAME                           ? CUNEI_TOP_INK_STRONG
           : column == NEXT_KIND || column == NEXT_PLACE ? CUNEI_TOP_INK_DIM
                                                         : CUNEI_TOP_INK_PLAIN;
    if (column == NEXT_KIND)
        cunei_buffer_append_text(text, item->is_callee ? "calls" : "called by");
    else if (column == NEXT_TOTAL_SHARE)
        cunei_buffer_format(
            text, "%.1f",
            100 * cunei_top_rates_share(item->calls.total_ns,
                                        found->detail->entry.rate.total_ns));
    else if (column == NEXT_TOTAL)
        cunei_format_duration(text, item->calls.total_ns);
    else if (column == NEXT_CALL_RATE)
        cunei_top_format_rate(text,
                              cunei_top_rates_per_second(rates, item->calls.calls));
    else if (column == NEXT_CALLS)
        cunei_format_count(text, model->now.edges[item->edge].calls);
    else if (column == NEXT_NAME)
        cunei_buffer_append_text(text, is_known
                                           ? model->known.names[item->function].name
                                           : "no recorded function");
    else if (is_known)
        cunei_buffer_append_text(text, model->known.names[item->function].place);
}

static int draw_neighbours(struct neighbours *found, struct cunei_grid *grid,
                           struct cunei_top_area area)
{
    struct cunei_top_model *model = found->detail->model;
    struct cunei_top_table table = {
        .columns = {[NEXT_KIND] = {.head = "", .width = 9, .is_text = true},
                    [NEXT_TOTAL_SHARE] = {.head = "share%", .rank = 1, .width = 7},
                    [NEXT_TOTAL] = {.head = "total", .width = 7},
                    [NEXT_CALL_RATE] = {.head = "calls/s", .width = 7},
                    [NEXT_CALLS] = {.head = "calls", .rank = 3, .width = 9},
                    [NEXT_NAME] = {.head = "callers and callees",
                                   .width = 20,
                                   .is_text = true},
                    [NEXT_PLACE] = {.head = "file:line",
                                    .rank = 2,
                                    .width = 14,
                                    .is_text = true,
                                    .is_path = true}},
        .column_count = 7,
        .sorted = -1,
        .put = put,
        .context = found,
    };
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < found->count; i++)
        rc = cunei_top_rows_add(&model->rows,
                                (uint64_t)found->items[i].is_callee << 32 |
                                    found->items[i].function,
                                found->items[i].function, i, 0);
    return rc < 0 ? rc
                  : cunei_top_draw_rows(model, &table, grid, area,
                                        "No caller or callee was recorded.");
}

static int least(int one, int other)
{
    return one < other ? one : other;
}

/* Rows of the graph and of the histogram: a third of the screen each, with their heads,
 * and what the callers and callees leave free. */
static void share_rows(const struct detail *detail, int room, int neighbours,
                       int *graph, int *buckets)
{
    int part = room / 3;
    int wanted = count_durations(detail);

    *graph = least(part, GRAPH_HEIGHT_MAX);
    *buckets = least(part > 1 ? part - 1 : 0, wanted);
    int left = room - *graph - 1 - *buckets - 1 - (neighbours > 0 ? neighbours : 1);
    if (left > 0) {
        int more = least(left, wanted - *buckets);
        *buckets += more;
        *graph = least(*graph + left - more, GRAPH_HEIGHT_MAX);
    }
}

int cunei_top_draw_detail(struct cunei_top_model *model, struct cunei_grid *grid,
                          struct cunei_top_area area)
{
    const struct detail detail = detail_of(model);
    struct neighbours found = {.detail = &detail};
    int end = area.row + area.height;
    int graph, buckets;

    int rc = find_neighbours(&found);
    if (rc < 0)
        return rc;
    int row = draw_names(&detail, grid, area.row);
    row = draw_numbers(&detail, grid, row, end);
    share_rows(&detail, end - row, (int)found.count, &graph, &buckets);
    row = draw_history(&detail, grid, row, graph);
    row = draw_durations(&detail, grid, row, buckets);
    rc = draw_neighbours(&found, grid, (struct cunei_top_area){row, end - row});
    free(found.items);
    return rc;
}
