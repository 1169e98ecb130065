// SPDX-License-Identifier: MIT
/*
 * `cunei list`: the recordings in progress, the remains of processes that died, and the
 * Pythons that could be recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/units.h"
#include "cmd/attach/running_pythons.h"
#include "cmd/cmd.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/common/recording_target.h"
#include "rt/clock.h"
#include "text/format.h"
#include "text/json.h"
#include "text/names.h"
#include "text/table.h"
#include "text/terminal_text.h"
#include "trace/directory/open_options.h"
#include "trace/directory/process_folder.h"
#include "trace/directory/trace.h"
#include "trace/live/recorded_words.h"
#include "trace/live/recordings.h"
#include "trace/process/error.h"
#include "trace/process/exit_words.h"

/* Rates are measured for so long. */
#define MEASURED_NS (100 * CUNEI_NS_PER_MS)

struct values {
    bool json;
};

/* A recorded process. */
struct row {
    struct cunei_trace_process process;
    uint64_t words, begin_ns; /* before the measurement */
    uint64_t rate;            /* events a second */
    bool has_rate;
};

struct rows {
    struct row *items; /* owned */
    size_t count;
};

/* Those whose folders can be read; the others may be gone by now. */
static int load(struct rows *rows, const struct cunei_recordings *recordings)
{
    const struct cunei_trace_open_options opening = {.without_ring = true};
    struct cunei_trace_error error;

    rows->items = calloc(recordings->count + 1, sizeof(rows->items[0]));
    if (!rows->items)
        return -1;
    for (size_t i = 0; i < recordings->count; i++) {
        struct row *row = &rows->items[rows->count];
        if (cunei_process_folder_open(&row->process, recordings->items[i].folder,
                                      &opening, &error) == 0)
            rows->count++;
    }
    return 0;
}

static void begin_rate(struct row *row)
{
    if (row->process.state != CUNEI_TRACE_RUNNING)
        return;
    row->words = cunei_trace_recorded_words(&row->process);
    row->begin_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    row->has_rate = row->words > 0;
}

static void end_rate(struct row *row)
{
    uint64_t words = cunei_trace_recorded_words(&row->process);
    uint64_t ns = cunei_clock_ns(CLOCK_MONOTONIC) - row->begin_ns;

    if (words > row->words)
        row->rate = (uint64_t)((double)(words - row->words) * 1e9 / (double)ns);
}

static void measure(struct rows *rows)
{
    const struct timespec pause = {.tv_nsec = (long)MEASURED_NS};
    bool has_any = false;

    for (size_t i = 0; i < rows->count; i++) {
        begin_rate(&rows->items[i]);
        has_any |= rows->items[i].has_rate;
    }
    if (!has_any)
        return;
    (void)nanosleep(&pause, NULL);
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].has_rate)
            end_rate(&rows->items[i]);
    }
}

/* "3.13.0" of "CPython 3.13.0". */
static const char *version_of(const struct cunei_process *process)
{
    const char *space = process->python ? strchr(process->python, ' ') : NULL;

    return space ? space + 1 : process->python ? process->python : "";
}

static void put_trace(const struct row *row, struct cunei_buffer *out)
{
    const char *path = row->process.path;
    const char *slash = strrchr(path, '/');

    cunei_buffer_append(out, path, slash ? (size_t)(slash - path) : strlen(path));
}

static void put_kept(const struct cunei_process *process, struct cunei_buffer *out)
{
    if (process->keep_ns) {
        cunei_format_duration(out, process->keep_ns);
        cunei_buffer_append_text(out, ", ");
    }
    if (process->keep)
        cunei_format_size(out, process->keep);
}

static void add_row(struct cunei_table *table, const struct row *row)
{
    const struct cunei_process *process = &row->process.description;
    bool is_running = row->process.state == CUNEI_TRACE_RUNNING;
    enum cunei_ink ink = row->process.state == CUNEI_TRACE_KILLED ? CUNEI_INK_BAD
                         : is_running                             ? CUNEI_INK_WARM
                                                                  : CUNEI_INK_DIM;
    struct cunei_buffer text = {0};

    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_PLAIN), "%" PRIu32,
                        row->process.metadata.pid);
    cunei_buffer_append_text(cunei_table_cell(table, ink),
                             cunei_trace_state_word(row->process.state));
    struct cunei_buffer *rate = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (row->has_rate)
        cunei_format_count(rate, row->rate);
    put_kept(process, cunei_table_cell(table, CUNEI_INK_DIM));
    cunei_format_program(&text, process);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_STRONG),
                        cunei_buffer_text(&text), SIZE_MAX);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_DIM), version_of(process),
                        20);
    cunei_buffer_clear(&text);
    put_trace(row, &text);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_DIM),
                        cunei_buffer_text(&text), SIZE_MAX);
    cunei_buffer_fini(&text);
}

/* A Python that is not recorded. */
static void add_python(struct cunei_table *table,
                       const struct cunei_running_python *python)
{
    bool is_closed = python->state == CUNEI_PYTHON_CLOSED;

    cunei_buffer_format(cunei_table_cell(table, CUNEI_INK_PLAIN), "%d",
                        (int)python->pid);
    cunei_buffer_append_text(
        cunei_table_cell(table, is_closed ? CUNEI_INK_DIM : CUNEI_INK_PLAIN),
        cunei_python_state_name(python->state));
    cunei_terminal_text(
        cunei_table_cell(table, is_closed ? CUNEI_INK_DIM : CUNEI_INK_STRONG),
        cunei_buffer_text(&python->program), SIZE_MAX);
    cunei_buffer_append_text(cunei_table_cell(table, CUNEI_INK_DIM), python->version);
    cunei_terminal_text(cunei_table_cell(table, CUNEI_INK_DIM),
                        cunei_buffer_text(&python->reason), SIZE_MAX);
}

static int print_recordings(const struct rows *rows)
{
    static const struct cunei_column columns[] = {
        {.head = "pid"},
        {.head = "state", .min = 9},
        {.head = "≈events/s", .rank = 3},
        {.head = "kept", .rank = 4, .min = 6},
        {.head = "program", .min = 10},
        {.head = "Python", .rank = 2, .min = 6},
        {.head = "trace", .rank = 1, .min = 12, .is_path = true},
    };
    const struct cunei_style style = cunei_output_style(stdout);
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < rows->count; i++)
        add_row(&table, &rows->items[i]);
    int rc = cunei_table_print(&table, &style, stdout);
    cunei_table_fini(&table);
    return rc;
}

static int print_pythons(const struct cunei_running_pythons *pythons)
{
    static const struct cunei_column columns[] = {
        {.head = "pid"},
        {.head = "state", .min = 10},
        {.head = "program", .min = 10},
        {.head = "Python", .rank = 1, .min = 6},
        {.head = "why it cannot be attached", .min = 25},
    };
    const struct cunei_style style = cunei_output_style(stdout);
    struct cunei_table table;

    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < pythons->count; i++)
        add_python(&table, &pythons->items[i]);
    int rc = cunei_table_print(&table, &style, stdout);
    cunei_table_fini(&table);
    return rc;
}

/* Two tables: what is known of a recording says nothing about other processes. */
static int print_tables(const struct rows *rows,
                        const struct cunei_running_pythons *pythons)
{
    int rc = rows->count > 0 ? print_recordings(rows) : 0;

    if (rows->count > 0 && pythons->count > 0)
        (void)putchar('\n');
    if (rc == 0 && pythons->count > 0)
        rc = print_pythons(pythons);
    return rc;
}

static void put_json(struct cunei_json *json, const struct row *row)
{
    const struct cunei_process *process = &row->process.description;
    struct cunei_buffer text = {0};

    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "pid", row->process.metadata.pid);
    cunei_json_text(json, "state", cunei_trace_state_word(row->process.state));
    cunei_json_number_or_null(json, "events_per_second", row->has_rate, row->rate);
    cunei_json_number_or_null(json, "keep_bytes", process->keep > 0, process->keep);
    cunei_json_number_or_null(json, "keep_ns", process->keep_ns > 0, process->keep_ns);
    cunei_format_program(&text, process);
    cunei_json_text(json, "program", cunei_buffer_text(&text));
    cunei_json_texts(json, "arguments", process->arguments, process->argument_count);
    cunei_json_text(json, "python", version_of(process));
    cunei_buffer_clear(&text);
    put_trace(row, &text);
    cunei_json_text(json, "trace", cunei_buffer_text(&text));
    cunei_json_text(json, "folder", cunei_trace_folder(&row->process));
    cunei_json_close(json, '}');
    cunei_buffer_fini(&text);
}

static void put_python_json(struct cunei_json *json,
                            const struct cunei_running_python *python)
{
    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "pid", (uint64_t)python->pid);
    cunei_json_text(json, "state", cunei_python_state_name(python->state));
    cunei_json_text(json, "program", cunei_buffer_text(&python->program));
    cunei_json_text(json, "python", python->version);
    if (python->reason.size)
        cunei_json_text(json, "reason", cunei_buffer_text(&python->reason));
    cunei_json_close(json, '}');
}

static int print_json(const struct rows *rows,
                      const struct cunei_running_pythons *pythons)
{
    struct cunei_json json = {.out = stdout};

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_open(&json, "recordings", '[');
    for (size_t i = 0; i < rows->count; i++)
        put_json(&json, &rows->items[i]);
    cunei_json_close(&json, ']');
    cunei_json_open(&json, "pythons", '[');
    for (size_t i = 0; i < pythons->count; i++)
        put_python_json(&json, &pythons->items[i]);
    cunei_json_close(&json, ']');
    cunei_json_close(&json, '}');
    return cunei_json_end(&json);
}

static int run_list(int argc, char **argv)
{
    struct values values = {0};
    struct cunei_recordings recordings = {0};
    struct cunei_running_pythons pythons = {0};
    struct rows rows = {0};

    int status = cunei_options_parse(&cunei_cmd_list, &argc, argv, &values);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    if (argc > 1)
        return cunei_cmd_usage("unexpected argument '%s'; usage: cunei list", argv[1]);
    cunei_recording_target_find_all(&recordings);
    int rc = load(&rows, &recordings);
    if (rc == 0)
        rc = cunei_running_pythons_read(&pythons);
    measure(&rows);
    if (rc == 0 && values.json)
        rc = print_json(&rows, &pythons);
    else if (rc == 0 && rows.count + pythons.count > 0)
        rc = print_tables(&rows, &pythons);
    else if (rc == 0)
        cunei_cmd_note("no Python is running; 'cunei record app.py' records one");
    cunei_running_pythons_fini(&pythons);
    for (size_t i = 0; i < rows.count; i++)
        cunei_process_folder_close(&rows.items[i].process);
    free(rows.items);
    cunei_recordings_fini(&recordings);
    return rc < 0 ? cunei_cmd_fail(-ENOMEM, "cannot list the recordings")
                  : EXIT_SUCCESS;
}

static const struct cunei_option options[] = {
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one JSON object",
     .offset = offsetof(struct values, json)},
    {0},
};

const struct cunei_cmd cunei_cmd_list = {
    .name = "list",
    .args = "[options]",
    .summary = "list recordings, and Python processes to attach to",
    .help =
        "Lists your processes that are being recorded, and those that were killed and\n"
        "whose traces have not been read since. Each line has the pid, the state, about\n"
        "how many events a second it records, what --keep keeps, the program, its Python\n"
        "and the directory of the trace. A second table has all other Pythons: those that\n"
        "are armed or attachable can be recorded with 'cunei attach PID'; for those that\n"
        "are closed the line has the reason.\n"
        "\n"
        "  cunei list\n"
        "  cunei attach PID             record a process that is running\n"
        "  cunei snapshot PID           copy what a process has recorded up to now\n"
        "  cunei report DIR             show it",
    .options = options,
    .run = run_list,
};
