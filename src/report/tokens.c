// SPDX-License-Identifier: MIT
/* The token streams of a report: time to first token, rate, time between tokens. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/vector.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"

static const struct cunei_column columns[] = {
    {.head = "tokens"},          {.head = "to first"},
    {.head = "tokens/s"},        {.head = "≈p50", .rank = 2},
    {.head = "≈p90", .rank = 4}, {.head = "≈p99", .rank = 1},
    {.head = "max", .rank = 3},  {.head = "begin", .rank = 5},
    {.head = "pid", .rank = 6},  {.head = "stream"},
    {.head = "name", .min = 16},
};

/* A million tokens in a nanosecond: larger rates are printed with an exponent. */
#define RATE_MAX 1e15

static void put_rate(struct cunei_buffer *cell, double per_s)
{
    if (per_s <= 0)
        cunei_buffer_append_text(cell, "–");
    else if (per_s < 100)
        cunei_buffer_format(cell, "%.1f", per_s);
    else if (per_s < RATE_MAX)
        cunei_format_count(cell, (uint64_t)(per_s + 0.5));
    else
        cunei_buffer_format(cell, "%.3g", per_s);
}

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_tokens_facts *tokens)
{
    const struct cunei_analysis *analysis = report->analysis;
    bool has_gaps = tokens->histogram.span > 0;

    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN), tokens->count);
    cunei_report_add_duration(table, tokens->has_first, tokens->first_ns);
    put_rate(cunei_table_cell(table, CUNEI_INK_PLAIN), tokens->per_s);
    cunei_report_add_duration(table, has_gaps,
                              cunei_user_facts_tokens_quantile(tokens, 0.5));
    cunei_report_add_duration(table, has_gaps,
                              cunei_user_facts_tokens_quantile(tokens, 0.9));
    cunei_report_add_duration(table, has_gaps,
                              cunei_user_facts_tokens_quantile(tokens, 0.99));
    cunei_report_add_duration(table, has_gaps, tokens->max_ns);
    struct cunei_buffer *begin = cunei_table_cell(table, CUNEI_INK_DIM);
    if (tokens->has_begun)
        cunei_report_offset(report, tokens->begin_ns, begin);
    cunei_report_add_pid(report, table, tokens->process);
    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%" PRIu64,
                        tokens->number);
    cunei_format_name(cunei_table_cell(table, CUNEI_INK_STRONG),
                      analysis->user_facts.token_names.items[tokens->name]);
}

static int compare(const void *a, const void *b)
{
    const struct cunei_tokens_facts *one = *(const struct cunei_tokens_facts *const *)a;
    const struct cunei_tokens_facts *two = *(const struct cunei_tokens_facts *const *)b;

    if (one->process != two->process)
        return one->process < two->process ? -1 : 1;
    return one->number < two->number ? -1 : one->number > two->number;
}

/* By process and number; owned by the caller. */
static const struct cunei_tokens_facts **order_tokens(
    const struct cunei_user_facts *facts)
{
    return cunei_vector_sort(facts->tokens, sizeof(*facts->tokens),
                             facts->token_keys.count, compare);
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    uint64_t count = facts->token_keys.count;
    uint64_t shown = cunei_report_limit(report, count);
    struct cunei_table table;

    const struct cunei_tokens_facts **order = order_tokens(facts);
    if (!order)
        return -ENOMEM;
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint64_t i = 0; i < shown; i++)
        add_row(report, &table, order[i]);
    free((void *)order);
    int rc =
        cunei_report_print_table(report, &table, "No token stream was recorded.\n");
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_user_facts *facts = &analysis->user_facts;
    const struct cunei_tokens_facts **order = order_tokens(facts);

    if (!order)
        return -ENOMEM;
    cunei_json_open(json, "tokens", '[');
    for (uint32_t i = 0; i < facts->token_keys.count; i++) {
        const struct cunei_tokens_facts *tokens = order[i];
        bool has_gaps = tokens->histogram.span > 0;
        cunei_json_open(json, NULL, '{');
        cunei_json_text(json, "name", facts->token_names.items[tokens->name]);
        cunei_json_number(json, "process", cunei_report_pid(report, tokens->process));
        cunei_json_number(json, "stream", tokens->number);
        cunei_json_number(json, "count", tokens->count);
        cunei_json_number_or_null(json, "begin_ns", tokens->has_begun,
                                  tokens->begin_ns);
        cunei_json_number_or_null(json, "end_ns", tokens->has_ended, tokens->end_ns);
        cunei_json_number_or_null(json, "first_ns", tokens->has_first,
                                  tokens->first_ns);
        cunei_json_real(json, "per_s", tokens->per_s);
        cunei_json_number_or_null(json, "p50_ns", has_gaps,
                                  cunei_user_facts_tokens_quantile(tokens, 0.5));
        cunei_json_number_or_null(json, "p90_ns", has_gaps,
                                  cunei_user_facts_tokens_quantile(tokens, 0.9));
        cunei_json_number_or_null(json, "p99_ns", has_gaps,
                                  cunei_user_facts_tokens_quantile(tokens, 0.99));
        cunei_json_number_or_null(json, "max_ns", has_gaps, tokens->max_ns);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    free((void *)order);
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->user_events[CUNEI_CLASS_TOKEN] > 0;
}

const struct cunei_report_section cunei_report_section_tokens = {
    .name = "tokens",
    .help = "show the program's token streams: time to first\n"
            "token, tokens/s, time between tokens",
    .needs = CUNEI_REPORT_NEEDS_USER_EVENTS,
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
