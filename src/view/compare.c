// SPDX-License-Identifier: MIT
#include "view/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "survey/comparison.h"
#include "view/format.h"
#include "view/json.h"
#include "view/table.h"

/* Below it, a difference is hardly one of chance. */
#define SIGNIFICANT 0.05

struct row {
    const struct cunei_comparison_item *item;
    double key;
};

double cunei_compare_growth(const struct cunei_comparison *comparison)
{
    double before = comparison->self_ns[0], after = comparison->self_ns[1];
    return before > 0 ? (after - before) / before * 100 : after > 0 ? INFINITY : 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *one = a, *two = b;

    if (one->key != two->key)
        return one->key > two->key ? -1 : 1;
    int order = strcmp(one->item->module, two->item->module);
    return order != 0 ? order : strcmp(one->item->qualname, two->item->qualname);
}

static double key_of(const struct cunei_comparison_item *item, int sort)
{
    const struct cunei_comparison_side *sides = item->sides;

    switch (sort) {
    case CUNEI_COMPARE_TOTAL:
        return fabs(sides[1].total_ns - sides[0].total_ns);
    case CUNEI_COMPARE_CALLS:
        return fabs(sides[1].calls - sides[0].calls);
    case CUNEI_COMPARE_NAME:
        return 0;
    default:
        return fabs(sides[1].self_ns - sides[0].self_ns);
    }
}

static void put_duration(struct cunei_table *table, double ns)
{
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);

    if (ns > 0)
        cunei_format_duration(cell, (uint64_t)(ns + 0.5));
    else
        cunei_buffer_append_text(cell, "–");
}

static enum cunei_ink ink_of(double difference, bool is_certain)
{
    if (!is_certain || difference == 0)
        return CUNEI_INK_DIM;
    return difference > 0 ? CUNEI_INK_BAD : CUNEI_INK_WARM;
}

static void put_difference(struct cunei_table *table, double before, double after,
                           bool is_certain)
{
    double difference = after - before;
    enum cunei_ink ink = ink_of(difference, is_certain);
    struct cunei_buffer *cell = cunei_table_cell(table, ink);

    cunei_buffer_append_text(cell, difference < 0 ? "−" : difference > 0 ? "+" : "±");
    cunei_format_duration(cell, (uint64_t)(fabs(difference) + 0.5));
    cell = cunei_table_cell(table, ink);
    if (before > 0 && after > 0)
        cunei_buffer_format(cell, "%+.1f", difference / before * 100);
    else
        cunei_buffer_append_text(cell, after > 0 ? "new" : before > 0 ? "gone" : "");
}

/* Averages of several runs need not be whole. */
static void put_calls(struct cunei_table *table, double calls, enum cunei_ink ink)
{
    struct cunei_buffer *cell = cunei_table_cell(table, ink);

    if (calls == floor(calls))
        cunei_format_count(cell, (uint64_t)calls);
    else
        cunei_buffer_format(cell, "%.1f", calls);
}

static void put_row(struct cunei_table *table,
                    const struct cunei_comparison *comparison,
                    const struct cunei_comparison_item *item)
{
    const struct cunei_comparison_side *sides = item->sides;
    const struct cunei_function function = {.module = item->module,
                                            .qualname = item->qualname,
                                            .file = item->file,
                                            .line = item->line};
    bool has_runs = comparison->runs[0] > 1 && comparison->runs[1] > 1;
    bool is_certain = !has_runs || item->chance < SIGNIFICANT;

    put_difference(table, sides[0].self_ns, sides[1].self_ns, is_certain);
    put_duration(table, sides[0].self_ns);
    put_duration(table, sides[1].self_ns);
    put_difference(table, sides[0].total_ns, sides[1].total_ns, true);
    put_duration(table, sides[0].total_ns);
    put_duration(table, sides[1].total_ns);
    put_calls(table, sides[0].calls, CUNEI_INK_PLAIN);
    put_calls(table, sides[1].calls,
              sides[0].calls == sides[1].calls ? CUNEI_INK_PLAIN : CUNEI_INK_HOT);
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_DIM);
    if (has_runs)
        cunei_buffer_format(cell, "%.3f", item->chance);
    cunei_format_function(cunei_table_cell(table, CUNEI_INK_STRONG), &function);
    cunei_format_place(cunei_table_cell(table, CUNEI_INK_DIM), &function, NULL);
}

static int put_table(const struct cunei_comparison *comparison, const struct row *rows,
                     uint32_t count, const struct cunei_style *style, FILE *out)
{
    static const struct cunei_column columns[] = {
        {"Δself", 0, 0, false},   {"%", 0, 0, false},       {"self A", 0, 0, false},
        {"self B", 0, 0, false},  {"Δtotal", 1, 0, false},  {"%", 1, 0, false},
        {"total A", 2, 0, false}, {"total B", 2, 0, false}, {"calls A", 0, 0, false},
        {"calls B", 0, 0, false}, {"chance", 3, 0, false},  {"function", 0, 20, false},
        {"", 4, 12, true},
    };
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < count; i++)
        put_row(&table, comparison, rows[i].item);
    int rc = cunei_table_print(&table, style, out);
    cunei_table_fini(&table);
    return rc;
}

/* One line for both sides, and what is to be known of the rest. */
static void put_title(const struct cunei_comparison *comparison,
                      const struct cunei_compare_options *options, FILE *out)
{
    uint32_t added = 0, gone = 0, counts = 0;
    struct cunei_buffer text = {0};

    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct cunei_comparison_side *sides = comparison->items[i].sides;
        added += sides[0].runs == 0;
        gone += sides[1].runs == 0;
        counts +=
            sides[0].runs > 0 && sides[1].runs > 0 && sides[0].calls != sides[1].calls;
    }
    for (unsigned i = 0; i < 2; i++) {
        cunei_buffer_format(&text, "%c  ", 'A' + (int)i);
        cunei_format_text(&text, options->names[i], SIZE_MAX);
        if (comparison->runs[i] > 1)
            cunei_buffer_format(&text, " (%" PRIu32 " runs)", comparison->runs[i]);
        cunei_buffer_append_text(&text, " · ");
        cunei_format_duration(&text, (uint64_t)comparison->self_ns[i]);
        cunei_buffer_append_text(&text, " · ");
        cunei_format_several(&text, (uint64_t)comparison->calls[i], "call");
        cunei_buffer_append_text(&text, "\n");
    }
    cunei_buffer_format(&text, "   %+.1f %% time · ", cunei_compare_growth(comparison));
    cunei_format_several(&text, comparison->count, "function");
    cunei_buffer_format(&text,
                        ", %" PRIu32 " new, %" PRIu32 " gone, %" PRIu32
                        " called more or less often\n\n",
                        added, gone, counts);
    if (text.data)
        (void)fwrite(text.data, 1, text.size, out);
    cunei_buffer_fini(&text);
}

static void put_pair(struct cunei_json *json, const char *key, double before,
                     double after)
{
    cunei_json_open(json, key, '[');
    cunei_json_number(json, NULL, (uint64_t)(before + 0.5));
    cunei_json_number(json, NULL, (uint64_t)(after + 0.5));
    cunei_json_close(json, ']');
}

static int put_json(const struct cunei_comparison *comparison, const struct row *rows,
                    uint32_t count, FILE *out)
{
    struct cunei_json json = {.out = out};
    bool has_runs = comparison->runs[0] > 1 && comparison->runs[1] > 1;

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    put_pair(&json, "runs", comparison->runs[0], comparison->runs[1]);
    put_pair(&json, "self_ns", comparison->self_ns[0], comparison->self_ns[1]);
    cunei_json_open(&json, "functions", '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct cunei_comparison_item *item = rows[i].item;
        const struct cunei_comparison_side *sides = item->sides;
        cunei_json_open(&json, NULL, '{');
        cunei_json_text(&json, "module", item->module);
        cunei_json_text(&json, "qualname", item->qualname);
        cunei_json_text(&json, "file", item->file);
        cunei_json_number(&json, "line", item->line);
        put_pair(&json, "calls", sides[0].calls, sides[1].calls);
        put_pair(&json, "self_ns", sides[0].self_ns, sides[1].self_ns);
        put_pair(&json, "total_ns", sides[0].total_ns, sides[1].total_ns);
        if (has_runs)
            cunei_json_number(&json, "chance_ppm", (uint64_t)(item->chance * 1e6));
        cunei_json_close(&json, '}');
    }
    cunei_json_close(&json, ']');
    cunei_json_close(&json, '}');
    return cunei_json_end(&json);
}

int cunei_compare_print(struct cunei_comparison *comparison,
                        const struct cunei_compare_options *options, FILE *out)
{
    struct row *rows = calloc(comparison->count + (size_t)1, sizeof(*rows));
    uint32_t count = 0;
    int rc;

    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct cunei_comparison_item *item = &comparison->items[i];
        if (cunei_patterns_include(&options->patterns, item->module, item->qualname,
                                   item->file))
            rows[count++] = (struct row){item, key_of(item, options->sort)};
    }
    qsort(rows, count, sizeof(*rows), compare_rows);
    if (options->json) {
        rc = put_json(comparison, rows, count, out);
    } else {
        uint32_t shown = options->limit > 0 && options->limit < count
                             ? (uint32_t)options->limit
                             : count;
        put_title(comparison, options, out);
        rc = put_table(comparison, rows, shown, &options->style, out);
    }
    free(rows);
    return rc;
}
