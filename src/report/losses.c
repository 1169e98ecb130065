// SPDX-License-Identifier: MIT
#include "report/losses.h"

#include <errno.h>

#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "report/lost_hooks.h"
#include "report/note.h"
#include "report/section.h"
#include "text/format.h"
#include "text/terminal_text.h"

/* Why a process could not write; NULL: it could, or the reason is unknown. */
static const char *stop_reason(const struct cunei_process *process)
{
    if (process->stop_errno == 0)
        return process->full ? "the limit of --max-size was reached" : NULL;
    if (process->stop_errno == ENOSPC)
        return "the file system has less than 1 GiB or 5 % free";
    if (process->stop_errno == EFBIG)
        return "a file reached the limit of 'ulimit -f'";
    return cunei_write_failure_text((int)(process->stop_errno & 0xff));
}

static const char *loss_reason(const struct cunei_process *process)
{
    const char *reason = stop_reason(process);

    if (reason)
        return reason;
    if (process->lost_no_stream > 0)
        return "a thread could not be recorded: no memory, no disk space or no "
               "permission";
    if (process->lost_no_function > 0)
        return "there are too many functions, or names of regions and counters";
    return NULL;
}

/* The reason of the first process that has one, or NULL. */
static const char *find_reason(const struct cunei_analysis *analysis,
                               const char *(*reason_of)(const struct cunei_process *))
{
    const char *reason = NULL;

    for (size_t i = 0; !reason && i < analysis->process_count; i++)
        reason = reason_of(&analysis->processes[i].process->description);
    return reason;
}

static int note_lost(const struct cunei_report *report)
{
    const char *reason = find_reason(report->analysis, loss_reason);
    struct cunei_buffer words = {0};

    if (report->analysis->lost == 0)
        return 0;
    cunei_format_several(&words, report->analysis->lost, "event");
    cunei_buffer_format(&words, " not recorded%s%s", reason ? ": " : "",
                        reason ? reason : "");
    return cunei_note_print(report, "lost", CUNEI_INK_BAD, &words);
}

/* The events of dropped packets also count as lost.  Only the live file has the reason.
 */
static int note_dropped(const struct cunei_report *report)
{
    const char *reason = find_reason(report->analysis, stop_reason);
    struct cunei_buffer words = {0};

    if (report->analysis->dropped_packets == 0)
        return 0;
    cunei_format_several(&words, report->analysis->dropped_packets, "packet");
    cunei_buffer_format(&words, " dropped: %s",
                        reason ? reason : "they could not be written");
    return cunei_note_print(report, "dropped", CUNEI_INK_BAD, &words);
}

static int note_missing(const struct cunei_report *report)
{
    struct cunei_buffer words = {0};

    if (report->analysis->missing_packets == 0)
        return 0;
    cunei_format_several(&words, report->analysis->missing_packets, "packet");
    cunei_buffer_append_text(&words, " missing in the stream files");
    return cunei_note_print(report, "missing", CUNEI_INK_BAD, &words);
}

static int note_damages(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    int rc = 0;

    for (size_t i = 0;
         rc == 0 && i < analysis->damage_count && i < CUNEI_ANALYSIS_DAMAGES_MAX; i++) {
        cunei_terminal_text(&words, analysis->damages[i].text, SIZE_MAX);
        rc = cunei_note_print(report, "damaged", CUNEI_INK_BAD, &words);
    }
    return rc;
}

static int note_unmatched(const struct cunei_report *report)
{
    uint64_t calls = report->analysis->unclosed;
    uint64_t returns = report->analysis->orphans + report->analysis->appeared;
    struct cunei_buffer words = {0};

    if (calls + returns == 0)
        return 0;
    if (returns > 0) {
        cunei_format_several(&words, returns, "return");
        cunei_buffer_format(&words, " without a call%s", calls > 0 ? ", " : "");
    }
    if (calls > 0) {
        cunei_format_several(&words, calls, "call");
        cunei_buffer_append_text(&words, " without a return");
    }
    return cunei_note_print(report, "unmatched", CUNEI_INK_BAD, &words);
}

/* Processes that were cut off; of a single one the title shows it. */
static int note_killed(const struct cunei_report *report, uint64_t count,
                       const char *word, const char *by, enum cunei_ink ink)
{
    struct cunei_buffer words = {0};

    if (count == 0 || report->analysis->process_count == 1)
        return 0;
    cunei_format_several(&words, count, "process");
    cunei_buffer_format(&words, " %s %s%s; the events recorded before are shown",
                        count == 1 ? "was" : "were", word, by);
    return cunei_note_print(report, word, ink, &words);
}

/* Each note counts the processes that it is about. */
static int note_processes(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    uint64_t killed = 0, terminated = 0, interpreters = 0;
    struct cunei_lost_hooks lost = {0};
    struct cunei_buffer words = {0};

    for (size_t i = 0; i < analysis->process_count; i++) {
        enum cunei_trace_state state = analysis->processes[i].process->state;
        killed += state == CUNEI_TRACE_KILLED;
        terminated += state == CUNEI_TRACE_TERMINATED;
        interpreters += analysis->processes[i].process->description.interpreters;
        cunei_lost_hooks_add(&lost, &analysis->processes[i].process->description);
    }
    int rc = note_killed(report, killed, "killed", "", CUNEI_INK_BAD);
    if (rc == 0)
        rc = note_killed(report, terminated, "terminated",
                         terminated == 1 ? " by its parent" : " by their parents",
                         CUNEI_INK_DIM);
    if (rc == 0 && interpreters > 0) {
        cunei_format_several(&words, interpreters, "subinterpreter");
        cunei_buffer_append_text(&words, interpreters == 1 ? " was" : " were");
        cunei_buffer_append_text(&words,
                                 " not recorded: cunei records main interpreters only");
        rc = cunei_note_print(report, "unrecorded", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && cunei_lost_hooks_format(&lost, &words))
        rc = cunei_note_print(report, "unrecorded", CUNEI_INK_BAD, &words);
    if (rc == 0 && cunei_lost_hooks_format_decorated(&lost, &words))
        rc = cunei_note_print(report, "unrecorded", CUNEI_INK_BAD, &words);
    return rc;
}

static int note_refusals(const struct cunei_report *report)
{
    const struct cunei_refusals *refusals = report->options->refusals;
    struct cunei_buffer words = {0};

    if (!refusals || refusals->count == 0)
        return 0;
    cunei_format_several(&words, refusals->count, "process");
    cunei_buffer_append_text(&words, " could not be recorded: ");
    cunei_refusals_format(refusals, &words);
    return cunei_note_print(report, "unrecorded", CUNEI_INK_BAD, &words);
}

/* Wrong calls of cunei's functions by the program; they had no other effect. */
static int note_misuse(const struct cunei_report *report)
{
    uint64_t count = report->analysis->misused;
    struct cunei_buffer words = {0};

    if (count == 0)
        return 0;
    cunei_format_several(&words, count, "call");
    cunei_buffer_format(&words,
                        " of cunei's functions had no effect, for example region_end "
                        "without region_begin; --marks lists them");
    return cunei_note_print(report, "misused", CUNEI_INK_BAD, &words);
}

int cunei_report_print_losses(const struct cunei_report *report)
{
    static int (*const notes[])(const struct cunei_report *report) = {
        note_lost,      note_dropped,   note_missing,  note_damages,
        note_unmatched, note_processes, note_refusals, note_misuse,
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(notes) / sizeof(notes[0]); i++)
        rc = notes[i](report);
    return rc;
}
