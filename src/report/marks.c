// SPDX-License-Identifier: MIT
/* The marks of a report, by time, and the program's metadata. */
#include <inttypes.h>

#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"
#include "text/typed_value.h"

static const struct cunei_column columns[] = {
    {.head = "time"},
    {.head = "pid", .rank = 3},
    {.head = "thread", .rank = 2},
    {.head = "mark", .min = 16},
    {.head = "value", .rank = 1, .min = 16},
};

/* Errors are marked by a word besides the colour: not everyone sees colours. */
static void put_name(struct cunei_buffer *cell, const char *name, bool is_error)
{
    if (is_error)
        cunei_buffer_format(cell, "error%s%s", name[0] ? ": " : "", name);
    else
        cunei_format_name(cell, name);
}

static void put_value(struct cunei_buffer *out, const struct cunei_user_facts *facts,
                      const struct cunei_mark_facts *mark, bool json)
{
    const struct cunei_typed_value value = {mark->kind, mark->value,
                                            facts->mark_texts.items[mark->text],
                                            facts->mark_texts.sizes[mark->text]};

    cunei_typed_value_format(&value, json, out);
}

static void add_row(const struct cunei_report *report, struct cunei_table *table,
                    const struct cunei_mark_facts *mark)
{
    const struct cunei_analysis *analysis = report->analysis;
    bool is_error = mark->kind == CUNEI_VALUE_ERROR;

    cunei_report_offset(report, mark->time_ns,
                        cunei_table_cell(table, CUNEI_INK_PLAIN));
    cunei_report_add_pid(report, table, mark->process);
    struct cunei_buffer *thread = cunei_table_cell(table, CUNEI_INK_DIM);
    if (analysis->thread_count > 1)
        cunei_buffer_format(thread, "%" PRIu32, mark->tid);
    put_name(cunei_table_cell(table, is_error ? CUNEI_INK_BAD : CUNEI_INK_STRONG),
             analysis->user_facts.mark_texts.items[mark->name], is_error);
    put_value(cunei_table_cell(table, is_error ? CUNEI_INK_BAD : CUNEI_INK_PLAIN),
              &analysis->user_facts, mark, false);
}

static int print_metadata(const struct cunei_report *report)
{
    static const struct cunei_column heads[] = {
        {.head = "metadata", .min = 16},
        {.head = "value", .min = 16},
    };
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    uint32_t count = facts->metadata_keys.count;
    uint64_t shown = cunei_report_limit(report, count);
    struct cunei_table table;

    if (count == 0)
        return 0;
    (void)fputc('\n', report->out);
    cunei_table_init(&table, heads, sizeof(heads) / sizeof(heads[0]));
    for (uint32_t i = 0; i < shown; i++) {
        cunei_format_name(cunei_table_cell(&table, CUNEI_INK_STRONG),
                          facts->metadata_keys.items[i]);
        cunei_buffer_append_text(cunei_table_cell(&table, CUNEI_INK_PLAIN),
                                 facts->metadata[i].text);
    }
    if (shown < count) {
        struct cunei_buffer *rest = cunei_table_cell(&table, CUNEI_INK_DIM);
        cunei_buffer_append_text(rest, "… ");
        cunei_format_count(rest, count - shown);
        cunei_buffer_append_text(rest, " more");
        (void)cunei_table_cell(&table, CUNEI_INK_PLAIN);
    }
    int rc = cunei_table_print(&table, &report->options->style, report->out);
    cunei_table_fini(&table);
    return rc;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    const struct cunei_user_facts *facts = &report->analysis->user_facts;
    size_t count = facts->mark_count, shown = cunei_report_limit(report, count);
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < shown; i++)
        add_row(report, &table, &facts->marks[i]);
    int rc = cunei_report_print_table(report, &table, "No mark was recorded.\n");
    if (rc == 0)
        rc = print_metadata(report);
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_user_facts *facts = &analysis->user_facts;
    struct cunei_buffer value = {0};

    cunei_json_open(json, "marks", '[');
    for (size_t i = 0; i < facts->mark_count; i++) {
        const struct cunei_mark_facts *mark = &facts->marks[i];
        cunei_json_open(json, NULL, '{');
        cunei_json_text(json, "name", facts->mark_texts.items[mark->name]);
        cunei_buffer_clear(&value);
        put_value(&value, facts, mark, true);
        cunei_json_raw(json, "value", value.data ? value.data : "null");
        cunei_json_flag(json, "error", mark->kind == CUNEI_VALUE_ERROR);
        cunei_json_number(json, "time_ns", mark->time_ns);
        cunei_json_number(json, "process", cunei_report_pid(report, mark->process));
        cunei_json_number(json, "thread", mark->tid);
        cunei_json_close(json, '}');
    }
    cunei_buffer_fini(&value);
    cunei_json_close(json, ']');
    cunei_json_open(json, "metadata", '{');
    for (uint32_t i = 0; i < facts->metadata_keys.count; i++)
        cunei_json_raw(json, facts->metadata_keys.items[i], facts->metadata[i].json);
    cunei_json_close(json, '}');
    return 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->user_events[CUNEI_CLASS_MARK] > 0;
}

const struct cunei_report_section cunei_report_section_marks = {
    .name = "marks",
    .help = "show the program's marks and metadata",
    .needs = CUNEI_REPORT_NEEDS_USER_EVENTS,
    .has_rows = has_rows,
    .print = print,
    .print_json = print_json,
};
