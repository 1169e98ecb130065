// SPDX-License-Identifier: MIT
/* `cunei try-trigger`: how often triggers would have fired in a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/vector.h"
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
#include "trigger/causes.h"
#include "trigger/kind.h"
#include "trigger/watch.h"

/* Firings whose details are kept; others are counted. */
#define FIRINGS_MAX (1u << 18)

struct values {
    struct cunei_trigger_options trigger;
    uint64_t shown;
    bool json;
};

struct firing {
    size_t number; /* in the order in which they were found */
    size_t trigger;
    uint32_t pid;
    struct cunei_cause cause; /* owned */
};

struct tally {
    uint64_t fired, snapshots;
    struct cunei_trigger_names names;
};

struct trial {
    const struct values *values;
    const char *path;
    uint64_t begin_ns;      /* of the recording */
    struct firing *firings; /* owned */
    size_t count, capacity;
    uint64_t beyond; /* firings that are not kept */
    uint64_t snapshots;
    struct tally tallies[CUNEI_TRIGGERS_MAX];
};

static void note_firing(void *context, const struct cunei_trigger_firing *firing)
{
    struct trial *trial = context;
    struct firing kept = {.number = trial->count,
                          .trigger = firing->trigger,
                          .pid = firing->process->metadata.pid};

    trial->tallies[firing->trigger].fired++;
    if (trial->count == FIRINGS_MAX ||
        !CUNEI_VECTOR_RESERVE(trial->firings, trial->capacity, trial->count + 1) ||
        cunei_cause_copy(&kept.cause, firing->cause) < 0) {
        trial->beyond++;
        return;
    }
    trial->firings[trial->count++] = kept;
}

static void note_name(void *context, size_t trigger, const char *name)
{
    struct trial *trial = context;

    cunei_trigger_names_add(&trial->tallies[trigger].names, name);
}

static void trial_fini(struct trial *trial)
{
    for (size_t i = 0; i < trial->count; i++)
        cunei_cause_fini(&trial->firings[i].cause);
    free(trial->firings);
    for (size_t i = 0; i < CUNEI_TRIGGERS_MAX; i++)
        cunei_trigger_names_fini(&trial->tallies[i].names);
}

static int compare_firings(const void *left, const void *right)
{
    const struct firing *a = left, *b = right;

    if (a->cause.time_ns != b->cause.time_ns)
        return a->cause.time_ns < b->cause.time_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The end of the firings that would be causes of one snapshot, from `first` on. */
static size_t find_together(const struct trial *trial, size_t first)
{
    uint64_t end_ns = trial->firings[first].cause.time_ns + CUNEI_TRIGGER_TOGETHER_NS;
    size_t end = first;

    while (end < trial->count && trial->firings[end].cause.time_ns <= end_ns)
        end++;
    return end;
}

/* Count the snapshots that the limits in time and number would have let through. */
static void count_snapshots(struct trial *trial)
{
    const struct cunei_snapshot_limits *limits = &trial->values->trigger.limits;
    struct cunei_snapshot_tally tally = {0};
    uint64_t max_bytes = 0;

    for (size_t i = 0, end; i < trial->count; i = end) {
        uint64_t now_ns = trial->firings[i].cause.time_ns;
        uint32_t seen = 0;
        end = find_together(trial, i);
        if (!cunei_snapshot_may(limits, &tally, now_ns, end - i, &max_bytes))
            continue;
        cunei_snapshot_count(&tally, now_ns, 0);
        for (size_t j = i; j < end; j++) {
            size_t trigger = trial->firings[j].trigger;
            trial->tallies[trigger].snapshots += !(seen >> trigger & 1);
            seen |= UINT32_C(1) << trigger;
        }
    }
    trial->snapshots = tally.count;
}

/* How many firings are shown. */
static size_t shown_count(const struct trial *trial)
{
    uint64_t shown = trial->values->shown;

    return shown && shown < trial->count ? (size_t)shown : trial->count;
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
                           trial->tallies[i].fired);
        cunei_format_count(cunei_table_cell(&table, CUNEI_INK_PLAIN),
                           trial->tallies[i].snapshots);
    }
    int rc = cunei_table_print(&table, style, stdout);
    cunei_table_fini(&table);
    return rc;
}

static void add_row(const struct trial *trial, struct cunei_table *table,
                    const struct firing *firing, size_t times)
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
static bool is_same(const struct firing *a, const struct firing *b)
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

    for (size_t first = 0; first < trial->count && (most == 0 || rows < most); rows++) {
        for (next = first; next < trial->count; next++) {
            if (!is_same(&trial->firings[first], &trial->firings[next]))
                break;
        }
        add_row(trial, table, &trial->firings[first], next - first);
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
    cunei_format_several(&text, trial->snapshots, "snapshot");
    (void)printf("%s\n", cunei_buffer_text(&text));
    if (rc == 0 && trial->count > 0) {
        (void)fputc('\n', stdout);
        rc = print_firings(trial, &style, &shown);
    }
    cunei_buffer_clear(&text);
    cunei_format_count(&text, trial->count - shown + trial->beyond);
    if (trial->count > shown || trial->beyond > 0)
        (void)printf("… %s more; -n 0 shows all\n", cunei_buffer_text(&text));
    rc = text.failed ? -ENOMEM : rc;
    cunei_buffer_fini(&text);
    return rc;
}

static void put_trigger(struct cunei_json *json, const struct cunei_trigger *trigger,
                        const struct tally *tally)
{
    cunei_json_open(json, NULL, '{');
    cunei_json_text(json, "trigger", trigger->text);
    cunei_json_text(json, "kind", trigger->kind->name);
    if (trigger->kind->unit)
        cunei_json_text(json, "unit", trigger->kind->unit);
    else
        cunei_json_raw(json, "unit", "null");
    cunei_json_number(json, "fired", tally->fired);
    cunei_json_number(json, "snapshots", tally->snapshots);
    cunei_json_close(json, '}');
}

static int print_json(const struct trial *trial)
{
    const struct cunei_triggers *triggers = &trial->values->trigger.triggers;
    struct cunei_json json = {.out = stdout};

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_number(&json, "begin_ns", trial->begin_ns);
    cunei_json_number(&json, "snapshots", trial->snapshots);
    cunei_json_open(&json, "triggers", '[');
    for (size_t i = 0; i < triggers->count; i++)
        put_trigger(&json, &triggers->items[i], &trial->tallies[i]);
    cunei_json_close(&json, ']');
    cunei_json_open(&json, "firings", '[');
    for (size_t i = 0; i < shown_count(trial); i++) {
        cunei_json_open(&json, NULL, '{');
        cunei_json_number(&json, "pid", trial->firings[i].pid);
        cunei_cause_words_put(&trial->firings[i].cause, &json);
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
        if (trial->tallies[i].fired > 0 ||
            !cunei_suggest_trigger(trigger, cunei_trigger_watch_functions(watch, i),
                                   &trial->tallies[i].names,
                                   cunei_trigger_watch_trace(watch), trial->path,
                                   &sentence))
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

    qsort(trial->firings, trial->count, sizeof(trial->firings[0]), compare_firings);
    count_snapshots(trial);
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
