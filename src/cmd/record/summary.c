// SPDX-License-Identifier: MIT
#include "cmd/record/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/progress_bar.h"
#include "cmd/record/record_options.h"
#include "cmd/record/recorded_run.h"
#include "cmd/record/trace_directory.h"
#include "cmd/suggest/pattern.h"
#include "model/facts/event_count.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "python/version.h"
#include "report/lost_hooks.h"
#include "rt/refusal.h"
#include "text/format.h"
#include "trace/directory/trace.h"
#include "trace/process/file.h"
#include "wire/metadata.h"
#include "wire/record_env.h"

struct summary {
    struct cunei_event_count count;
    uint64_t lost;
    uint64_t lost_no_stream;
    uint64_t lost_no_function;
    uint64_t bytes;
    uint64_t damaged; /* streams that could be read in part only */
    bool full;
    int stop_errno;    /* of a write that failed; 0: none, or --max-size */
    bool lacks_folder; /* of a process whose losses are not known */
    struct cunei_refusals refusals;
    struct cunei_progress_bar progress;
    uint64_t done_bytes; /* read of total_bytes */
    uint64_t total_bytes;
};

static void count_stream(struct summary *summary,
                         const struct cunei_trace_process *process,
                         const struct cunei_trace_stream *stream)
{
    const struct cunei_id_kinds kinds = cunei_trace_kinds(process);
    struct cunei_trace_reader *reader =
        cunei_trace_reader_open(process, stream, 0, UINT64_MAX);
    struct cunei_trace_packet packet;
    int rc = -ENOMEM;

    while (reader && (rc = cunei_trace_reader_next(reader, &packet)) > 0) {
        cunei_event_count_words(&summary->count, &kinds, packet.words,
                                packet.word_count);
        summary->done_bytes += packet.head->packet_bits / 8;
        cunei_progress_bar_show(&summary->progress, summary->done_bytes,
                                summary->total_bytes);
    }
    cunei_trace_reader_close(reader);
    summary->damaged += rc < 0;
    summary->bytes += stream->size;
}

static void count_process(struct summary *summary,
                          const struct cunei_trace_process *process)
{
    const struct cunei_process *description = &process->description;

    for (size_t i = 0; i < process->stream_count; i++)
        count_stream(summary, process, &process->streams[i]);
    summary->bytes += cunei_trace_file_size(process, CUNEI_METADATA_NAME);
    summary->lost += description->lost;
    summary->lost_no_stream += description->lost_no_stream;
    summary->lost_no_function += description->lost_no_function;
    summary->full |= description->full;
    if (description->stop_errno)
        summary->stop_errno = (int)description->stop_errno;
}

/* Processes that could not record have left a file or a message. */
static void collect_refusals(const struct cunei_recorded_run *recording,
                             struct cunei_refusals *refusals)
{
    cunei_refusal_receive(recording->directory, &recording->directory_id,
                          recording->listener, recording->secret, refusals);
}

static void note_refusals(const struct cunei_refusals *refusals)
{
    struct cunei_buffer why = {0};

    if (refusals->count == 0)
        return;
    cunei_refusals_format(refusals, &why);
    if (refusals->count == 1)
        cunei_cmd_note("one process could not be recorded: %s", why.data);
    else
        cunei_cmd_note("%zu processes could not be recorded: %s", refusals->count,
                       why.data);
    cunei_buffer_fini(&why);
}

static void forget_found(const struct cunei_trace *trace,
                         struct cunei_refusals *refusals)
{
    for (size_t i = 0; i < trace->process_count; i++)
        cunei_refusals_remove_recorded(refusals, trace->processes[i].metadata.pid);
}

/* Append why events are missing; nothing where none are. */
static void explain(const struct summary *summary, struct cunei_buffer *why)
{
    if (summary->full && summary->stop_errno == ENOSPC)
        cunei_buffer_append_text(why, "recording stopped: the file system has less "
                                      "than 1 GiB or 5 % free");
    else if (summary->full && summary->stop_errno == EFBIG)
        cunei_buffer_append_text(why, "recording stopped: a file reached the size that "
                                      "'ulimit -f' allows");
    else if (summary->full && summary->stop_errno)
        cunei_buffer_format(why, "recording stopped: %s",
                            strerror(summary->stop_errno));
    else if (summary->full)
        cunei_buffer_append_text(why, "recording stopped: --max-size was reached");
    else if (summary->lost_no_stream)
        cunei_buffer_append_text(
            why, "events were lost: a thread could not be recorded, because "
                 "memory, disk space or permissions were missing");
    else if (summary->lost_no_function)
        cunei_buffer_append_text(
            why, "events were lost: the table of functions, or of names "
                 "of regions and counters, was full");
    else if (summary->lost && summary->stop_errno)
        cunei_buffer_format(why, "events were lost: %s",
                            cunei_write_failure_text(summary->stop_errno));
    else if (summary->lost)
        cunei_buffer_append_text(why, "events were lost: they could not be written");
    else if (summary->damaged)
        cunei_buffer_append_text(why, "part of the trace cannot be read");
}

/* Why the processes could not record. */
static void note_refused(const struct cunei_recorded_run *recording, int reason)
{
    struct cunei_buffer why = {0};
    bool is_written = reason != CUNEI_REFUSAL_MONITORING &&
                      reason != CUNEI_REFUSAL_MOVED &&
                      reason != CUNEI_REFUSAL_REPLACED && reason < CUNEI_REFUSAL_PYDEVD;

    if (is_written)
        cunei_buffer_format(&why, "'%s' could not be written to: ", recording->shown);
    cunei_refusal_reason_format(reason, &why);
    cunei_cmd_note("nothing was recorded: %s", why.data);
    cunei_buffer_fini(&why);
}

/* `place`: what cunei_trace_directory_check returned. */
static void note_nothing_recorded(const struct cunei_recorded_run *recording,
                                  const struct cunei_refusals *refusals, int place)
{
    const char *name = recording->program.name;
    bool has_reason = refusals->count &&
                      refusals->items[0].reason != CUNEI_REFUSAL_MOVED &&
                      refusals->items[0].reason != CUNEI_REFUSAL_REPLACED;

    if (!has_reason && place == -ENOENT)
        cunei_cmd_note("the trace is not in '%s': the directory was moved or removed",
                       recording->shown);
    else if (!has_reason && place == -ESTALE)
        cunei_cmd_note("the trace is not in '%s': another file or directory has its "
                       "place",
                       recording->shown);
    else if (refusals->count)
        note_refused(recording, refusals->items[0].reason);
    else if (recording->options->no_children && !recording->program.python)
        cunei_cmd_note("nothing was recorded: '%s' is not a Python program, and "
                       "--no-children excludes the Pythons that it starts",
                       name);
    else if (recording->program.python)
        cunei_cmd_note("nothing was recorded: '%s' ended before its first line, or "
                       "removed " CUNEI_RECORD_ENV_VARIABLE " from its environment",
                       name);
    else
        cunei_cmd_note(
            "nothing was recorded: '%s' started no Python with cunei installed", name);
}

static void note_counts(const struct cunei_recorded_run *recording,
                        const struct summary *summary)
{
    struct cunei_buffer text = {0}, why = {0};

    cunei_format_several(&text, summary->count.events, "event");
    cunei_buffer_append_text(&text, ", ");
    cunei_format_several(&text, summary->count.calls, "call");
    cunei_buffer_append_text(&text, ", ");
    if (summary->lacks_folder)
        cunei_buffer_append_text(&text, "an unknown number");
    else
        cunei_format_count(&text, summary->lost);
    cunei_buffer_append_text(&text, " lost, ");
    cunei_format_size(&text, summary->bytes);
    if (!text.failed)
        cunei_cmd_note("%s in %s", text.data, recording->shown);
    explain(summary, &why);
    if (why.size)
        cunei_cmd_note("%s", why.data);
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&why);
}

/* Daemons, for example: cunei does not wait for them. */
static void note_running(const struct cunei_trace *trace)
{
    uint64_t pid = 0;
    unsigned count = 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        if (trace->processes[i].state == CUNEI_TRACE_RUNNING) {
            pid = trace->processes[i].metadata.pid;
            count++;
        }
    }
    if (count == 1)
        cunei_cmd_note("process %" PRIu64 " is still running and being recorded", pid);
    else if (count)
        cunei_cmd_note("%u processes are still running and being recorded, for example "
                       "%" PRIu64,
                       count, pid);
}

/*
 * The Pythons that a command starts are known after it has run; only then can their
 * limits be printed.
 */
static void note_limits(const struct cunei_recorded_run *recording,
                        const struct cunei_trace *trace)
{
    uint64_t noted = UINT64_C(1) << recording->python.minor;

    for (size_t i = 0; i < trace->process_count; i++) {
        struct cunei_python_version version;
        if (!cunei_python_version_parse(trace->processes[i].description.python,
                                        &version) ||
            version.minor > 63 || noted >> version.minor & 1)
            continue;
        noted |= UINT64_C(1) << version.minor;
        cunei_recorded_run_note_limits(recording, &version);
    }
}

static void note_lost_hooks(const struct cunei_trace *trace)
{
    struct cunei_lost_hooks lost_hooks = {0};
    struct cunei_buffer text = {0};

    for (size_t i = 0; i < trace->process_count; i++)
        cunei_lost_hooks_add(&lost_hooks, &trace->processes[i].description);
    if (cunei_lost_hooks_format(&lost_hooks, &text))
        cunei_cmd_note("%s; try another --instrumenter", text.data);
    cunei_buffer_clear(&text);
    if (cunei_lost_hooks_format_decorated(&lost_hooks, &text))
        cunei_cmd_note("%s", text.data);
    cunei_buffer_fini(&text);
}

/* Patterns that matched no function. */
static void note_unmatched(const struct cunei_recorded_run *run,
                           const struct cunei_trace *trace)
{
    const struct cunei_record_options *options = run->options;
    const char *package = run->python.package ? run->python.package : "";
    const char *slash = strrchr(package, '/');
    char *own = cunei_program_folder(&run->program);
    char *installed = slash ? strndup(package, (size_t)(slash - package)) : NULL;
    const char *const folders[] = {own, run->python.stdlib, installed};
    const struct cunei_pattern_request request = {
        .selection = &options->patterns,
        .arguments = &options->arguments,
        .results = &options->results,
        .lines = &options->lines,
        .calls = cunei_record_options_instrumenter(options) != CUNEI_INSTRUMENTER_NONE,
        .c_calls = options->c_calls,
        .folders = folders,
        .folder_count = sizeof(folders) / sizeof(folders[0]),
    };
    struct cunei_buffer notes = {0};

    cunei_suggest_patterns(&request, trace, &notes);
    for (size_t at = 0; at < notes.size; at += strlen(notes.data + at) + 1)
        cunei_cmd_note("%s", notes.data + at);
    cunei_buffer_fini(&notes);
    free(own);
    free(installed);
}

static void count_trace(const struct cunei_recorded_run *recording,
                        const struct cunei_trace *trace)
{
    struct summary summary = {.progress = {.what = "counting"}};

    collect_refusals(recording, &summary.refusals);
    forget_found(trace, &summary.refusals);
    summary.lacks_folder =
        cunei_refusals_count(&summary.refusals, CUNEI_REFUSAL_MOVED) > 0;
    for (size_t i = 0; i < trace->process_count; i++) {
        for (size_t j = 0; j < trace->processes[i].stream_count; j++)
            summary.total_bytes += trace->processes[i].streams[j].size;
    }
    for (size_t i = 0; i < trace->process_count; i++)
        count_process(&summary, &trace->processes[i]);
    cunei_progress_bar_clear(&summary.progress);
    note_counts(recording, &summary);
    note_unmatched(recording, trace);
    note_lost_hooks(trace);
    note_refusals(&summary.refusals);
    note_limits(recording, trace);
    note_running(trace);
    cunei_refusals_fini(&summary.refusals);
}

/* What cannot be read is not removed: metadata that vanished may be found again. */
static int remove_unused(const struct cunei_recorded_run *recording)
{
    return cunei_trace_directory_remove_unused(
        recording->directory, &recording->directory_id, recording->directory_existed);
}

static int load(const struct cunei_recorded_run *recording, bool quiet,
                struct cunei_trace *trace)
{
    struct cunei_trace_error error;
    struct cunei_refusals refusals = {0};
    int place =
        cunei_trace_directory_check(recording->directory, &recording->directory_id);

    int rc =
        place < 0 ? place : cunei_cmd_load_trace(recording->directory, trace, &error);
    bool is_empty = rc == -ENODATA || rc == -ENOENT || rc == -ESTALE;
    if (is_empty && !quiet)
        collect_refusals(recording, &refusals);
    if (is_empty && place == 0) {
        place = remove_unused(recording);
        is_empty = place != -EEXIST;
    }
    if (rc < 0 && !is_empty)
        (void)cunei_cmd_fail_to_open(rc, recording->shown, &error);
    else if (rc < 0 && !quiet)
        note_nothing_recorded(recording, &refusals, place);
    cunei_refusals_fini(&refusals);
    return rc;
}

void cunei_summary_print(const struct cunei_recorded_run *recording, bool quiet)
{
    struct cunei_trace trace;

    if (load(recording, quiet, &trace) < 0)
        return;
    if (!quiet)
        count_trace(recording, &trace);
    cunei_trace_close(&trace);
}

bool cunei_summary_print_problems(const struct cunei_recorded_run *recording,
                                  bool quiet)
{
    struct cunei_trace trace;
    struct cunei_refusals refusals = {0};

    if (load(recording, quiet, &trace) < 0)
        return false;
    if (!quiet) {
        collect_refusals(recording, &refusals);
        forget_found(&trace, &refusals);
        note_unmatched(recording, &trace);
        note_refusals(&refusals);
        note_limits(recording, &trace);
        cunei_refusals_fini(&refusals);
    }
    cunei_trace_close(&trace);
    return true;
}
