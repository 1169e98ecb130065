// SPDX-License-Identifier: MIT
/* `cunei info`: what a trace holds, process by process. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/options.h"
#include "cmd/common/output.h"
#include "cmd/info_count.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "text/terminal_text.h"
#include "trace/directory/trace.h"
#include "trace/process/exit_words.h"

#define PIPE_WIDTH 200u /* columns of a heading that no terminal limits */

/* Of a filter; JSON has all patterns. */
#define PATTERNS_SHOWN 8u

struct values {
    bool json;
    unsigned width; /* that a heading may take */
};

/* In JSON, and in text. */
static const struct {
    const char *key;
    const char *words;
} states[] = {
    [CUNEI_TRACE_ENDED] = {"ended", "ended"},
    [CUNEI_TRACE_RUNNING] = {"running", "still recording"},
    [CUNEI_TRACE_EXITED] = {"ended", "ended"},
    [CUNEI_TRACE_TERMINATED] = {"terminated", "terminated"},
    [CUNEI_TRACE_KILLED] = {"killed", "killed"},
    [CUNEI_TRACE_SNAPSHOT] = {"snapshot", "running at the snapshot"},
    [CUNEI_TRACE_REPLACED] = {"replaced", "replaced by execv"},
};

/* Digits in groups of three, with a space that no line breaks at. */
static void put_count(struct cunei_buffer *out, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            cunei_buffer_append_text(out, "\u00a0");
        cunei_buffer_append(out, &digits[i], 1);
    }
}

static void put_counted(struct cunei_buffer *out, uint64_t number, const char *what)
{
    put_count(out, number);
    cunei_buffer_format(out, " %s%s", what, number == 1 ? "" : "s");
}

static void put_size(struct cunei_buffer *out, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double size = (double)bytes / 1000;
    size_t unit = 0;

    if (bytes < 1000) {
        put_counted(out, bytes, "byte");
        return;
    }
    for (; size >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        size /= 1000;
    cunei_buffer_format(out, "%.*f %s", size < 100 ? 1 : 0, size, units[unit]);
}

static void put_duration(struct cunei_buffer *out, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {
        {CUNEI_NS_PER_S, "s"}, {CUNEI_NS_PER_MS, "ms"}, {CUNEI_NS_PER_US, "µs"}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double amount = (double)ns / (double)units[i].ns;
        if (amount >= 1) {
            cunei_buffer_format(out, "%.*f %s",
                                amount < 10    ? 2
                                : amount < 100 ? 1
                                               : 0,
                                amount, units[i].name);
            return;
        }
    }
    cunei_buffer_format(out, "%" PRIu64 " ns", ns);
}

static void put_start(struct cunei_buffer *out, uint64_t wall_ns)
{
    char text[64] = "";
    struct tm local = {0};
    time_t seconds = (time_t)(wall_ns / CUNEI_NS_PER_S);

    (void)localtime_r(&seconds, &local);
    if (strftime(text, sizeof(text), "%F %T", &local) > 0)
        cunei_buffer_append_text(out, text);
}

static void show(struct cunei_buffer *out, const char *text)
{
    cunei_text_show(out, text, strlen(text));
}

/* The command line, on one line. */
static void put_program(struct cunei_buffer *out, const struct cunei_process *process,
                        unsigned width)
{
    struct cunei_buffer words = {0};

    for (size_t i = 0; i < process->argument_count; i++)
        cunei_buffer_format(&words, "%s%s", i ? " " : "", process->arguments[i]);
    cunei_terminal_text(out, words.size ? words.data : "(unknown program)", width);
    cunei_buffer_fini(&words);
}

static uint64_t start_ns(const struct cunei_trace_process *process,
                         const struct cunei_info_count *inventory)
{
    return process->description.start_ns
               ? process->description.start_ns
               : cunei_metadata_wall_ns(&process->metadata, inventory->begin);
}

static void put_lost(struct cunei_buffer *out, const struct cunei_process *process)
{
    const struct {
        uint64_t count;
        const char *why;
    } reasons[] = {
        {process->lost_no_space,
         process->stop_errno ? cunei_write_failure_text((int)process->stop_errno)
         : process->full     ? "of --max-size"
                             : "they could not be written"},
        {process->lost_no_stream, "no stream could be made for their thread"},
        {process->lost_no_function,
         "there was no room for more functions, or names of regions and counters"},
    };

    put_counted(out, process->lost, "event");
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].count == 0)
            continue;
        cunei_buffer_append_text(out, ", ");
        put_count(out, reasons[i].count);
        cunei_buffer_format(out, " because %s", reasons[i].why);
    }
}

static void put_row(struct cunei_buffer *out, const char *name)
{
    cunei_buffer_format(out, "\n  %-10s", name);
}

/* Events other than calls. */
static void put_kinds(struct cunei_buffer *out,
                      const struct cunei_info_count *inventory)
{
    bool is_first = true;

    for (size_t i = 0; i < CUNEI_INFO_KINDS; i++) {
        uint64_t count = cunei_info_count_of(inventory, i);
        if (count == 0 || cunei_info_kinds[i].is_budget)
            continue;
        if (is_first)
            put_row(out, "also");
        else
            cunei_buffer_append_text(out, ", ");
        put_counted(out, count, cunei_info_kinds[i].what);
        is_first = false;
    }
}

static void put_hook(struct cunei_buffer *out, const struct cunei_process *description)
{
    if (!description->instrumenter)
        return;
    put_row(out, "hook");
    show(out, description->instrumenter);
    if (description->lost_threads) {
        cunei_buffer_append_text(out, ", missing in part of ");
        put_counted(out, description->lost_threads, "thread");
    }
    if (description->decorated_refusal)
        cunei_buffer_append_text(out, ", missing in decorated functions");
}

/* The filter and the budget. */
static void put_choice(struct cunei_buffer *out,
                       const struct cunei_process *description,
                       const struct cunei_info_count *inventory)
{
    if (description->pattern_count > 0)
        put_row(out, "filter");
    for (size_t i = 0; i < description->pattern_count && i < PATTERNS_SHOWN; i++) {
        cunei_buffer_append_text(out, i ? " " : "");
        show(out, description->patterns[i]);
    }
    if (description->pattern_count > PATTERNS_SHOWN)
        cunei_buffer_format(out, " and %zu more",
                            description->pattern_count - PATTERNS_SHOWN);
    if (description->budget == 0)
        return;
    put_row(out, "budget");
    cunei_buffer_format(out, "%g %%: ", (double)description->budget / 1e4);
    for (size_t i = 0, shown = 0; i < CUNEI_INFO_KINDS; i++) {
        if (!cunei_info_kinds[i].is_budget)
            continue;
        cunei_buffer_append_text(out, shown++ ? ", " : "");
        put_counted(out, cunei_info_count_of(inventory, i), cunei_info_kinds[i].what);
    }
}

/* How much of it was kept, and since when nothing is missing. */
static void put_kept(struct cunei_buffer *out, const struct cunei_process *description)
{
    if (!description->keep && !description->complete_ns)
        return;
    put_row(out, "kept");
    if (description->keep_ns)
        put_duration(out, description->keep_ns);
    if (description->keep) {
        cunei_buffer_append_text(out, description->keep_ns ? " in " : "");
        put_size(out, description->keep);
    }
    if (description->complete_ns) {
        cunei_buffer_append_text(out, description->keep ? ", " : "");
        cunei_buffer_append_text(out, "complete since ");
        put_start(out, description->complete_ns);
    }
}

static void put_process(struct cunei_buffer *out,
                        const struct cunei_trace_process *process,
                        const struct cunei_info_count *inventory, unsigned width)
{
    const struct cunei_process *description = &process->description;

    put_program(out, description, width);
    put_row(out, "process");
    cunei_buffer_format(out, "%" PRIu32 " on ", process->metadata.pid);
    show(out, process->metadata.host);
    cunei_buffer_format(out, ", %s", states[process->state].words);
    if (description->left || description->exited || description->signal > 0) {
        cunei_buffer_append_text(out, " by ");
        cunei_exit_words_format(process, out);
    }
    cunei_buffer_append_text(out, inventory->rc < 0 ? ", damaged" : "");
    if (description->name) {
        put_row(out, "name");
        show(out, description->name);
    }
    if (description->forked && description->parent_folder) {
        put_row(out, "forked");
        cunei_buffer_append_text(out, "from ");
        show(out, description->parent_folder);
    }
    if (description->python) {
        put_row(out, "python");
        show(out, description->python);
        if (description->executable) {
            cunei_buffer_append_text(out, ", ");
            show(out, description->executable);
        }
    }
    put_hook(out, description);
    put_choice(out, description, inventory);
    put_kept(out, description);
    put_row(out, "started");
    put_start(out, start_ns(process, inventory));
    cunei_buffer_append_text(out, ", ");
    put_duration(out, cunei_info_count_duration_ns(inventory, process));
    cunei_buffer_append_text(out, " from the first event to the last");
    put_row(out, "events");
    put_counted(out, inventory->events, "event");
    cunei_buffer_append_text(out, " of ");
    put_counted(out, inventory->functions, "function");
    cunei_buffer_append_text(out, " in ");
    put_counted(out, inventory->threads, "thread");
    put_kinds(out, inventory);
    put_row(out, "size");
    put_size(out, inventory->bytes);
    cunei_buffer_append_text(out, ": ");
    put_counted(out, inventory->packets, "packet");
    cunei_buffer_append_text(out, " in ");
    put_counted(out, inventory->streams, "stream");
    put_row(out, "lost");
    put_lost(out, description);
    if (description->clamped) {
        put_row(out, "clock");
        put_count(out, description->clamped);
        cunei_buffer_append_text(
            out, " times the clock went back; the time before was used");
    }
    put_row(out, "folder");
    show(out, process->path);
    cunei_buffer_append_text(out, "\n");
}

static void put_json_text(struct cunei_buffer *out, const char *key, const char *text)
{
    cunei_buffer_format(out, ",\"%s\":", key);
    if (text)
        cunei_text_json(out, text, strlen(text));
    else
        cunei_buffer_append_text(out, "null");
}

static void put_json_list(struct cunei_buffer *out, const char *key, char *const *list,
                          size_t count)
{
    cunei_buffer_format(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        cunei_buffer_append_text(out, i ? "," : "");
        cunei_text_json(out, list[i], strlen(list[i]));
    }
    cunei_buffer_append_text(out, "]");
}

static void put_json_process(struct cunei_buffer *out,
                             const struct cunei_trace_process *process,
                             const struct cunei_info_count *inventory)
{
    const struct cunei_process *description = &process->description;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"parent", description->parent},
        {"start_ns", start_ns(process, inventory)},
        {"duration_ns", cunei_info_count_duration_ns(inventory, process)},
        {"threads", inventory->threads},
        {"streams", inventory->streams},
        {"packets", inventory->packets},
        {"events", inventory->events},
        {"budget_millionths", description->budget},
        {"keep_bytes", description->keep},
        {"keep_ns", description->keep_ns},
        {"complete_ns", description->complete_ns},
        {"snapshot_ns", description->snapshot_ns},
        {"functions", inventory->functions},
        {"bytes", inventory->bytes},
        {"lost_threads", description->lost_threads},
        {"lost", description->lost},
        {"lost_no_stream", description->lost_no_stream},
        {"lost_no_space", description->lost_no_space},
        {"lost_no_function", description->lost_no_function},
        {"clamped", description->clamped},
        {"write_ns", description->write_ns},
        {"write_cpu_ns", description->write_cpu_ns},
        {"stop_errno", description->stop_errno},
    };

    cunei_buffer_format(out, "{\"pid\":%" PRIu32, process->metadata.pid);
    put_json_text(out, "state", states[process->state].key);
    put_json_text(out, "name", description->name);
    put_json_text(out, "parent_folder", description->parent_folder);
    put_json_text(out, "host", process->metadata.host);
    put_json_text(out, "python", description->python);
    put_json_text(out, "instrumenter", description->instrumenter);
    put_json_text(out, "executable", description->executable);
    put_json_text(out, "directory", description->directory);
    put_json_text(out, "folder", process->path);
    put_json_list(out, "arguments", description->arguments,
                  description->argument_count);
    put_json_list(out, "patterns", description->patterns, description->pattern_count);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        cunei_buffer_format(out, ",\"%s\":%" PRIu64, numbers[i].key, numbers[i].value);
    for (size_t i = 0; i < CUNEI_INFO_KINDS; i++)
        cunei_buffer_format(out, ",\"%s\":%" PRIu64, cunei_info_kinds[i].key,
                            cunei_info_count_of(inventory, i));
    cunei_buffer_format(out, ",\"decorated_lost\":%s,\"full\":%s,\"damaged\":%s}",
                        description->decorated_refusal ? "true" : "false",
                        description->full ? "true" : "false",
                        inventory->rc < 0 ? "true" : "false");
}

static void put_refusals(struct cunei_buffer *out,
                         const struct cunei_refusals *refusals)
{
    if (refusals->count > 0)
        cunei_buffer_append_text(out, "\ncould not be recorded");
    for (size_t i = 0; i < refusals->count; i++) {
        put_row(out, "process");
        cunei_buffer_format(out, "%" PRId64 ": ", refusals->items[i].pid);
        cunei_refusal_reason_format(refusals->items[i].reason, out);
    }
    cunei_buffer_append_text(out, refusals->count > 0 ? "\n" : "");
}

static int show_trace(const struct cunei_trace *trace,
                      const struct cunei_refusals *refusals,
                      const struct values *values)
{
    struct cunei_buffer out = {0};
    struct cunei_trace_error error;
    int rc = 0;

    if (values->json)
        cunei_buffer_append_text(&out, "{\"version\":1,\"processes\":[");
    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_info_count inventory;
        cunei_info_count_take(&inventory, &trace->processes[i]);
        if (rc == 0) {
            rc = inventory.rc;
            error = inventory.error;
        }
        cunei_buffer_append_text(&out, i == 0 ? "" : values->json ? "," : "\n");
        if (values->json)
            put_json_process(&out, &trace->processes[i], &inventory);
        else
            put_process(&out, &trace->processes[i], &inventory, values->width);
    }
    if (values->json) {
        cunei_buffer_append_text(&out, "],\"unrecorded\":");
        cunei_refusals_format_json(refusals, &out);
        cunei_buffer_append_text(&out, "}\n");
    } else
        put_refusals(&out, refusals);
    if (!out.failed)
        (void)fwrite(out.data, 1, out.size, stdout);
    cunei_buffer_fini(&out);
    if (rc < 0)
        return cunei_cmd_fail(rc == -EBADMSG ? 0 : rc, "%s; the rest was counted",
                              error.text);
    return EXIT_SUCCESS;
}

static int run_info(int argc, char **argv)
{
    struct values values = {0};
    struct cunei_trace trace;
    struct cunei_refusals refusals = {0};

    int status = cunei_options_parse(&cunei_cmd_info, &argc, argv, &values);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    status = cunei_options_directory(&cunei_cmd_info, argc, argv);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    unsigned width = cunei_output_style(stdout).width;
    values.width = isatty(STDOUT_FILENO) ? width : PIPE_WIDTH;
    status = cunei_cmd_open_trace(argv[1], &trace);
    if (status != 0)
        return status;
    cunei_cmd_read_refusals(argv[1], &trace, &refusals);
    status = show_trace(&trace, &refusals, &values);
    cunei_refusals_fini(&refusals);
    if (status == EXIT_SUCCESS && trace.damage_count > 0)
        status =
            cunei_cmd_fail(0, "%s; the rest is shown", trace.damages[0].error.text);
    cunei_trace_close(&trace);
    return status;
}

static const struct cunei_option options[] = {
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one JSON object",
     .offset = offsetof(struct values, json)},
    {0},
};

const struct cunei_cmd cunei_cmd_info = {
    .name = "info",
    .args = "[options] DIR",
    .summary = "show what a trace contains",
    .help =
        "Shows each process of the trace, by start time: its program and Python; whether\n"
        "it ended, still records, was killed or was replaced by execv; start and\n"
        "duration; how many threads, functions, events and bytes; the filter and budget\n"
        "it was recorded with; and how many events were lost, and why. At the end, the\n"
        "processes that could not be recorded, as far as they are known.\n"
        "\n"
        "  cunei info DIR",
    .options = options,
    .run = run_info,
};
