// SPDX-License-Identifier: MIT
#include "export/html/comparison_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/comparison.h"
#include "export/html/page.h"
#include "model/facts/call_tree.h"
#include "text/format.h"

/* A node of both sides. */
struct pair {
    uint64_t self_ns[2], calls[2];
};

struct difference {
    const struct cunei_comparison *comparison;
    struct cunei_page page;
    struct cunei_tree *tree; /* owned: the nodes of either side */
    struct pair *pairs;      /* owned: of each */
    unsigned side;           /* whose column is written */
};

/* To the nearest whole number. */
static uint64_t average(uint64_t sum, uint32_t runs)
{
    return sum / runs + (sum % runs >= runs - runs / 2);
}

/* Put a side's nodes among those of both, an average of its runs. */
static int add_side(struct difference *difference, unsigned side)
{
    const struct cunei_tree *from = difference->comparison->trees[side];
    uint32_t runs = difference->comparison->runs[side];
    uint32_t *nodes = calloc(from->count, sizeof(*nodes));

    if (!nodes)
        return -ENOMEM;
    uint32_t old = side == 0 ? 0 : difference->tree->count;
    for (uint32_t i = 1; i < from->count; i++)
        nodes[i] = cunei_tree_child(difference->tree, nodes[from->nodes[i].parent],
                                    from->nodes[i].slot);
    struct pair *grown =
        realloc(difference->pairs, difference->tree->count * sizeof(*grown));
    if (grown) {
        memset(grown + old, 0, (difference->tree->count - old) * sizeof(*grown));
        difference->pairs = grown;
    }
    for (uint32_t i = 1; grown && i < from->count; i++) {
        struct pair *pair = &grown[nodes[i]];
        pair->self_ns[side] += average(from->nodes[i].self, runs);
        pair->calls[side] += average(from->nodes[i].calls, runs);
    }
    free(nodes);
    return grown ? 0 : -ENOMEM;
}

static uint64_t self_of(const struct cunei_node *node, void *context)
{
    const struct difference *difference = context;
    return difference->pairs[node - difference->tree->nodes].self_ns[difference->side];
}

static uint64_t calls_of(const struct cunei_node *node, void *context)
{
    const struct difference *difference = context;
    return difference->pairs[node - difference->tree->nodes].calls[difference->side];
}

static int put_tree(struct difference *difference)
{
    static const struct {
        const char *name;
        uint64_t (*value)(const struct cunei_node *node, void *context);
        unsigned side;
    } columns[] = {{"parent", cunei_page_parent, 0},
                   {"function", cunei_page_function_of, 0},
                   {"selfA", self_of, 0},
                   {"selfB", self_of, 1},
                   {"callsA", calls_of, 0},
                   {"callsB", calls_of, 1}};
    struct cunei_buffer *out = &difference->page.text;
    int rc = 0;

    cunei_buffer_append_text(out, ",\n\"tree\":{");
    for (unsigned i = 0; rc == 0 && i < sizeof(columns) / sizeof(columns[0]); i++) {
        cunei_buffer_append_text(out, i > 0 ? ",\n" : "");
        difference->side = columns[i].side;
        rc = cunei_page_column(&difference->page, columns[i].name, difference->tree,
                               columns[i].value, difference);
    }
    cunei_buffer_append_text(out, "}");
    return rc;
}

/* [name, module, file, line, calls A, calls B, self …, total …, chance, hidden] */
static int put_functions(struct difference *difference)
{
    const struct cunei_comparison *comparison = difference->comparison;
    struct cunei_buffer *out = &difference->page.text;
    int rc = 0;

    cunei_buffer_append_text(out, ",\n\"functions\":[");
    for (uint32_t i = 0; rc == 0 && i < comparison->count; i++) {
        const struct cunei_comparison_item *item = &comparison->items[i];
        const struct cunei_comparison_side *sides = item->sides;
        const struct cunei_function function = {.module = item->module,
                                                .qualname = item->qualname,
                                                .file = item->file,
                                                .line = item->line};
        cunei_buffer_append_text(out, i > 0 ? ",\n[" : "\n[");
        cunei_page_function(&difference->page, &function);
        cunei_buffer_format(out, ",%.12g,%.12g,%.0f,%.0f,%.0f,%.0f,%.4g,%d]",
                            sides[0].calls, sides[1].calls, sides[0].self_ns.mean,
                            sides[1].self_ns.mean, sides[0].total_ns, sides[1].total_ns,
                            item->chance, item->is_hidden);
        rc = cunei_page_flow(&difference->page);
    }
    cunei_buffer_append_text(out, "]");
    return rc;
}

static void put_head(struct difference *difference, const char *const names[2])
{
    const struct cunei_comparison *comparison = difference->comparison;
    struct cunei_buffer *out = &difference->page.text, text = {0};

    cunei_buffer_format(&text, "%s → %s", names[0], names[1]);
    cunei_buffer_append_text(out, "{\"program\":");
    cunei_page_text(out, cunei_buffer_text(&text), text.size);
    cunei_buffer_clear(&text);
    for (unsigned i = 0; i < 2; i++) {
        cunei_buffer_append_text(&text, i > 0 ? " → " : "");
        cunei_format_duration(&text, (uint64_t)comparison->whole[i].self_ns.mean);
    }
    if (comparison->whole[0].self_ns.mean > 0)
        cunei_buffer_format(&text, " (%+.1f %%)", cunei_comparison_growth(comparison));
    if (comparison->runs[0] + comparison->runs[1] > 2)
        cunei_buffer_format(&text, " · averages of %" PRIu32 " and %" PRIu32 " runs",
                            comparison->runs[0], comparison->runs[1]);
    cunei_buffer_append_text(out, ",\"facts\":");
    cunei_page_text(out, cunei_buffer_text(&text), text.size);
    cunei_buffer_append_text(out, ",\"sides\":[");
    for (unsigned i = 0; i < 2; i++) {
        cunei_buffer_append_text(out, i > 0 ? "," : "");
        cunei_page_text(out, names[i], strlen(names[i]));
    }
    cunei_buffer_format(out, "],\"has_chance\":%s",
                        cunei_comparison_has_chance(comparison) ? "true" : "false");
    cunei_buffer_fini(&text);
}

int cunei_difference_write(const struct cunei_comparison *comparison,
                           const char *const names[2], FILE *out)
{
    struct difference difference = {
        .comparison = comparison, .page = {.out = out}, .tree = cunei_tree_new()};
    int rc = difference.tree ? 0 : -ENOMEM;

    for (unsigned i = 0; rc == 0 && i < 2; i++)
        rc = add_side(&difference, i);
    if (rc == 0) {
        cunei_page_begin(&difference.page);
        cunei_page_data(&difference.page);
        put_head(&difference, names);
        rc = put_tree(&difference);
    }
    if (rc == 0)
        rc = put_functions(&difference);
    cunei_buffer_append_text(&difference.page.text, "}");
    if (rc == 0)
        rc = cunei_page_end(&difference.page);
    cunei_page_fini(&difference.page);
    cunei_tree_free(difference.tree);
    free(difference.pairs);
    return rc;
}
