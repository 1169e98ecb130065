// SPDX-License-Identifier: MIT
/* The notes below a report: what it leaves out, what went wrong, what to do next. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/call_tree.h"
#include "report/note.h"
#include "text/format.h"
#include "text/paragraph.h"
#include "text/width.h"

/* How many functions a note names. */
#define NAMES_MAX 4u
/* How many threads with open functions it shows. */
#define THREADS_MAX 4u

static void format_safe_name(const struct cunei_report *report, uint32_t function,
                             struct cunei_buffer *out)
{
    struct cunei_buffer name = {0};

    cunei_report_name(report, function, &name);
    cunei_format_text(out, name.data ? name.data : "", 40);
    cunei_buffer_fini(&name);
}

/* The function that raised most after those named already, or UINT32_MAX. */
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

/* With its module where another of those that are named is called the same. */
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
        cunei_format_text(out, function->module, 40);
        cunei_buffer_append_text(out, ":");
    }
    format_safe_name(report, named[index], out);
}

/* So many that they crowd out the exceptions that people look for. */
#define GENERATORS_MIN 100u

/* Who closes a generator has it end by a GeneratorExit, which `any(…)` does, too. */
static bool is_about_generators(const struct cunei_analysis *analysis)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (analysis->facts[i].resumes > 0)
            count += analysis->facts[i].raised;
    }
    return count >= GENERATORS_MIN && count > analysis->raised / 2;
}

/* Of functions that were demoted not all were recorded. */
static bool has_raised_more(const struct cunei_analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (analysis->facts[i].raised > 0 &&
            cunei_report_is_estimated(&analysis->facts[i]))
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

    if (analysis->raised == 0)
        return 0;
    while (count < NAMES_MAX) {
        function = next_raiser(analysis, function);
        if (function == UINT32_MAX)
            break;
        named[count++] = function;
    }
    cunei_note_begin(&note, report, "raised", CUNEI_INK_DIM);
    cunei_buffer_format(&words, "exceptions left functions %s",
                        has_raised_more(analysis) ? "≥ " : "");
    cunei_format_several(&words, analysis->raised, "time");
    cunei_buffer_append_text(&words, ":");
    cunei_note_sentence(&note, &words);
    for (unsigned i = 0; i < count; i++) {
        format_raiser(report, named, count, i, &words);
        const struct cunei_analysis_function *facts = &analysis->facts[named[i]];
        cunei_buffer_append_text(&words,
                                 cunei_report_is_estimated(facts) ? " ≥ " : " ");
        cunei_format_count(&words, facts->raised);
        cunei_note_words(&note, i > 0 ? ", " : " ", &words);
    }
    if (function != UINT32_MAX && next_raiser(analysis, function) != UINT32_MAX)
        cunei_paragraph_put(&note, ", ", CUNEI_INK_PLAIN, "…");
    if (is_about_generators(analysis)) {
        cunei_paragraph_put(&note, "; ", CUNEI_INK_PLAIN, "most of them generators,");
        cunei_paragraph_put(&note, " ", CUNEI_INK_PLAIN, "which end so when they are");
        cunei_paragraph_put(&note, " ", CUNEI_INK_PLAIN, "closed");
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
    cunei_format_text(&words, thread->name[0] ? thread->name : "thread", 24);
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
        /* What os._exit ends is open; nobody has to be told. */
        if (thread->open_depth == 0 ||
            analysis->processes[thread->process].process->description.left)
            continue;
        if (count++ < THREADS_MAX) {
            rc = note_open_thread(report, thread, shown == 0);
            shown++;
        }
    }
    if (count > shown)
        (void)fprintf(report->out, "%*s… and in %u more threads\n", CUNEI_NOTE_INDENT,
                      "", count - shown);
    return rc;
}

static int note_left_out(const struct cunei_report *report)
{
    const struct cunei_report_options *options = report->options;
    struct cunei_buffer words = {0};
    int rc = 0;

    if (!options->tree || options->callers)
        return 0;
    if (options->min_share > 0) {
        cunei_buffer_format(&words,
                            "what took less than %g %% of the wall time; "
                            "--min-percent 0 shows it",
                            100 * options->min_share);
        rc = cunei_note_print(report, "left out", CUNEI_INK_DIM, &words);
    }
    if (rc == 0 && report->analysis->tree->folded > 0) {
        cunei_buffer_append_text(&words,
                                 "more branches than are kept; their time counts "
                                 "to their last common caller");
        rc = cunei_note_print(report, "folded", CUNEI_INK_BAD, &words);
    }
    return rc;
}

enum {
    PATTERNS_SHOWN = 4
};

/* What the program has switched off itself. */
static int note_pauses(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};

    if (analysis->pauses == 0)
        return 0;
    cunei_buffer_append_text(&words,
                             "the program switched the recording of calls off ");
    cunei_format_several(&words, analysis->pauses, "time");
    if (analysis->paused_ns > 0) {
        cunei_buffer_append_text(&words, ", for ");
        cunei_format_duration(&words, analysis->paused_ns);
    }
    if (analysis->ends_paused)
        cunei_buffer_append_text(
            &words, analysis->pauses > 1 ? ", the last time for good" : ", for good");
    return cunei_note_print(report, "paused", CUNEI_INK_WARM, &words);
}

/* Which functions a recording was asked for, and what that does to the numbers. */
static int note_filter(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_process *told = NULL;
    struct cunei_buffer words = {0};

    for (size_t i = 0; i < analysis->process_count && !told; i++) {
        if (analysis->processes[i].process->description.pattern_count > 0)
            told = &analysis->processes[i].process->description;
    }
    if (!told)
        return 0;
    for (size_t i = 0; i < told->pattern_count && i < PATTERNS_SHOWN; i++) {
        cunei_buffer_format(&words, "%s%c", i ? " " : "", told->patterns[i][0]);
        cunei_format_text(&words, told->patterns[i] + 1, 40);
    }
    if (told->pattern_count > PATTERNS_SHOWN)
        cunei_buffer_format(&words, " and %zu more",
                            told->pattern_count - PATTERNS_SHOWN);
    cunei_buffer_append_text(&words,
                             "; time of what was left out is its nearest recorded "
                             "caller's own");
    return cunei_note_print(report, "filter", CUNEI_INK_WARM, &words);
}

static int note_collections(const struct cunei_report *report)
{
    const struct cunei_gc_pauses *all = &report->analysis->collections;
    uint64_t count = cunei_gc_pauses_count(all);
    struct cunei_buffer words = {0};

    if (count == 0)
        return 0;
    cunei_format_several(&words, count, "collection");
    cunei_buffer_append_text(&words, ", ");
    cunei_format_count(&words, all->count[CUNEI_GENERATIONS - 1]);
    cunei_buffer_append_text(&words, " of them full, paused the program for ");
    cunei_format_duration(&words, all->pause);
    cunei_buffer_append_text(&words, ", at most ");
    cunei_format_duration(&words, all->pause_max);
    cunei_buffer_append_text(&words, " at a time, and freed ");
    cunei_format_several(&words, all->collected, "object");
    if (all->uncollectable > 0) {
        cunei_buffer_append_text(&words, "; ");
        cunei_format_count(&words, all->uncollectable);
        cunei_buffer_append_text(&words, " could not be freed");
    }
    return cunei_note_print(report, "gc", CUNEI_INK_DIM, &words);
}

/* A word for the shell. */
static void format_word(const char *word, struct cunei_buffer *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./+,:@%";

    if (word[0] && word[strspn(word, plain)] == '\0')
        cunei_buffer_append_text(out, word);
    else
        cunei_buffer_format(out, "'%s'", word);
}

static bool is_told_by(const struct cunei_process *process, const char *instrumenter)
{
    return process->instrumenter && strcmp(process->instrumenter, instrumenter) == 0;
}

/* Whether nobody was to tell of functions, and none was decorated either. */
static bool is_silent(const struct cunei_analysis *analysis)
{
    bool is_asked = analysis->process_count > 0 && analysis->calls == 0;

    for (size_t i = 0; i < analysis->process_count; i++)
        is_asked &= is_told_by(&analysis->processes[i].process->description, "none");
    return is_asked;
}

/* The views that this one is not, and that show something. */
static void put_views(struct cunei_paragraph *note, const struct cunei_report *report)
{
    const struct cunei_report_options *options = report->options;
    const struct cunei_analysis *analysis = report->analysis;
    bool silent = is_silent(analysis);
    const struct {
        bool is_here;
        const char *option;
    } views[] = {
        {options->tree || silent, "--tree"},
        {options->threads || analysis->thread_count == 0, "--threads"},
        {options->callers != NULL || silent, "--callers NAME"},
        {options->lines || options->all_lines || analysis->line_events == 0,
         "--lines NAME"},
        {options->processes || (analysis->process_count < 2 && !silent), "--processes"},
        {options->tasks || analysis->task_count == 0, "--tasks"},
        {options->exceptions || analysis->exceptions.count == 0, "--exceptions"},
        {options->regions || analysis->regions + analysis->said[CUNEI_CLASS_TAG] == 0,
         "--regions"},
        {options->counters || analysis->said[CUNEI_CLASS_COUNTER] == 0, "--counters"},
        {options->marks || analysis->said[CUNEI_CLASS_MARK] == 0, "--marks"},
        {options->tokens || analysis->said[CUNEI_CLASS_TOKEN] == 0, "--tokens"},
    };
    bool is_first = true;

    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        if (views[i].is_here)
            continue;
        cunei_paragraph_put(note, is_first ? " " : " | ", CUNEI_INK_PLAIN,
                            views[i].option);
        is_first = false;
    }
}

static int note_next(const struct cunei_report *report, uint32_t shown, uint32_t count)
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
    put_views(&note, report);
    if (options->directory && shown < count) {
        cunei_buffer_append_text(&words, "--limit 0 (all ");
        cunei_format_count(&words, count);
        cunei_buffer_append_text(&words, ")");
        cunei_note_words(&note, " | ", &words);
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

static bool has_shown_call(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_analysis_function *facts = &analysis->facts[i];
        if (facts->calls + facts->resumes > 0 && cunei_report_shows(report, i))
            return true;
    }
    return false;
}

/* Why there are no rows. */
static void print_absence(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;

    if (report->options->tree && has_shown_call(report))
        (void)fprintf(report->out, "No function took %g %% of the wall time.\n",
                      100 * report->options->min_share);
    else if (analysis->functions.count > 0)
        (void)fputs("No function that these patterns let through was called.\n",
                    report->out);
    else
        (void)fputs(is_silent(analysis)
                        ? "No call was recorded, as --instrumenter none asks for.\n"
                        : "No call was recorded.\n",
                    report->out);
}

static bool is_before_monitoring(const struct cunei_process *process)
{
    static const char name[] = "CPython 3.";
    const char *version = process->python ? strstr(process->python, name) : NULL;

    return version && strtoul(version + strlen(name), NULL, 10) < 12;
}

/* Before 3.12 an evaluator of frames sees exceptions when they end one. */
static bool sees_part(const struct cunei_process *process)
{
    return is_before_monitoring(process) && !is_told_by(process, "trace");
}

/* The hook does not tell of exceptions. */
static bool is_blind(const struct cunei_process *process)
{
    return is_told_by(process, "profile");
}

static int note_unseen(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;
    struct cunei_buffer words = {0};
    bool blind = false, is_part = false;

    for (size_t i = 0; i < analysis->process_count; i++) {
        is_part |= sees_part(&analysis->processes[i].process->description);
        blind |= is_blind(&analysis->processes[i].process->description);
    }
    if (!(is_part || blind) || !report->options->exceptions)
        return 0;
    if (blind)
        cunei_buffer_append_text(
            &words, "exceptions: --instrumenter profile does not tell of them");
    else
        cunei_buffer_append_text(
            &words, "exceptions that were raised and taken within one function: "
                    "CPython tells of them from 3.12 on");
    return cunei_note_print(report, "not seen", CUNEI_INK_WARM, &words);
}

/* Those that are not say themselves that there is nothing to show. */
static bool is_about_functions(const struct cunei_report_options *options)
{
    return !(options->tasks || options->exceptions || options->regions ||
             options->counters || options->marks || options->tokens);
}

int cunei_report_notes(const struct cunei_report *report, uint32_t shown,
                       uint32_t count)
{
    if (count == 0 && is_about_functions(report->options))
        print_absence(report);
    (void)fputc('\n', report->out);
    int rc = note_left_out(report);
    if (rc == 0)
        rc = note_filter(report);
    if (rc == 0)
        rc = note_pauses(report);
    if (rc == 0)
        rc = note_raised(report);
    if (rc == 0)
        rc = note_unseen(report);
    if (rc == 0)
        rc = note_open(report);
    if (rc == 0)
        rc = note_collections(report);
    if (rc == 0)
        rc = cunei_report_estimates(report);
    if (rc == 0)
        rc = cunei_report_losses(report);
    if (rc == 0)
        rc = note_next(report, shown, count);
    return rc;
}
