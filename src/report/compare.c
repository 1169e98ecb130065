// SPDX-License-Identifier: MIT
#include "report/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/comparison.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "text/table.h"
#include "text/terminal_text.h"
#include "wire/process.h"

#define GROWTHS_MAX 3u

/* In percent; greater growth is shown as a factor. */
#define TIMES_FROM 1000

struct row {
    const struct cunei_comparison_item *item;
    double key;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *one = a, *two = b;

    if (one->key != two->key)
        return one->key > two->key ? -1 : 1;
    int order = strcmp(one->item->module, two->item->module);
    return order != 0 ? order : strcmp(one->item->qualname, two->item->qualname);
}

static double growth_of(const struct cunei_comparison_item *item)
{
    return item->sides[1].self_ns.mean - item->sides[0].self_ns.mean;
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
        return fabs(growth_of(item));
    }
}

/* The items that are shown, in order; NULL: no memory. */
static struct row *make_rows(const struct cunei_comparison *comparison, int sort,
                             uint32_t *count)
{
    struct row *rows = calloc(comparison->count + (size_t)1, sizeof(*rows));

    *count = 0;
    if (!rows)
        return NULL;
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct cunei_comparison_item *item = &comparison->items[i];
        if (!item->is_hidden)
            rows[(*count)++] = (struct row){item, key_of(item, sort)};
    }
    qsort(rows, *count, sizeof(*rows), compare_rows);
    return rows;
}

static struct cunei_function function_of(const struct cunei_comparison_item *item)
{
    return (struct cunei_function){.module = item->module,
                                   .qualname = item->qualname,
                                   .file = item->file,
                                   .line = item->line};
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

static void put_signed(struct cunei_buffer *out, double difference)
{
    cunei_buffer_append_text(out, difference < 0 ? "−" : difference > 0 ? "+" : "±");
    cunei_format_duration(out, (uint64_t)(fabs(difference) + 0.5));
}

static void put_percent(struct cunei_buffer *out, double before, double after)
{
    double percent = before > 0 ? (after - before) / before * 100 : 0;

    if (before > 0 && after > 0 && percent >= TIMES_FROM)
        cunei_buffer_format(out, "×%.0f", after / before);
    else if (before > 0 && after > 0)
        cunei_buffer_format(out, "%s%.1f", percent < 0 ? "−" : "+", fabs(percent));
    else
        cunei_buffer_append_text(out, after > 0 ? "new" : before > 0 ? "gone" : "");
}

static void put_difference(struct cunei_table *table, double before, double after,
                           bool is_certain)
{
    enum cunei_ink ink = ink_of(after - before, is_certain);

    put_signed(cunei_table_cell(table, ink), after - before);
    put_percent(cunei_table_cell(table, ink), before, after);
}

/* The mean of several runs need not be an integer. */
static void put_calls(struct cunei_table *table, double calls, enum cunei_ink ink)
{
    struct cunei_buffer *cell = cunei_table_cell(table, ink);

    if (calls == floor(calls))
        cunei_format_count(cell, (uint64_t)calls);
    else
        cunei_buffer_format(cell, "%.1f", calls);
}

static void put_chance(struct cunei_buffer *cell, double chance)
{
    if (chance < 0.001)
        cunei_buffer_append_text(cell, "<0.001");
    else
        cunei_buffer_format(cell, "%.3f", chance);
    cunei_buffer_append_text(cell, chance < CUNEI_COMPARE_SIGNIFICANT ? " *" : "  ");
}

static void put_row(struct cunei_table *table,
                    const struct cunei_comparison *comparison,
                    const struct cunei_comparison_item *item, const char *directory)
{
    const struct cunei_process process = {.directory = (char *)(uintptr_t)directory};
    const struct cunei_comparison_side *sides = item->sides;
    const struct cunei_function function = function_of(item);
    bool has_chance = cunei_comparison_has_chance(comparison);
    bool is_certain = !has_chance || item->chance < CUNEI_COMPARE_SIGNIFICANT;

    put_difference(table, sides[0].self_ns.mean, sides[1].self_ns.mean, is_certain);
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_DIM);
    if (has_chance)
        put_chance(cell, item->chance);
    put_duration(table, sides[0].self_ns.mean);
    put_duration(table, sides[1].self_ns.mean);
    put_difference(table, sides[0].total_ns, sides[1].total_ns, true);
    put_duration(table, sides[0].total_ns);
    put_duration(table, sides[1].total_ns);
    put_calls(table, sides[0].calls, CUNEI_INK_PLAIN);
    put_calls(table, sides[1].calls,
              sides[0].calls == sides[1].calls ? CUNEI_INK_PLAIN : CUNEI_INK_HOT);
    cunei_format_function(cunei_table_cell(table, CUNEI_INK_STRONG), &function);
    cunei_format_place(cunei_table_cell(table, CUNEI_INK_DIM), &function, &process);
}

static int put_table(const struct cunei_comparison *comparison, const struct row *rows,
                     uint32_t count, const struct cunei_compare_options *options,
                     FILE *out)
{
    static const struct cunei_column columns[] = {
        {"Δself", 0, 0, false},   {"%", 0, 0, false},       {"chance  ", 1, 0, false},
        {"self A", 0, 0, false},  {"self B", 0, 0, false},  {"Δtotal", 2, 0, false},
        {"%", 3, 0, false},       {"total A", 5, 0, false}, {"total B", 5, 0, false},
        {"calls A", 0, 0, false}, {"calls B", 0, 0, false}, {"function", 0, 20, false},
        {"", 6, 12, true},
    };
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < count; i++)
        put_row(&table, comparison, rows[i].item, options->directory);
    int rc = cunei_table_print(&table, &options->style, out);
    cunei_table_fini(&table);
    return rc;
}

static void put_count(struct cunei_buffer *text, uint32_t count, const char *what)
{
    cunei_buffer_append_text(text, ", ");
    cunei_format_count(text, count);
    cunei_buffer_append_text(text, what);
}

static void put_counts(struct cunei_buffer *text,
                       const struct cunei_comparison *comparison)
{
    uint32_t shown = 0, regions = 0, added = 0, gone = 0, counts = 0, certain = 0;

    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct cunei_comparison_item *item = &comparison->items[i];
        const struct cunei_comparison_side *sides = item->sides;
        if (item->is_hidden)
            continue;
        regions += item->is_region;
        shown += !item->is_region;
        added += sides[0].runs == 0;
        gone += sides[1].runs == 0;
        counts +=
            sides[0].runs > 0 && sides[1].runs > 0 && sides[0].calls != sides[1].calls;
        certain += item->chance < CUNEI_COMPARE_SIGNIFICANT;
    }
    cunei_format_several(text, shown, "function");
    if (regions > 0) {
        cunei_buffer_append_text(text, " and ");
        cunei_format_several(text, regions, "region");
    }
    put_count(text, added, " new");
    put_count(text, gone, " gone");
    put_count(text, counts, " called more or less often");
    if (cunei_comparison_has_chance(comparison))
        put_count(text, certain, " with significant differences (*)");
}

static void put_growth(struct cunei_buffer *out,
                       const struct cunei_comparison *comparison)
{
    double before = comparison->whole[0].self_ns.mean,
           after = comparison->whole[1].self_ns.mean;

    if (before <= 0 || after <= 0) {
        cunei_buffer_format(out, "no time in %s",
                            before > 0  ? "B"
                            : after > 0 ? "A"
                                        : "either");
        return;
    }
    put_percent(out, before, after);
    cunei_buffer_append_text(out, cunei_comparison_growth(comparison) < TIMES_FROM
                                      ? " % time"
                                      : " the time");
}

/* A line for each side, then the difference between them. */
static void put_title(const struct cunei_comparison *comparison,
                      const struct cunei_compare_options *options, FILE *out)
{
    const struct cunei_comparison_side *whole = comparison->whole;
    struct cunei_buffer text = {0};

    for (unsigned i = 0; i < 2; i++) {
        cunei_buffer_format(&text, "%c  ", 'A' + (int)i);
        cunei_terminal_text(&text, options->names[i], SIZE_MAX);
        if (comparison->runs[i] > 1)
            cunei_buffer_format(&text, " (%" PRIu32 " runs)", comparison->runs[i]);
        cunei_buffer_append_text(&text, " · ");
        cunei_format_duration(&text, (uint64_t)whole[i].self_ns.mean);
        cunei_buffer_append_text(&text, " in functions · ");
        cunei_format_several(&text, (uint64_t)whole[i].calls, "call");
        cunei_buffer_append_text(&text, "\n");
    }
    cunei_buffer_append_text(&text, "   ");
    put_growth(&text, comparison);
    if (cunei_comparison_has_chance(comparison)) {
        cunei_buffer_append_text(&text, ", chance ");
        put_chance(&text, comparison->chance);
        if (text.size > 0 && text.data[text.size - 1] == ' ')
            text.size -= 2;
    }
    cunei_buffer_append_text(&text, "\n   ");
    put_counts(&text, comparison);
    cunei_buffer_append_text(&text, "\n\n");
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

static void put_counted(struct cunei_json *json, const char *key, double before,
                        double after)
{
    cunei_json_open(json, key, '[');
    cunei_json_count(json, NULL, before);
    cunei_json_count(json, NULL, after);
    cunei_json_close(json, ']');
}

static void put_chances(struct cunei_json *json, double chance)
{
    cunei_json_real(json, "chance", chance);
    cunei_json_flag(json, "significant", chance < CUNEI_COMPARE_SIGNIFICANT);
}

static void put_item(struct cunei_json *json, const struct cunei_comparison_item *item,
                     bool has_chance)
{
    const struct cunei_comparison_side *sides = item->sides;

    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "module", item->module);
    cunei_json_text(json, "qualname", item->qualname);
    cunei_json_text(json, "file", item->file);
    cunei_json_number(json, "line", item->line);
    put_counted(json, "calls", sides[0].calls, sides[1].calls);
    put_pair(json, "self_ns", sides[0].self_ns.mean, sides[1].self_ns.mean);
    put_pair(json, "total_ns", sides[0].total_ns, sides[1].total_ns);
    if (has_chance)
        put_chances(json, item->chance);
    cunei_json_close(json, '}');
}

/* A region has a count instead of calls, and no self time. */
static void put_region(struct cunei_json *json,
                       const struct cunei_comparison_item *item)
{
    const struct cunei_comparison_side *sides = item->sides;

    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "name", item->qualname);
    put_counted(json, "count", sides[0].calls, sides[1].calls);
    put_pair(json, "total_ns", sides[0].total_ns, sides[1].total_ns);
    cunei_json_close(json, '}');
}

static int put_json(const struct cunei_comparison *comparison, const struct row *rows,
                    uint32_t count, FILE *out)
{
    const struct cunei_comparison_side *whole = comparison->whole;
    struct cunei_json json = {.out = out};
    bool has_chance = cunei_comparison_has_chance(comparison);

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    put_pair(&json, "runs", comparison->runs[0], comparison->runs[1]);
    put_counted(&json, "calls", whole[0].calls, whole[1].calls);
    put_pair(&json, "self_ns", whole[0].self_ns.mean, whole[1].self_ns.mean);
    cunei_json_real(&json, "growth_percent", cunei_comparison_growth(comparison));
    if (has_chance)
        put_chances(&json, comparison->chance);
    cunei_json_open(&json, "functions", '[');
    for (uint32_t i = 0; i < count; i++) {
        if (!rows[i].item->is_region)
            put_item(&json, rows[i].item, has_chance);
    }
    cunei_json_close(&json, ']');
    cunei_json_open(&json, "regions", '[');
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].item->is_region)
            put_region(&json, rows[i].item);
    }
    cunei_json_close(&json, ']');
    cunei_json_close(&json, '}');
    return cunei_json_end(&json);
}

static void put_rest(uint32_t count, FILE *out)
{
    struct cunei_buffer text = {0};

    cunei_format_count(&text, count);
    (void)fprintf(out, "\n… %s more; --limit 0 shows all\n", cunei_buffer_text(&text));
    cunei_buffer_fini(&text);
}

int cunei_compare_print(struct cunei_comparison *comparison,
                        const struct cunei_compare_options *options, FILE *out)
{
    uint32_t count;
    struct row *rows = make_rows(comparison, options->sort, &count);
    int rc;

    if (!rows)
        return -ENOMEM;
    if (options->json) {
        rc = put_json(comparison, rows, count, out);
    } else {
        uint32_t shown = options->limit > 0 && options->limit < count
                             ? (uint32_t)options->limit
                             : count;
        put_title(comparison, options, out);
        rc = put_table(comparison, rows, shown, options, out);
        if (shown < count)
            put_rest(count - shown, out);
    }
    free(rows);
    return rc;
}

void cunei_compare_format_growth(const struct cunei_comparison *comparison,
                                 struct cunei_buffer *out)
{
    uint32_t count, shown = 0;
    struct row *rows = make_rows(comparison, CUNEI_COMPARE_SELF, &count);

    for (uint32_t i = 0; rows && i < count && shown < GROWTHS_MAX; i++) {
        const struct cunei_function function = function_of(rows[i].item);
        if (growth_of(rows[i].item) <= 0)
            continue;
        cunei_buffer_append_text(out, shown++ > 0 ? ", " : "");
        cunei_format_function(out, &function);
        cunei_buffer_append_text(out, " (");
        put_signed(out, growth_of(rows[i].item));
        cunei_buffer_append_text(out, ")");
    }
    free(rows);
}
