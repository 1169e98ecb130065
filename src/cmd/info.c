// SPDX-License-Identifier: MIT
/* `cunei info`: what a trace contains, process by process. */
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
#include "cmd/info_causes.h"
#include "cmd/info_count.h"
#include "cmd/info_json.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "text/format.h"
#include "text/json.h"
#include "text/refusals_json.h"
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

static const char *const state_words[] = {
    [CUNEI_TRACE_ENDED] = "ended",
    [CUNEI_TRACE_RUNNING] = "still recording",
    [CUNEI_TRACE_EXITED] = "ended",
    [CUNEI_TRACE_TERMINATED] = "terminated",
    [CUNEI_TRACE_KILLED] = "killed",
    [CUNEI_TRACE_SNAPSHOT] = "running at the snapshot",
    [CUNEI_TRACE_REPLACED] = "replaced by execv",
};

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

    cunei_format_several(out, process->lost, "event");
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].count == 0)
            continue;
        cunei_buffer_append_text(out, ", ");
        cunei_format_count(out, reasons[i].count);
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
        cunei_format_several(out, count, cunei_info_kinds[i].what);
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
        cunei_format_several(out, description->lost_threads, "thread");
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
        cunei_format_several(out, cunei_info_count_of(inventory, i),
                             cunei_info_kinds[i].what);
    }
}

/* How much of it was kept, and since when nothing is missing. */
static void put_kept(struct cunei_buffer *out, const struct cunei_process *description)
{
    if (!description->keep && !description->complete_ns)
        return;
    put_row(out, "kept");
    if (description->keep_ns)
        cunei_format_duration(out, description->keep_ns);
    if (description->keep) {
        cunei_buffer_append_text(out, description->keep_ns ? " in " : "");
        cunei_format_size(out, description->keep);
    }
    if (description->complete_ns) {
        cunei_buffer_append_text(out, description->keep ? ", " : "");
        cunei_buffer_append_text(out, "complete since ");
        put_start(out, description->complete_ns);
    }
}

/* Which process it is, and how it ended. */
static void put_identity(struct cunei_buffer *out,
                         const struct cunei_trace_process *process, bool is_damaged)
{
    const struct cunei_process *description = &process->description;

    put_row(out, "process");
    cunei_buffer_format(out, "%" PRIu32 " on ", process->metadata.pid);
    show(out, process->metadata.host);
    cunei_buffer_format(out, ", %s", state_words[process->state]);
    if (description->left || description->exited || description->signal > 0) {
        cunei_buffer_append_text(out, " by ");
        cunei_exit_words_format(process, out);
    }
    cunei_buffer_append_text(out, is_damaged ? ", damaged" : "");
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
}

/* When it ran, and how much was recorded of it. */
static void put_amount(struct cunei_buffer *out,
                       const struct cunei_trace_process *process,
                       const struct cunei_info_count *inventory)
{
    put_row(out, "started");
    put_start(out, cunei_info_count_start_ns(inventory, process));
    cunei_buffer_append_text(out, ", ");
    cunei_format_duration(out, cunei_info_count_duration_ns(inventory, process));
    cunei_buffer_append_text(out, " from the first event to the last");
    put_row(out, "events");
    cunei_format_several(out, inventory->events, "event");
    cunei_buffer_append_text(out, " of ");
    cunei_format_several(out, inventory->functions, "function");
    cunei_buffer_append_text(out, " in ");
    cunei_format_several(out, inventory->threads, "thread");
    put_kinds(out, inventory);
    put_row(out, "size");
    cunei_format_size(out, inventory->bytes);
    cunei_buffer_append_text(out, ": ");
    cunei_format_several(out, inventory->packets, "packet");
    cunei_buffer_append_text(out, " in ");
    cunei_format_several(out, inventory->streams, "stream");
}

static void put_process(struct cunei_buffer *out,
                        const struct cunei_trace_process *process,
                        const struct cunei_info_count *inventory, unsigned width)
{
    const struct cunei_process *description = &process->description;

    put_program(out, description, width);
    put_identity(out, process, inventory->rc < 0);
    put_hook(out, description);
    put_choice(out, description, inventory);
    put_kept(out, description);
    cunei_info_causes_put(out, description);
    put_amount(out, process, inventory);
    put_row(out, "lost");
    put_lost(out, description);
    if (description->clamped) {
        put_row(out, "clock");
        cunei_format_count(out, description->clamped);
        cunei_buffer_append_text(
            out, " times the clock went back; the time before was used");
    }
    put_row(out, "folder");
    show(out, process->path);
    cunei_buffer_append_text(out, "\n");
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

/* Text and JSON of all processes; -EBADMSG: `*error` is why some were counted in part.
 */
static int put_processes(const struct cunei_trace *trace, struct cunei_buffer *out,
                         struct cunei_json *json, unsigned width,
                         struct cunei_trace_error *error)
{
    int rc = 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_info_count inventory;
        cunei_info_count_take(&inventory, &trace->processes[i]);
        if (rc == 0) {
            rc = inventory.rc;
            *error = inventory.error;
        }
        if (json) {
            cunei_info_json_put(json, &trace->processes[i], &inventory);
            continue;
        }
        cunei_buffer_append_text(out, i == 0 ? "" : "\n");
        put_process(out, &trace->processes[i], &inventory, width);
    }
    return rc;
}

static int print_json(const struct cunei_trace *trace,
                      const struct cunei_refusals *refusals,
                      struct cunei_trace_error *error)
{
    struct cunei_json json = {.out = stdout};

    cunei_json_open(&json, NULL, '{');
    cunei_json_number(&json, "version", 1);
    cunei_json_open(&json, "processes", '[');
    int rc = put_processes(trace, NULL, &json, 0, error);
    cunei_json_close(&json, ']');
    cunei_refusals_put_json(refusals, &json);
    cunei_json_close(&json, '}');
    int end_rc = cunei_json_end(&json);
    return rc < 0 ? rc : end_rc;
}

static int print_text(const struct cunei_trace *trace,
                      const struct cunei_refusals *refusals, unsigned width,
                      struct cunei_trace_error *error)
{
    struct cunei_buffer out = {0};

    int rc = put_processes(trace, &out, NULL, width, error);
    put_refusals(&out, refusals);
    if (out.failed)
        rc = rc < 0 ? rc : -ENOMEM;
    else
        (void)fwrite(out.data, 1, out.size, stdout);
    cunei_buffer_fini(&out);
    return rc;
}

static int show_trace(const struct cunei_trace *trace,
                      const struct cunei_refusals *refusals,
                      const struct values *values)
{
    struct cunei_trace_error error = {0};

    int rc = values->json ? print_json(trace, refusals, &error)
                          : print_text(trace, refusals, values->width, &error);
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
