// SPDX-License-Identifier: MIT
/* The counters of a report: sums, distribution, and the course over time. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"
#include "text/typed_value.h"

/* The columns and the levels of the course over time. */
#define COURSE_WIDTH 24u
#define COURSE_TOP   7u

static const struct cunei_column columns[] = {
    {.head = "count"},
    {.head = "sum"},
    {.head = "min", .rank = 2},
    {.head = "mean"},
    {.head = "≈p50", .rank = 4},
    {.head = "≈p99", .rank = 5},
    {.head = "max", .rank = 1},
    {.head = "NaN", .rank = 6},
    {.head = "over time", .rank = 3, .min = COURSE_WIDTH},
    {.head = "counter", .min = 16},
};

/* Integers have all their digits, other numbers four, or those before the point. */
static void put_number(struct cunei_buffer *out, double number)
{
    bool is_whole = number == floor(number) || fabs(number) >= 1000;

    if (!isfinite(number))
        cunei_buffer_append_text(out, isnan(number) ? "nan" : number < 0 ? "-∞" : "∞");
    else if (is_whole && fabs(number) < 1e15) {
        cunei_buffer_append_text(out, number < 0 ? "-" : "");
        cunei_format_count(out, (uint64_t)(fabs(number) + 0.5));
    } else
        cunei_buffer_format(out, "%.4g", number);
}

/* A sum of 64-bit integers may not fit into one. */
static void put_integer(struct cunei_buffer *out, __int128 number)
{
    if (number > INT64_MAX || number < INT64_MIN) {
        put_number(out, (double)number);
        return;
    }
    cunei_buffer_append_text(out, number < 0 ? "-" : "");
    cunei_format_count(out, (uint64_t)(number < 0 ? -number : number));
}

static void put_course(struct cunei_buffer *out, const struct cunei_time_series *course)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t levels[COURSE_WIDTH];
    uint32_t count = cunei_time_series_levels(course, COURSE_WIDTH, COURSE_TOP, levels);

    for (uint32_t i = 0; i < count; i++)
        cunei_buffer_append_text(out, bars[levels[i]]);
}

/* Quantiles are approximate; they never exceed the minimum and the maximum. */
static double quantile(const struct cunei_counter_facts *counter, double fraction)
{
    double number = cunei_distribution_quantile(&counter->spread, fraction);
    return fmin(fmax(number, counter->min), counter->max);
}

static void add_number(struct cunei_table *table,
                       const struct cunei_counter_facts *counter, double number)
{
    struct cunei_buffer *cell = cunei_table_cell(table, CUNEI_INK_PLAIN);

    if (counter->count > counter->nan)
        put_number(cell, number);
    else
        cunei_buffer_append_text(cell, "–");
}

/* A counter of integers is printed exactly: a double does not have all their digits. */
static void add_integer(struct cunei_table *table,
                        const struct cunei_counter_facts *counter, __int128 integer,
                        double number)
{
    if (counter->is_double)
        add_number(table, counter, number);
    else
        put_integer(cunei_table_cell(table, CUNEI_INK_PLAIN), integer);
}

static void add_row(struct cunei_table *table, const char *name,
                    const struct cunei_counter_facts *counter)
{
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), counter->count);
    add_integer(table, counter, counter->whole, cunei_user_facts_sum(counter));
    add_integer(table, counter, counter->whole_min, counter->min);
    add_number(table, counter, cunei_user_facts_mean(counter));
    add_number(table, counter, quantile(counter, 0.5));
    add_number(table, counter, quantile(counter, 0.99));
    add_integer(table, counter, counter->whole_max, counter->max);
    struct cunei_buffer *nan = cunei_table_cell(table, CUNEI_INK_WARM);
    if (counter->nan > 0)
        cunei_format_count(nan, counter->nan);
    put_course(cunei_table_cell(table, CUNEI_INK_DIM), &counter->course);
    cunei_format_name(cunei_table_cell(table, CUNEI_INK_STRONG), name);
}

struct entry {
    const char *name;
    const struct cunei_counter_facts *facts;
};

static int compare(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;
    return strcmp(one->name, two->name);
}

/* By name; owned by the caller. */
static struct entry *order_counters(const struct cunei_user_facts *facts)
{
    uint32_t count = facts->counter_names.count;
    struct entry *order = calloc((size_t)count + 1, sizeof(*order));

    for (uint32_t i = 0; order && i < count; i++)
        order[i] = (struct entry){facts->counter_names.items[i], &facts->counters[i]};
    if (order)
        qsort(order, count, sizeof(*order), compare);
    return order;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    uint32_t count = facts->counter_names.count;
    uint64_t shown = cunei_report_limit(report, count);
    struct cunei_table table;

    struct entry *order = order_counters(facts);
    if (!order)
        return -ENOMEM;
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < shown; i++)
        add_row(&table, order[i].name, order[i].facts);
    free(order);
    int rc = cunei_report_print_table(report, &table, "No counter was recorded.\n");
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

/* NaN and infinity are texts, since JSON has no number for them. */
static void put_real(struct cunei_json *json, const char *key, double number)
{
    struct cunei_buffer text = {0};
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    cunei_typed_value_format_number(bits, true, true, &text);
    cunei_json_raw(json, key, text.failed ? "null" : text.data);
    cunei_buffer_fini(&text);
}

static void put_whole(struct cunei_json *json, const char *key, int64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    cunei_json_raw(json, key, text);
}

static void put_sums(struct cunei_json *json, const struct cunei_counter_facts *counter)
{
    bool is_whole = !counter->is_double && counter->whole >= INT64_MIN &&
                    counter->whole <= INT64_MAX;

    if (is_whole)
        put_whole(json, "sum", (int64_t)counter->whole);
    else
        put_real(json, "sum", cunei_user_facts_sum(counter));
    if (counter->is_double) {
        put_real(json, "min", counter->min);
        put_real(json, "max", counter->max);
    } else {
        put_whole(json, "min", counter->whole_min);
        put_whole(json, "max", counter->whole_max);
    }
    put_real(json, "mean", cunei_user_facts_mean(counter));
    put_real(json, "p50", quantile(counter, 0.5));
    put_real(json, "p99", quantile(counter, 0.99));
}

static void put_nothing(struct cunei_json *json)
{
    static const char *const keys[] = {"sum", "min", "max", "mean", "p50", "p99"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        cunei_json_text(json, keys[i], NULL);
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    struct entry *order = order_counters(facts);

    if (!order)
        return -ENOMEM;
    cunei_json_open(json, "counters", '[');
    for (uint32_t i = 0; i < facts->counter_names.count; i++) {
        const struct cunei_counter_facts *counter = order[i].facts;
        cunei_json_open(json, NULL, '{');
        cunei_json_text(json, "name", order[i].name);
        cunei_json_number(json, "count", counter->count);
        cunei_json_number(json, "nan", counter->nan);
        if (counter->count > counter->nan)
            put_sums(json, counter);
        else
            put_nothing(json);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    free(order);
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->user_events[CUNEI_CLASS_COUNTER] > 0;
}

const struct cunei_report_section cunei_report_section_counters = {
    .name = "counters",
    .help = "show the program's counters: sums, distribution, over\n"
            "time",
    .needs = CUNEI_REPORT_NEEDS_USER_EVENTS,
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
