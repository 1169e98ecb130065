// SPDX-License-Identifier: MIT
/* `cunei try-trigger`: how often triggers would have fired in a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/record/trigger_options.h"
#include "cmd/suggest/trigger.h"
#include "text/cause_words.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"
#include "text/terminal_text.h"
#include "trace/directory/trace.h"
#include "trace/directory/trace_begin.h"
#include "trigger/kind.h"
#include "trigger/trial.h"
#include "trigger/watch.h"

struct values {
    struct cunei_trigger_options trigger;
    uint64_t shown;
    bool json;
};

struct trial {
    const struct values *values;
    const char *path;
    uint64_t begin_ns; /* of the recording */
    struct cunei_trigger_trial found;
    struct cunei_trigger_names names[CUNEI_TRIGGERS_MAX]; /* for each trigger */
};

static void note_firing(void *context, const struct cunei_trigger_firing *firing)
{
    struct trial *trial = context;

    cunei_trigger_trial_add(&trial->found, firing);
}

static void note_name(void *context, size_t trigger, const char *name)
{
    struct trial *trial = context;

    cunei_trigger_names_add(&trial->names[trigger], name);
}

static void trial_fini(struct trial *trial)
{
    cunei_trigger_trial_fini(&trial->found);
    for (size_t i = 0; i < CUNEI_TRIGGERS_MAX; i++)
        cunei_trigger_names_fini(&trial->names[i]);
}

/* How many firings are shown. */
static size_t shown_count(const struct trial *trial)
{
    uint64_t shown = trial->values->shown;

    return shown && shown < trial->found.count ? (size_t)shown : trial->found.count;
}

static int print_triggers(const struct trial *trial, const struct cunei_style *style)
{
    static const struct cunei_column columns[] = {
        {.head = "trigger", .min = 12},
        {.head = "fired"},
        {.head = "snapshots"},
    };
    const struct cunei_triggers *triggers = &trial->values->trigger.triggers;
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < triggers->count; i++) {
        cunei_terminal_text(cunei_table_cell(&table, CUNEI_INK_STRONG),
                            triggers->items[i].text, SIZE_MAX);
        cunei_format_count(cunei_table_cell(&table, CUNEI_INK_PLAIN),
                           trial->found.fired[i]);
        cunei_format_count(cunei_table_cell(&table, CUNEI_INK_PLAIN),
                           trial->found.snapshots[i]);
    }
    int rc = cunei_table_print(&table, style, stdout);
    cunei_table_fini(&table);
    return rc;
}

static void add_row(const struct trial *trial, struct cunei_table *table,
                    const struct cunei_trial_firing *firing, size_t times)
{
    const struct cunei_cause *cause = &firing->cause;
    struct cunei_buffer place = {0};

    cunei_format_duration(
        cunei_table_cell(table, CUNEI_INK_PLAIN),
        cause->time_ns > trial->begin_ns ? cause->time_ns - trial->begin_ns : 0);
    struct cunei_buffer *trigger = cunei_table_cell(table, CUNEI_INK_DIM);
    if (trial->values->trigger.triggers.count > 1)
        cunei_terminal_text(trigger, cause->trigger, SIZE_MAX);
    struct cunei_buffer *count = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (times > 1)
        cunei_format_count(count, times);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_STRONG), cause->what,
                        SIZE_MAX);
    cunei_cause_words_format_place(cause, &place);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_PLAIN),
                        cunei_buffer_text(&place), SIZE_MAX);
    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_DIM), "%" PRIu32,
                        firing->pid);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_DIM), cause->thread_name,
                        SIZE_MAX);
    cunei_buffer_fini(&place);
}

/* Whether two firings differ in nothing but their time. */
static bool is_same(const struct cunei_trial_firing *a,
                    const struct cunei_trial_firing *b)
{
    return a->trigger == b->trigger && a->pid == b->pid &&
           a->cause.thread == b->cause.thread && a->cause.line == b->cause.line &&
           strcmp(a->cause.what, b->cause.what) == 0 &&
           strcmp(a->cause.function, b->cause.function) == 0;
}

/* Those that follow each other and are the same have one row; returns how many firings
 * have one. */
static size_t add_rows(const struct trial *trial, struct cunei_table *table)
{
    uint64_t most = trial->values->shown, rows = 0;
    size_t next = 0;

    for (size_t first = 0; first < trial->found.count && (most == 0 || rows < most);
         rows++) {
        for (next = first; next < trial->found.count; next++) {
            if (!is_same(&trial->found.firings[first], &trial->found.firings[next]))
                break;
        }
        add_row(trial, table, &trial->found.firings[first], next - first);
        first = next;
    }
    return next;
}

static int print_firings(const struct trial *trial, const struct cunei_style *style,
                         size_t *shown)
{
    static const struct cunei_column columns[] = {
        {.head = "time"},
        {.head = "trigger", .rank = 3, .min = 12},
        {.head = "times", .rank = 1},
        {.head = "what", .min = 16},
        {.head = "where", .rank = 2, .min = 12},
        {.head = "pid", .rank = 4},
        {.head = "thread", .rank = 5, .min = 8},
    };
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    *shown = add_rows(trial, &table);
    int rc = cunei_table_print(&table, style, stdout);
    cunei_table_fini(&table);
    return rc;
}

static int print_text(const struct trial *trial)
{
    const struct cunei_style style = cunei_output_style(stdout);
    size_t shown = 0;
    struct cunei_buffer text = {0};

    int rc = print_triggers(trial, &style);
    cunei_buffer_append_text(&text, "in all ");
    cunei_format_several(&text, trial->found.snapshot_count, "snapshot");
    (void)printf("%s\n", cunei_buffer_text(&text));
    if (rc == 0 && trial->found.count > 0) {
        (void)fputc('\n', stdout);
        rc = print_firings(trial, &style, &shown);
    }
    cunei_buffer_clear(&text);
    cunei_format_count(&text, trial->found.count - shown + trial->found.beyond);
    if (trial->found.count > shown || trial->found.beyond > 0)
        (void)printf("… %s more; -n 0 shows all\n", cunei_buffer_text(&text));
    rc = text.failed ? -ENOMEM : rc;
    cunei_buffer_fini(&text);
    return rc;
}

static void put_trigger(struct cunei_json *json, const struct trial *trial,
                        size_t index)
{
    const struct cunei_trigger *trigger = &trial->values->trigger.triggers.items[index];

    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "trigger", trigger->text);
    cunei_json_text(json, "kind", trigger->kind->name);
    if (trigger->kind->unit)
        cunei_json_text(json, "unit", trigger->kind->unit);
    else
        cunei_json_raw(json, "unit", "null");
    cunei_json_number(json, "fired", trial->found.fired[index]);
    cunei_json_number(json, "snapshots", trial->found.snapshots[index]);
    cunei_json_close(json, '}');
}

static int print_json(const struct trial *trial)
{
    struct cunei_json json = {.out = stdout};

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_number(&json, "begin_ns", trial->begin_ns);
    cunei_json_number(&json, "snapshots", trial->found.snapshot_count);
    cunei_json_open(&json, "triggers", '[');
    for (size_t i = 0; i < trial->values->trigger.triggers.count; i++)
        put_trigger(&json, trial, i);
    cunei_json_close(&json, ']');
    cunei_json_open(&json, "firings", '[');
    for (size_t i = 0; i < shown_count(trial); i++) {
        cunei_json_open(&json, NULL, '{');
        cunei_json_number(&json, "pid", trial->found.firings[i].pid);
        cunei_cause_words_put(&trial->found.firings[i].cause, &json);
        cunei_json_close(&json, '}');
    }
    cunei_json_close(&json, ']');
    cunei_json_close(&json, '}');
    return cunei_json_end(&json);
}

/*
 * Triggers that never fired, where the recording has nothing that they look at.  A
 * function that was not called is a wrong pattern; an exception that was not raised is
 * an answer.
 */
static int note_unmatched(struct trial *trial, const struct cunei_trigger_watch *watch)
{
    const struct cunei_triggers *triggers = &trial->values->trigger.triggers;
    struct cunei_buffer sentence = {0};
    int status = EXIT_SUCCESS;

    for (size_t i = 0; i < triggers->count; i++) {
        const struct cunei_trigger *trigger = &triggers->items[i];
        cunei_buffer_clear(&sentence);
        if (trial->found.fired[i] > 0 ||
            !cunei_suggest_trigger(trigger, cunei_trigger_watch_functions(watch, i),
                                   &trial->names[i], cunei_trigger_watch_trace(watch),
                                   trial->path, &sentence))
            continue;
        if (trigger->kind->matches)
            status = cunei_cmd_fail(0, "%s", cunei_buffer_text(&sentence));
        else
            cunei_cmd_note("%s", cunei_buffer_text(&sentence));
    }
    cunei_buffer_fini(&sentence);
    return status;
}

/* Read all that there is. */
static int read_all(struct cunei_trigger_watch *watch)
{
    int rc;

    do
        rc = cunei_trigger_watch_poll(watch);
    while (rc == 2);
    return rc < 0 ? rc : cunei_trigger_watch_finish(watch);
}

static int show(struct trial *trial, const struct cunei_trigger_watch *watch)
{
    const struct cunei_trace *trace = cunei_trigger_watch_trace(watch);

    cunei_trigger_trial_finish(&trial->found, &trial->values->trigger.limits);
    int rc = trial->values->json ? print_json(trial) : print_text(trial);
    if (rc < 0)
        return cunei_cmd_fail(rc, "cannot show '%s'", trial->path);
    (void)fflush(stdout);
    int status = note_unmatched(trial, watch);
    if (trace->damage_count > 0)
        status =
            cunei_cmd_fail(0, "%s; the rest was read", trace->damages[0].error.text);
    return status;
}

static int try_triggers(struct trial *trial)
{
    const struct cunei_trigger_listener listener = {note_firing, note_name, trial};
    struct cunei_trigger_watch *watch = NULL;
    struct cunei_trace_error error;
    struct cunei_trace trace;

    int status = cunei_cmd_open_trace(trial->path, &trace);
    if (status != EXIT_SUCCESS)
        return status;
    trial->begin_ns = cunei_trace_begin_ns(&trace);
    cunei_trace_close(&trace);
    int rc = cunei_trigger_watch_open(
        &watch, trial->path, &trial->values->trigger.triggers, &listener, &error);
    if (rc < 0)
        return cunei_cmd_fail_to_open(rc, trial->path, &error);
    rc = read_all(watch);
    status = rc < 0 ? cunei_cmd_fail(rc, "cannot read '%s'", trial->path)
                    : show(trial, watch);
    cunei_trigger_watch_close(watch);
    return status;
}

static int run_try_trigger(int argc, char **argv)
{
    struct values values = {.trigger = CUNEI_TRIGGER_OPTIONS_DEFAULTS, .shown = 20};

    int status = cunei_options_parse(&cunei_cmd_try_trigger, &argc, argv, &values);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_options_directory(&cunei_cmd_try_trigger, argc, argv);
    if (status == CUNEI_OPTIONS_CONTINUE && values.trigger.texts.count == 0)
        status = cunei_cmd_usage("missing trigger: cunei try-trigger %s --trigger "
                                 "exception:ValueError",
                                 argv[1]);
    if (status == CUNEI_OPTIONS_CONTINUE)
        status = cunei_trigger_options_check(&values.trigger);
    if (status == CUNEI_OPTIONS_CONTINUE) {
        struct trial trial = {.values = &values, .path = argv[1]};
        status = try_triggers(&trial);
        trial_fini(&trial);
    }
    cunei_trigger_options_fini(&values.trigger);
    return status;
}

static const struct cunei_option options[] = {
    {.kind = CUNEI_OPTION_TABLE,
     .table = cunei_trigger_option_rows,
     .offset = offsetof(struct values, trigger)},
    {.name = "limit",
     .letter = 'n',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "show the first N times (default 20; 0: all)",
     .offset = offsetof(struct values, shown)},
    {.name = "snapshot-interval",
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "the least time between two snapshots (default 1min)",
     .offset = offsetof(struct values, trigger.limits.interval_ns)},
    {.name = "snapshot-count",
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "count at most N snapshots (default 10; 0: no limit)",
     .offset = offsetof(struct values, trigger.limits.count)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one JSON object",
     .offset = offsetof(struct values, json)},
    {0},
};

const struct cunei_cmd cunei_cmd_try_trigger = {
    .name = "try-trigger",
    .args = "DIR --trigger WHEN [options]",
    .summary = "show how often triggers would have fired",
    .help =
        "Shows how often, when and where triggers would have fired in a recording, and\n"
        "how many snapshots 'cunei record --keep 30s --trigger …' would have made of\n"
        "it. Use it to find good limits.\n"
        "\n"
        "  cunei try-trigger DIR --trigger exception:ValueError\n"
        "  cunei try-trigger DIR --trigger 'slow:app:handle>50ms' --trigger 'lag>100ms'",
    .options = options,
    .run = run_try_trigger,
};
