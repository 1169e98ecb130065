// SPDX-License-Identifier: MIT
/* The exceptions of a report: where they were raised, how many frames they ended, where
 * they were caught. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "base/pattern.h"
#include "base/vector.h"
#include "python/version.h"
#include "report/note.h"
#include "report/section.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "text/table.h"

/* The handlers that are shown for one kind of exception. */
#define HANDLERS_MAX 4u

static const struct cunei_column columns[] = {
    {.head = "raised"},
    {.head = "exception", .min = 12},
    {.head = "in", .rank = 2, .min = 12},
    {.head = "at", .rank = 1, .min = 14, .is_path = true},
    {.head = "frames", .rank = 6},
    {.head = "caught", .rank = 4},
    {.head = "by", .rank = 3, .min = 12},
    {.head = "", .rank = 5, .min = 14, .is_path = true},
};

/* The handlers of all kinds, by kind and count. */
struct handlers {
    struct cunei_handler *items; /* owned */
    uint32_t count;
};

static int compare_handlers(const void *a, const void *b)
{
    const struct cunei_handler *one = a, *two = b;

    if (one->exception != two->exception)
        return one->exception < two->exception ? -1 : 1;
    if (one->count != two->count)
        return one->count > two->count ? -1 : 1;
    if (one->slot != two->slot)
        return one->slot < two->slot ? -1 : 1;
    return one->line < two->line ? -1 : one->line > two->line;
}

static int handlers_init(struct handlers *handlers,
                         const struct cunei_analysis *analysis)
{
    const struct cunei_exceptions *exceptions = &analysis->exceptions;

    handlers->count = 0;
    handlers->items = calloc(exceptions->handler_count + 1, sizeof(*handlers->items));
    if (!handlers->items)
        return -ENOMEM;
    for (uint32_t i = 1; i < exceptions->handler_count; i++) {
        if (exceptions->handlers[i].count > 0)
            handlers->items[handlers->count++] = exceptions->handlers[i];
    }
    qsort(handlers->items, handlers->count, sizeof(*handlers->items), compare_handlers);
    return 0;
}

/* The first handler of a kind, or of a later one. */
static uint32_t find_first(const struct handlers *handlers, uint32_t exception)
{
    return (uint32_t)CUNEI_VECTOR_BISECT(i, handlers->count,
                                         handlers->items[i].exception < exception);
}

/* The file of a function, with a line inside the function. */
static void put_line(const struct cunei_report *report, struct cunei_buffer *out,
                     uint32_t slot, uint32_t line)
{
    const struct cunei_functions *functions = &report->analysis->functions;

    if (slot > 0 && slot <= functions->count)
        cunei_buffer_format(
            out, "%s:%" PRIu32,
            cunei_format_file(functions->items[slot - 1].file, report->home), line);
}

static void add_handler(const struct cunei_report *report, struct cunei_table *table,
                        const struct cunei_handler *handler)
{
    cunei_format_count(cunei_table_cell(table, CUNEI_INK_PLAIN),
                       (uint64_t)handler->count);
    struct cunei_buffer *name = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (handler->slot > 0)
        cunei_report_name(report, handler->slot - 1, name);
    else
        cunei_buffer_append_text(name, "unrecorded code");
    put_line(report, cunei_table_cell(table, CUNEI_INK_DIM), handler->slot,
             handler->line);
}

static void add_words(struct cunei_table *table, int64_t count, const char *words)
{
    struct cunei_buffer *number = cunei_table_cell(table, CUNEI_INK_PLAIN);

    if (count > 0)
        cunei_format_count(number, (uint64_t)count);
    cunei_buffer_append_text(cunei_table_cell(table, CUNEI_INK_DIM), words);
    (void)cunei_table_cell(table, CUNEI_INK_DIM);
}

/* How many frames an exception ended: the mean, and the maximum if that differs. */
static void put_frames(struct cunei_buffer *out, const struct cunei_raise *raise)
{
    int64_t ended = raise->caught + raise->unhandled;

    if (ended <= 0)
        return;
    double mean = (double)raise->unwound / (double)ended;
    if ((double)raise->unwound_max > mean)
        cunei_buffer_format(out, "%.1f ≤ %" PRIu64, mean, raise->unwound_max);
    else
        cunei_buffer_format(out, "%.0f", mean);
}

/* Exceptions of a sampled function are recorded only inside samples. */
static bool is_part(const struct cunei_analysis *analysis,
                    const struct cunei_raise *raise)
{
    return raise->slot > 0 &&
           cunei_function_is_estimated(&analysis->facts[raise->slot - 1]);
}

static void add_first(const struct cunei_report *report, struct cunei_table *table,
                      const struct cunei_raise *raise)
{
    struct cunei_buffer *count = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (is_part(report->analysis, raise))
        cunei_buffer_append_text(count, "≥ ");
    cunei_format_count(count, raise->count);
    cunei_buffer_append_text(cunei_table_cell(table, CUNEI_INK_STRONG),
                             cunei_format_type(raise->type ? raise->type : "others"));
    struct cunei_buffer *name = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (raise->slot > 0)
        cunei_report_name(report, raise->slot - 1, name);
    put_line(report, cunei_table_cell(table, CUNEI_INK_DIM), raise->slot, raise->line);
    put_frames(cunei_table_cell(table, CUNEI_INK_PLAIN), raise);
}

static void add_blank(struct cunei_table *table)
{
    for (unsigned i = 0; i < 5; i++)
        (void)cunei_table_cell(table, CUNEI_INK_PLAIN);
}

/* A kind of exception: its row has the first handler, more rows the others. */
static void add_rows(const struct cunei_report *report, struct cunei_table *table,
                     uint32_t index, const struct handlers *handlers)
{
    const struct cunei_raise *raise = &report->analysis->exceptions.items[index];
    uint32_t first = find_first(handlers, index), end = find_first(handlers, index + 1);
    int64_t rest = (int64_t)raise->count;

    add_first(report, table, raise);
    for (uint32_t i = first; i < end; i++) {
        rest -= handlers->items[i].count;
        if (i - first > HANDLERS_MAX)
            continue;
        if (i > first)
            add_blank(table);
        if (i - first < HANDLERS_MAX)
            add_handler(report, table, &handlers->items[i]);
        else
            add_words(table, 0, "…");
    }
    if (rest <= 0 && end > first)
        return;
    if (end > first)
        add_blank(table);
    add_words(table, rest > 0 ? rest : 0, rest > 0 ? "not caught" : "");
}

/* The kinds, those of the project first, then the most frequent. */
struct entry {
    const struct cunei_raise *raise;
    uint32_t index;
    bool is_library; /* it was raised in one: those of the project come first */
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *first = a, *second = b;
    const struct cunei_raise *one = first->raise, *two = second->raise;

    if (first->is_library != second->is_library)
        return first->is_library ? 1 : -1;
    if (one->count != two->count)
        return one->count > two->count ? -1 : 1;
    int order = strcmp(one->type ? one->type : "", two->type ? two->type : "");
    if (order != 0)
        return order;
    if (one->slot != two->slot)
        return one->slot < two->slot ? -1 : 1;
    return one->line < two->line ? -1 : one->line > two->line;
}

static int mark_libraries(const struct cunei_report *report, struct entry *entries,
                          uint32_t count)
{
    const struct cunei_function *items = report->analysis->functions.items;
    struct cunei_patterns own = {.project = report->options->patterns.project};

    int rc = cunei_patterns_add(&own, true, CUNEI_PATTERN_PROJECT, NULL, 0);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        uint32_t slot = entries[i].raise->slot;
        const struct cunei_function *function = slot > 0 ? &items[slot - 1] : NULL;
        entries[i].is_library =
            function && !cunei_patterns_include(&own, function->module,
                                                function->qualname, function->file);
    }
    cunei_patterns_fini(&own);
    return rc;
}

/* The kinds that were raised or caught; some are known only from frames that they
 * ended. */
static struct entry *sort_kinds(const struct cunei_report *report, uint32_t *count)
{
    const struct cunei_exceptions *exceptions = &report->analysis->exceptions;
    struct entry *entries = calloc(exceptions->count + 1, sizeof(*entries));

    *count = 0;
    for (uint32_t i = 0; entries && i < exceptions->count; i++) {
        const struct cunei_raise *raise = &exceptions->items[i];
        bool is_shown = raise->slot == 0 || cunei_report_shows(report, raise->slot - 1);
        if (is_shown && (raise->count > 0 || raise->caught > 0 || raise->unhandled > 0))
            entries[(*count)++] = (struct entry){raise, i, false};
    }
    if (entries && mark_libraries(report, entries, *count) < 0) {
        free(entries);
        entries = NULL;
    }
    if (entries)
        qsort(entries, *count, sizeof(*entries), compare_entries);
    return entries;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    struct handlers handlers = {0};
    struct cunei_table table;
    uint32_t count = 0, shown = 0;
    struct entry *entries = sort_kinds(report, &count);

    int rc = entries ? handlers_init(&handlers, report->analysis) : -ENOMEM;
    if (rc == 0) {
        cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        shown = (uint32_t)cunei_report_limit(report, count);
        for (uint32_t i = 0; i < shown; i++)
            add_rows(report, &table, entries[i].index, &handlers);
        rc = cunei_report_print_table(
            report, &table,
            report->analysis->raised > 0
                ? "Calls ended with exceptions, but their types were not recorded.\n"
                : "No exception was raised while recording.\n");
    }
    free(handlers.items);
    free(entries);
    *rows = (struct cunei_report_rows){shown, count};
    return rc;
}

static bool is_recorded_with(const struct cunei_process *process,
                             const char *instrumenter)
{
    return process->instrumenter && strcmp(process->instrumenter, instrumenter) == 0;
}

static bool is_before_monitoring(const struct cunei_process *process)
{
    struct cunei_python_version version;

    return cunei_python_version_parse(process->python, &version) && version.minor < 12;
}

/* Before 3.12 the frame evaluator sees an exception only when it ends a frame. */
static bool sees_part(const struct cunei_process *process)
{
    return is_before_monitoring(process) && !is_recorded_with(process, "trace");
}

static bool is_blind(const struct cunei_process *process)
{
    return is_recorded_with(process, "profile");
}

static int print_notes(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    bool blind = false, is_part = false;

    for (size_t i = 0; i < analysis->process_count; i++) {
        is_part |= sees_part(&analysis->processes[i].process->description);
        blind |= is_blind(&analysis->processes[i].process->description);
    }
    if (!is_part && !blind)
        return 0;
    if (blind)
        cunei_buffer_append_text(
            &words, "exceptions: --instrumenter profile does not report them");
    else
        cunei_buffer_append_text(
            &words, "exceptions that were raised and caught in one function: CPython "
                    "reports them from 3.12 on");
    return cunei_note_print(report, "unrecorded", CUNEI_INK_WARM, &words);
}

static void put_function(struct cunei_json *json, const struct cunei_analysis *analysis,
                         uint32_t slot, uint32_t line)
{
    const struct cunei_function *function =
        slot > 0 ? &analysis->functions.items[slot - 1] : NULL;

    cunei_report_put_function(json, "function", function, line);
}

static uint64_t at_least_0(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static void put_kind(struct cunei_json *json, const struct cunei_analysis *analysis,
                     const struct entry *entry, const struct handlers *handlers)
{
    const struct cunei_raise *raise = entry->raise;
    uint32_t end = find_first(handlers, entry->index + 1);

    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "type", raise->type);
    put_function(json, analysis, raise->slot, raise->line);
    cunei_json_number(json, "count", raise->count);
    if (is_part(analysis, raise))
        cunei_json_flag(json, "demoted", true);
    cunei_json_number(json, "unwound", at_least_0(raise->unwound));
    cunei_json_number(json, "unwound_max", raise->unwound_max);
    cunei_json_number(json, "unhandled",
                      at_least_0((int64_t)raise->count - raise->caught));
    cunei_json_open(json, "handled", '[');
    for (uint32_t i = find_first(handlers, entry->index); i < end; i++) {
        const struct cunei_handler *handler = &handlers->items[i];
        cunei_json_open(json, NULL, '{');
        put_function(json, analysis, handler->slot, handler->line);
        cunei_json_number(json, "count", (uint64_t)handler->count);
        cunei_json_close(json, '}');
    }
    cunei_json_close(json, ']');
    cunei_json_close(json, '}');
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    struct handlers handlers = {0};
    uint32_t count = 0;
    struct entry *entries = sort_kinds(report, &count);

    int rc = entries ? handlers_init(&handlers, report->analysis) : -ENOMEM;
    cunei_json_open(json, "exceptions", '[');
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        put_kind(json, report->analysis, &entries[i], &handlers);
    cunei_json_close(json, ']');
    free(handlers.items);
    free(entries);
    return rc;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return analysis->exceptions.count > 0;
}

const struct cunei_report_section cunei_report_section_exceptions = {
    .name = "exceptions",
    .help = "show exceptions: where they were raised and caught,\n"
            "how often",
    .has_rows = has_rows,
    .print = print,
    .print_notes = print_notes,
    .print_json = print_json,
};
