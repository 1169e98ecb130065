// SPDX-License-Identifier: MIT
#include "report/losses.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "python/refusal_reason.h"
#include "report/lost_hooks.h"
#include "report/note.h"
#include "report/section.h"
#include "text/format.h"
#include "text/width.h"

static const char *loss_reason(const struct cunei_process *process)
{
    if (process->full && process->stop_errno == 0)
        return "the limit of --max-size was reached";
    if (process->full && process->stop_errno == ENOSPC)
        return "the file system has less than 1 GiB or 5 % free";
    if (process->full && process->stop_errno == EFBIG)
        return "a file reached the size that 'ulimit -f' allows";
    if (process->full)
        return strerror((int)(process->stop_errno & 0xff));
    if (process->lost_no_stream > 0)
        return "no stream could be made for a thread: no memory, no space or no rights";
    if (process->lost_no_function > 0)
        return "no room for more functions, or for more names of regions and counters";
    return NULL;
}

static int note_losses(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    int rc = 0;

    if (analysis->lost > 0) {
        const char *reason = NULL;
        for (size_t i = 0; !reason && i < analysis->process_count; i++)
            reason = loss_reason(&analysis->processes[i].process->description);
        cunei_format_several(&words, analysis->lost, "event");
        cunei_buffer_format(&words, " not recorded%s%s", reason ? ": " : "",
                            reason ? reason : "");
        rc = cunei_note_print(report, "lost", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && analysis->missing_packets > 0) {
        cunei_format_several(&words, analysis->missing_packets, "packet");
        cunei_buffer_append_text(&words, " not in the stream files");
        rc = cunei_note_print(report, "missing", CUNEI_INK_BAD, &words);
    }
    for (size_t i = 0;
         rc == 0 && i < analysis->damage_count && i < CUNEI_ANALYSIS_DAMAGES_MAX; i++) {
        cunei_format_text(&words, analysis->damages[i].text, SIZE_MAX);
        rc = cunei_note_print(report, "damaged", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && analysis->orphans + analysis->unclosed + analysis->appeared > 0) {
        uint64_t ends = analysis->orphans + analysis->appeared;
        if (ends > 0) {
            cunei_format_several(&words, ends, "end");
            cunei_buffer_format(&words, " of calls without a beginning%s",
                                analysis->unclosed > 0 ? ", " : "");
        }
        if (analysis->unclosed > 0) {
            cunei_format_several(&words, analysis->unclosed, "beginning");
            cunei_buffer_append_text(&words, " without an end");
        }
        rc = cunei_note_print(report, "unmatched", CUNEI_INK_BAD, &words);
    }
    return rc;
}

/* One sentence each, however many processes it is about. */
static int note_processes(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_report_options *options = report->options;
    uint64_t killed = 0, interpreters = 0;
    struct cunei_lost_hooks taken = {0};
    struct cunei_buffer words = {0};
    int rc = 0;

    for (size_t i = 0; i < analysis->process_count; i++) {
        killed += analysis->processes[i].process->state == CUNEI_TRACE_KILLED;
        interpreters += analysis->processes[i].process->description.interpreters;
        cunei_lost_hooks_add(&taken, &analysis->processes[i].process->description);
    }
    if (killed > 0 && analysis->process_count > 1) {
        cunei_format_several(&words, killed, "process");
        cunei_buffer_append_text(&words, killed == 1 ? " was" : " were");
        cunei_buffer_append_text(
            &words, " killed; what was recorded up to that moment is here");
        rc = cunei_note_print(report, "killed", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && interpreters > 0) {
        cunei_format_several(&words, interpreters, "subinterpreter");
        cunei_buffer_append_text(&words, interpreters == 1 ? " was" : " were");
        cunei_buffer_append_text(&words, " not recorded: only main interpreters are");
        rc = cunei_note_print(report, "not seen", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && cunei_lost_hooks_format(&taken, &words))
        rc = cunei_note_print(report, "not seen", CUNEI_INK_BAD, &words);
    if (rc == 0 && cunei_lost_hooks_format_unheard(&taken, &words))
        rc = cunei_note_print(report, "not seen", CUNEI_INK_BAD, &words);
    if (rc == 0 && options->refused > 0) {
        cunei_format_several(&words, options->refused, "process");
        cunei_buffer_append_text(&words, " could not be recorded");
        if (options->refused_errno != 0) {
            cunei_buffer_append_text(&words, ": ");
            cunei_refusal_reason_format(options->refused_errno, &words);
        }
        rc = cunei_note_print(report, "not seen", CUNEI_INK_BAD, &words);
    }
    return rc;
}

/* What the program has done wrong with what it says itself, which harmed nothing. */
static int note_misuse(const struct cunei_report *report)
{
    uint64_t count = report->analysis->misused;
    struct cunei_buffer words = {0};

    if (count == 0)
        return 0;
    cunei_format_several(&words, count, "call");
    cunei_buffer_format(&words,
                        " of cunei's functions made no sense, as a region_end without "
                        "its region_begin; --marks tells which");
    return cunei_note_print(report, "misused", CUNEI_INK_BAD, &words);
}

int cunei_report_print_losses(const struct cunei_report *report)
{
    int rc = note_losses(report);

    rc = rc < 0 ? rc : note_processes(report);
    return rc < 0 ? rc : note_misuse(report);
}
