// SPDX-License-Identifier: MIT
#include "report/notes.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/function_numbers.h"
#include "report/budget_estimates.h"
#include "report/kept.h"
#include "report/losses.h"
#include "report/note.h"
#include "report/section.h"
#include "report/sections.h"
#include "text/format.h"
#include "text/paragraph.h"
#include "text/terminal_text.h"

/* The functions that a note names. */
#define NAMES_MAX 4u
/* The threads that a note shows open functions of. */
#define THREADS_MAX 4u

static void format_safe_name(const struct cunei_report *report, uint32_t function,
                             struct cunei_buffer *out)
{
    struct cunei_buffer name = {0};

    cunei_report_name(report, function, &name);
    cunei_terminal_text(out, cunei_buffer_text(&name), 40);
    cunei_buffer_fini(&name);
}

/* The function with the most exceptions after function `last`, or UINT32_MAX. */
static uint32_t next_raiser(const struct cunei_analysis *analysis, uint32_t last)
{
    uint64_t limit = last == UINT32_MAX ? UINT64_MAX : analysis->facts[last].raised;
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        uint64_t raised = analysis->facts[i].raised;
        bool is_after = raised < limit || (raised == limit && i > last);
        if (raised > 0 && is_after && i != last &&
            (best == UINT32_MAX || raised > analysis->facts[best].raised))
            best = i;
    }
    return best;
}

/* The module comes first where another of the named functions has the same name. */
static void format_raiser(const struct cunei_report *report, const uint32_t *named,
                          unsigned count, unsigned index, struct cunei_buffer *out)
{
    const struct cunei_function *items = report->analysis->functions.items;
    const struct cunei_function *function = &items[named[index]];
    bool is_double = false;

    for (unsigned i = 0; i < count; i++)
        is_double |=
            i != index && strcmp(items[named[i]].qualname, function->qualname) == 0;
    if (is_double && function->module) {
        cunei_terminal_text(out, function->module, 40);
        cunei_buffer_append_text(out, ":");
    }
    format_safe_name(report, named[index], out);
}

/* So many closed generators hide the exceptions that people look for. */
#define GENERATORS_MIN 100u

/* Closing a generator ends its call with GeneratorExit, for example inside `any(…)`. */
static bool is_about_generators(const struct cunei_analysis *analysis)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (analysis->facts[i].resumes > 0)
            count += analysis->facts[i].raised;
    }
    return count >= GENERATORS_MIN && count > analysis->raised / 2;
}

/* Exceptions of sampled functions are recorded only in part. */
static bool has_raised_more(const struct cunei_analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (analysis->facts[i].raised > 0 &&
            cunei_function_is_estimated(&analysis->facts[i]))
            return true;
    }
    return false;
}

static int note_raised(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_paragraph note;
    struct cunei_buffer words = {0};
    uint32_t named[NAMES_MAX], function = UINT32_MAX;
    unsigned count = 0;

    if (analysis->raised == 0 || report->choice->is_asked || report->is_brief)
        return 0;
    while (count < NAMES_MAX) {
        function = next_raiser(analysis, function);
        if (function == UINT32_MAX)
            break;
        named[count++] = function;
    }
    cunei_note_begin(&note, report, "raised", CUNEI_INK_DIM);
    if (has_raised_more(analysis))
        cunei_buffer_append_text(&words, "≥ ");
    cunei_format_several(&words, analysis->raised, "call");
    cunei_buffer_append_text(&words, " ended with an exception:");
    cunei_note_sentence(&note, &words);
    for (unsigned i = 0; i < count; i++) {
        format_raiser(report, named, count, i, &words);
        const struct cunei_analysis_function *facts = &analysis->facts[named[i]];
        cunei_buffer_append_text(&words,
                                 cunei_function_is_estimated(facts) ? " ≥ " : " ");
        cunei_format_count(&words, facts->raised);
        cunei_note_words(&note, i > 0 ? ", " : " ", &words);
    }
    if (function != UINT32_MAX && next_raiser(analysis, function) != UINT32_MAX)
        cunei_paragraph_put(&note, ", ", CUNEI_INK_PLAIN, "…");
    if (is_about_generators(analysis)) {
        cunei_paragraph_put(&note, "; ", CUNEI_INK_PLAIN, "most of them are");
        cunei_paragraph_put(&note, " ", CUNEI_INK_PLAIN, "generators that were closed");
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

static int note_open_thread(const struct cunei_report *report,
                            const struct cunei_analysis_thread *thread, bool is_first)
{
    struct cunei_paragraph note;
    struct cunei_buffer words = {0};

    cunei_note_begin(&note, report, is_first ? "open" : "", CUNEI_INK_DIM);
    cunei_terminal_text(&words, thread->name[0] ? thread->name : "thread", 24);
    if (!thread->name[0])
        cunei_buffer_format(&words, " %" PRIu32, thread->tid);
    cunei_buffer_append_text(&words, ":");
    cunei_note_words(&note, "", &words);
    uint32_t first =
        thread->open_count > NAMES_MAX ? thread->open_count - NAMES_MAX : 0;
    if (first > 0 || thread->open_depth > thread->open_count)
        cunei_paragraph_put(&note, " ", CUNEI_INK_DIM, "…");
    for (uint32_t i = first; i < thread->open_count; i++) {
        format_safe_name(report, thread->open[i], &words);
        cunei_note_words(&note, i == 0 ? " " : " › ", &words);
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

static int note_open(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    unsigned shown = 0, count = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < analysis->thread_count; i++) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        const struct cunei_trace_process *process =
            analysis->processes[thread->process].process;
        /* os._exit leaves functions open, as the program intends. */
        if (thread->open_depth == 0 || process->description.left ||
            (report->is_brief && process->state == CUNEI_TRACE_ENDED))
            continue;
        if (count++ < THREADS_MAX) {
            rc = note_open_thread(report, thread, shown == 0);
            shown++;
        }
    }
    if (count > shown)
        (void)fprintf(report->out, "%*s… and %u more threads\n", CUNEI_NOTE_INDENT, "",
                      count - shown);
    return rc;
}

enum {
    PATTERNS_SHOWN = 4
};

/* How often and how long the program switched recording off. */
static int note_pauses(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};

    if (analysis->pauses == 0)
        return 0;
    cunei_buffer_append_text(&words, "the program switched recording of calls off ");
    cunei_format_several(&words, analysis->pauses, "time");
    if (analysis->paused_ns > 0) {
        cunei_buffer_append_text(&words, ", for ");
        cunei_format_duration(&words, analysis->paused_ns);
    }
    if (analysis->ends_paused)
        cunei_buffer_append_text(&words, analysis->pauses > 1
                                             ? ", the last time until the end"
                                             : ", until the end");
    return cunei_note_print(report, "paused", CUNEI_INK_WARM, &words);
}

/* The patterns of the recording, and their effect on the numbers. */
static int note_filter(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_process *process = NULL;
    struct cunei_buffer words = {0};

    for (size_t i = 0; i < analysis->process_count && !process; i++) {
        if (analysis->processes[i].process->description.pattern_count > 0)
            process = &analysis->processes[i].process->description;
    }
    if (!process)
        return 0;
    for (size_t i = 0; i < process->pattern_count && i < PATTERNS_SHOWN; i++) {
        cunei_buffer_format(&words, "%s%c", i ? " " : "", process->patterns[i][0]);
        cunei_terminal_text(&words, process->patterns[i] + 1, 40);
    }
    if (process->pattern_count > PATTERNS_SHOWN)
        cunei_buffer_format(&words, " and %zu more",
                            process->pattern_count - PATTERNS_SHOWN);
    cunei_buffer_append_text(&words,
                             "; the time of excluded functions counts as self time of "
                             "their caller");
    return cunei_note_print(report, "filter", CUNEI_INK_WARM, &words);
}

/* Functions that a forked process continues have time in it, but no call. */
static int note_inherited(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    size_t count = 0;

    for (size_t i = 0; i < analysis->process_count; i++)
        count += analysis->processes[i].inherits;
    if (count == 0)
        return 0;
    cunei_format_several(&words, count, "process");
    cunei_buffer_append_text(&words,
                             " continued functions that the parent had called: their "
                             "time there counts in self and total, but not as a call");
    return cunei_note_print(report, "forked", CUNEI_INK_DIM, &words);
}

/* Marked functions were open when recording began. */
static int note_attached(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    size_t count = 0;

    for (uint32_t i = 0; i < analysis->functions.count; i++)
        count += analysis->facts[i].was_open;
    if (count == 0)
        return 0;
    cunei_buffer_append_text(&words, "recording began while the program was running: ");
    cunei_format_several(&words, count, "function");
    cunei_buffer_append_text(&words, count == 1 ? " was" : " were");
    cunei_buffer_append_text(&words,
                             " open (marked * before calls): that call is not counted, "
                             "its time is from then on");
    return cunei_note_print(report, "attached", CUNEI_INK_DIM, &words);
}

static int note_collections(const struct cunei_report *report)
{
    const struct cunei_gc_pauses *all = &report->analysis->collections;
    uint64_t count = cunei_gc_pauses_count(all);
    struct cunei_buffer words = {0};

    if (count == 0 || report->choice->is_asked || report->is_brief)
        return 0;
    cunei_format_several(&words, count, "collection");
    cunei_buffer_append_text(&words, ", ");
    cunei_format_count(&words, all->count[CUNEI_GENERATIONS - 1]);
    cunei_buffer_append_text(&words, " of them full, paused the program for ");
    cunei_format_duration(&words, all->pause);
    cunei_buffer_append_text(&words, ", at most ");
    cunei_format_duration(&words, all->pause_max);
    cunei_buffer_append_text(&words, " each, and freed ");
    cunei_format_several(&words, all->collected, "object");
    if (all->uncollectable > 0) {
        cunei_buffer_append_text(&words, "; ");
        cunei_format_count(&words, all->uncollectable);
        cunei_buffer_append_text(&words, " could not be freed");
    }
    return cunei_note_print(report, "gc", CUNEI_INK_DIM, &words);
}

/* A word, quoted for the shell if necessary. */
static void format_word(const char *word, struct cunei_buffer *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./+,:@%";

    if (word[0] && word[strspn(word, plain)] == '\0')
        cunei_buffer_append_text(out, word);
    else
        cunei_buffer_format(out, "'%s'", word);
}

/* The options of the other sections that have rows. */
static void put_sections(struct cunei_paragraph *note,
                         const struct cunei_report *report)
{
    struct cunei_buffer words = {0};
    bool is_first = true;

    for (size_t i = 0; cunei_report_sections[i]; i++) {
        const struct cunei_report_section *section = cunei_report_sections[i];
        if (section == report->section || !section->help ||
            (section->has_rows && !section->has_rows(report->analysis)))
            continue;
        cunei_buffer_format(&words, "--%s%s%s", section->name,
                            section->value ? " " : "",
                            section->value ? section->value : "");
        cunei_note_words(note, is_first ? " " : " | ", &words);
        is_first = false;
    }
    cunei_buffer_fini(&words);
}

static int note_next(const struct cunei_report *report,
                     const struct cunei_report_rows *rows)
{
    const struct cunei_report_options *options = report->options;
    struct cunei_paragraph note;
    struct cunei_buffer words = {0};

    cunei_note_begin(&note, report, "next", CUNEI_INK_DIM);
    if (options->directory) {
        cunei_buffer_append_text(&words, "cunei report ");
        format_word(options->directory, &words);
        cunei_note_words(&note, "", &words);
    } else {
        cunei_buffer_append_text(
            &words, "keep the trace with --save DIR, then: cunei report DIR");
        cunei_note_sentence(&note, &words);
    }
    put_sections(&note, report);
    if (options->directory && rows->shown < rows->count) {
        cunei_buffer_append_text(&words, "--limit 0 (all ");
        cunei_format_count(&words, rows->count);
        cunei_buffer_append_text(&words, ")");
        cunei_note_words(&note, " | ", &words);
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

int cunei_report_print_notes(const struct cunei_report *report,
                             const struct cunei_report_rows *rows)
{
    static int (*const notes[])(const struct cunei_report *report) = {
        cunei_report_print_kept,
        note_filter,
        note_inherited,
        note_attached,
        note_pauses,
        note_raised,
        note_open,
        note_collections,
        cunei_report_print_estimates,
        cunei_report_print_losses,
    };
    const struct cunei_report_section *section = report->section;

    (void)fputc('\n', report->out);
    int rc = section->print_notes ? section->print_notes(report) : 0;
    for (size_t i = 0; rc == 0 && i < sizeof(notes) / sizeof(notes[0]); i++)
        rc = notes[i](report);
    return rc < 0 ? rc : note_next(report, rows);
}
