// SPDX-License-Identifier: MIT
/* The call tree: what is open, with siblings in the order of their time. */
#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "model/facts/call_tree.h"
#include "text/format.h"
#include "top/draw/draw_parts.h"
#include "top/view/columns.h"

/* Nodes of less than this share of the time are shown only where all are. */
#define LEAST_SHARE 0.001
/* Open from the start: a branch with this share of the time. */
#define OPEN_SHARE 0.1
#define LEVELS_MAX 200

struct branch {
    uint32_t parent, node;
    uint64_t total_ns;
};

/* What is known of the nodes of the interval. */
struct tree {
    const struct cunei_top_model *model;
    const struct cunei_top_sums *before;
    struct branch *branches; /* owned: by parent, the longest first */
    uint32_t *first;         /* owned: by node, where its children begin */
    uint32_t count;          /* of nodes */
};

static struct cunei_top_calls since(const struct cunei_top_sums *now,
                                    const struct cunei_top_sums *before, uint32_t node)
{
    struct cunei_top_calls calls = now->nodes[node];

    if (before && node < before->node_count) {
        const struct cunei_top_calls *from = &before->nodes[node];
        calls.calls = cunei_top_rates_since(calls.calls, from->calls);
        calls.self_ns = cunei_top_rates_since(calls.self_ns, from->self_ns);
        calls.total_ns = cunei_top_rates_since(calls.total_ns, from->total_ns);
    }
    return calls;
}

static int compare(const void *a, const void *b)
{
    const struct branch *one = a, *two = b;

    if (one->parent != two->parent)
        return one->parent < two->parent ? -1 : 1;
    if (one->total_ns != two->total_ns)
        return one->total_ns > two->total_ns ? -1 : 1;
    return one->node < two->node ? -1 : one->node > two->node;
}

static int sort_branches(struct tree *tree)
{
    const struct cunei_top_model *model = tree->model;
    uint32_t count = model->now.node_count;

    tree->count = count;
    tree->branches = calloc(count + 1u, sizeof(*tree->branches));
    tree->first = calloc(count + 2u, sizeof(*tree->first));
    if (!tree->branches || !tree->first)
        return -ENOMEM;
    for (uint32_t i = 1; i < count; i++)
        tree->branches[i - 1] =
            (struct branch){model->known.tree->nodes[i].parent, i,
                            since(&model->now, tree->before, i).total_ns};
    if (count > 1)
        qsort(tree->branches, count - 1, sizeof(*tree->branches), compare);
    for (uint32_t i = 0; i + 1 < count; i++)
        tree->first[tree->branches[i].parent + 1] = i + 1;
    for (uint32_t i = 1; i <= count; i++) {
        if (tree->first[i] < tree->first[i - 1])
            tree->first[i] = tree->first[i - 1];
    }
    return 0;
}

static uint32_t function_of(const struct cunei_top_model *model, uint32_t node)
{
    return model->known.tree->nodes[node].slot - 1; /* UINT32_MAX: unknown */
}

static bool is_open(const struct tree *tree, const struct branch *branch)
{
    const struct cunei_top_rates *rates = cunei_top_model_rates(tree->model);
    enum cunei_top_branch wish =
        cunei_top_view_branch(&tree->model->view, branch->node);

    if (wish != CUNEI_TOP_BRANCH_UNTOUCHED)
        return wish == CUNEI_TOP_BRANCH_OPEN;
    return cunei_top_rates_share(branch->total_ns, rates->threads_ns) >= OPEN_SHARE;
}

static int add_children(struct tree *tree, struct cunei_top_rows *rows, uint32_t parent,
                        uint32_t level)
{
    const struct cunei_top_rates *rates = cunei_top_model_rates(tree->model);

    for (uint32_t i = tree->first[parent]; i < tree->first[parent + 1]; i++) {
        const struct branch *branch = &tree->branches[i];
        if (branch->total_ns == 0 ||
            cunei_top_rates_share(branch->total_ns, rates->threads_ns) < LEAST_SHARE)
            continue;
        int rc = cunei_top_rows_add(rows, branch->node,
                                    function_of(tree->model, branch->node),
                                    branch->node, level);
        if (rc == 0 && level < LEVELS_MAX && is_open(tree, branch))
            rc = add_children(tree, rows, branch->node, level + 1);
        if (rc < 0)
            return rc;
    }
    return 0;
}

enum {
    TREE_TOTAL_SHARE,
    TREE_BAR,
    TREE_TOTAL,
    TREE_SELF,
    TREE_CALL_RATE,
    TREE_NAME,
    TREE_PLACE
};

/* ▾ open, ▸ closed, nothing: it called nothing that took time. */
static void put_name(const struct tree *tree, uint32_t row, struct cunei_buffer *text)
{
    const struct cunei_top_model *model = tree->model;
    const struct cunei_top_rows *rows = &model->rows;
    uint32_t node = rows->items[row];
    bool is_shown_open =
        row + 1 < rows->count && rows->levels[row + 1] > rows->levels[row];
    bool has_children = tree->first[node] < tree->first[node + 1] &&
                        tree->branches[tree->first[node]].total_ns > 0;

    for (uint32_t i = 0; i < rows->levels[row]; i++)
        cunei_buffer_append_text(text, "  ");
    cunei_buffer_append_text(text, is_shown_open ? "▾ " : has_children ? "▸ " : "  ");
    cunei_buffer_append_text(
        text, cunei_top_known_name(&model->known, function_of(model, node)));
}

static void put(const void *context, uint32_t row, size_t column,
                struct cunei_buffer *text, enum cunei_top_ink *ink)
{
    const struct tree *tree = context;
    const struct cunei_top_model *model = tree->model;
    const struct cunei_top_rates *rates = cunei_top_model_rates(model);
    uint32_t node = model->rows.items[row];
    struct cunei_top_calls calls = since(&model->now, tree->before, node);
    uint32_t function = function_of(model, node);
    double share = cunei_top_rates_share(calls.total_ns, rates->threads_ns);
    double self_share = cunei_top_rates_share(calls.self_ns, rates->threads_ns);

    *ink = column == TREE_SELF ? cunei_top_heat(self_share)
           : column == TREE_NAME
               ? (self_share >= 0.2 ? CUNEI_TOP_INK_HOT : CUNEI_TOP_INK_STRONG)
           : column == TREE_PLACE ? CUNEI_TOP_INK_DIM
           : column <= TREE_BAR   ? CUNEI_TOP_INK_GRAPH
                                  : CUNEI_TOP_INK_PLAIN;
    if (column == TREE_TOTAL_SHARE)
        cunei_buffer_format(text, "%.1f", 100 * share);
    else if (column == TREE_BAR)
        cunei_top_put_bar(text, share, 8);
    else if (column == TREE_TOTAL)
        cunei_format_duration(text, calls.total_ns);
    else if (column == TREE_SELF)
        cunei_format_duration(text, calls.self_ns);
    else if (column == TREE_CALL_RATE)
        cunei_top_format_rate(text, cunei_top_rates_per_second(rates, calls.calls));
    else if (column == TREE_NAME)
        put_name(tree, row, text);
    else if (function < model->known.functions.count)
        cunei_buffer_append_text(text, model->known.names[function].place);
}

int cunei_top_draw_tree(struct cunei_top_model *model, struct cunei_grid *grid,
                        struct cunei_top_area area)
{
    struct tree tree = {.model = model, .before = cunei_top_model_before(model)};
    struct cunei_top_table table = {
        .columns = {[TREE_TOTAL_SHARE] = {.head = "total%", .width = 6},
                    [TREE_BAR] = {.head = "", .rank = 3, .width = 8, .is_text = true},
                    [TREE_TOTAL] = {.head = "total", .rank = 2, .width = 7},
                    [TREE_SELF] = {.head = "self", .rank = 1, .width = 7},
                    [TREE_CALL_RATE] = {.head = "calls/s", .width = 7},
                    [TREE_NAME] = {.head = "function", .width = 24, .is_text = true},
                    [TREE_PLACE] = {.head = "file:line",
                                    .rank = 2,
                                    .width = 14,
                                    .is_text = true,
                                    .is_path = true}},
        .column_count = 7,
        .sorted = TREE_TOTAL_SHARE,
        .put = put,
        .context = &tree,
    };

    int rc = sort_branches(&tree);
    if (rc == 0 && tree.count > 1)
        rc = add_children(&tree, &model->rows, 0, 0);
    if (rc == 0)
        rc = cunei_top_draw_rows(model, &table, grid, area,
                                 "No function ran in the last interval (w shows the "
                                 "whole time).");
    free(tree.branches);
    free(tree.first);
    return rc;
}
