// SPDX-License-Identifier: MIT
/* The notes below a report: what it leaves out, what went wrong, what to do next. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "model/tree.h"
#include "view/format.h"
#include "view/section.h"

/* How many functions a note names. */
#define NAMES_MAX 4u
/* How many threads with open functions it shows. */
#define THREADS_MAX 4u

/* A note: what it is about, then words that may take several lines. */
#define LABEL_WIDTH 11

static void begin_note(struct cunei_paragraph *note, const struct cunei_report *report,
                       const char *label, enum cunei_ink ink)
{
    *note = (struct cunei_paragraph){
        .style = &report->options->style,
        .column = LABEL_WIDTH,
        .indent = LABEL_WIDTH,
    };
    cunei_style_begin(note->style, &note->text, ink);
    cunei_buffer_format(&note->text, "%-*s", LABEL_WIDTH, label);
    cunei_style_end(note->style, &note->text, ink);
}

static void put_words(struct cunei_paragraph *note, const char *before,
                      struct cunei_buffer *words)
{
    cunei_paragraph_put(note, before, CUNEI_INK_PLAIN, words->data ? words->data : "");
    note->text.failed |= words->failed;
    cunei_buffer_clear(words);
}

/* The space where a line may be broken: not one between the digits of a number. */
static char *find_break(char *text)
{
    char *space = strchr(text, ' ');

    while (space && space > text && isdigit((unsigned char)space[-1]) &&
           isdigit((unsigned char)space[1]))
        space = strchr(space + 1, ' ');
    return space;
}

/* A sentence, which may be broken at its spaces. */
static void put_sentence(struct cunei_paragraph *note, struct cunei_buffer *sentence)
{
    char *word = sentence->data;
    bool is_first = true;

    while (word && *word) {
        char *space = find_break(word);
        if (space)
            *space = '\0';
        cunei_paragraph_put(note, is_first ? "" : " ", CUNEI_INK_PLAIN, word);
        is_first = false;
        word = space ? space + 1 : NULL;
    }
    note->text.failed |= sentence->failed;
    cunei_buffer_clear(sentence);
}

static void format_safe_name(const struct cunei_report *report, uint32_t function,
                             struct cunei_buffer *out)
{
    struct cunei_buffer name = {0};

    cunei_report_name(report, function, &name);
    cunei_format_text(out, name.data ? name.data : "", 40);
    cunei_buffer_fini(&name);
}

/* The function that raised most after those named already, or UINT32_MAX. */
static uint32_t next_raiser(const struct cunei_survey *survey, uint32_t last)
{
    uint64_t limit = last == UINT32_MAX ? UINT64_MAX : survey->facts[last].raised;
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < survey->functions.count; i++) {
        uint64_t raised = survey->facts[i].raised;
        bool is_after = raised < limit || (raised == limit && i > last);
        if (raised > 0 && is_after && i != last &&
            (best == UINT32_MAX || raised > survey->facts[best].raised))
            best = i;
    }
    return best;
}

static int note_raised(const struct cunei_report *report)
{
    const struct cunei_survey *survey = report->survey;
    struct cunei_paragraph note;
    struct cunei_buffer words = {0};
    uint32_t function = UINT32_MAX;

    if (survey->raised == 0)
        return 0;
    begin_note(&note, report, "raised", CUNEI_INK_DIM);
    cunei_buffer_append_text(&words, "exceptions left functions ");
    cunei_format_several(&words, survey->raised, "time");
    cunei_buffer_append_text(&words, ":");
    put_sentence(&note, &words);
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        function = next_raiser(survey, function);
        if (function == UINT32_MAX)
            break;
        format_safe_name(report, function, &words);
        cunei_buffer_append_text(&words, " ");
        cunei_format_count(&words, survey->facts[function].raised);
        put_words(&note, i > 0 ? ", " : " ", &words);
    }
    if (next_raiser(survey, function) != UINT32_MAX && function != UINT32_MAX)
        cunei_paragraph_put(&note, ", ", CUNEI_INK_PLAIN, "…");
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

static int note_open_thread(const struct cunei_report *report,
                            const struct cunei_survey_thread *thread, bool is_first)
{
    struct cunei_paragraph note;
    struct cunei_buffer words = {0};

    begin_note(&note, report, is_first ? "open" : "", CUNEI_INK_DIM);
    cunei_format_text(&words, thread->name[0] ? thread->name : "thread", 24);
    if (!thread->name[0])
        cunei_buffer_format(&words, " %" PRIu32, thread->tid);
    cunei_buffer_append_text(&words, ":");
    put_words(&note, "", &words);
    uint32_t first =
        thread->open_count > NAMES_MAX ? thread->open_count - NAMES_MAX : 0;
    if (first > 0 || thread->open_depth > thread->open_count)
        cunei_paragraph_put(&note, " ", CUNEI_INK_DIM, "…");
    for (uint32_t i = first; i < thread->open_count; i++) {
        format_safe_name(report, thread->open[i], &words);
        put_words(&note, i == 0 ? " " : " › ", &words);
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

static int note_open(const struct cunei_report *report)
{
    const struct cunei_survey *survey = report->survey;
    unsigned shown = 0, count = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < survey->thread_count; i++) {
        if (survey->threads[i].open_depth == 0)
            continue;
        if (count++ < THREADS_MAX) {
            rc = note_open_thread(report, &survey->threads[i], shown == 0);
            shown++;
        }
    }
    if (count > shown)
        (void)fprintf(report->out, "%*s… and in %u more threads\n", LABEL_WIDTH, "",
                      count - shown);
    return rc;
}

static int note_sentence(const struct cunei_report *report, const char *label,
                         enum cunei_ink ink, struct cunei_buffer *words)
{
    struct cunei_paragraph note;

    begin_note(&note, report, label, ink);
    put_sentence(&note, words);
    cunei_buffer_fini(words);
    return cunei_paragraph_print(&note, report->out);
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
        rc = note_sentence(report, "left out", CUNEI_INK_DIM, &words);
    }
    if (rc == 0 && report->survey->tree->folded > 0) {
        cunei_buffer_append_text(&words,
                                 "more branches than are kept; their time counts "
                                 "to their last common caller");
        rc = note_sentence(report, "folded", CUNEI_INK_BAD, &words);
    }
    return rc;
}

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
        return "functions that could not be defined";
    return NULL;
}

static int note_losses(const struct cunei_report *report)
{
    const struct cunei_survey *survey = report->survey;
    struct cunei_buffer words = {0};
    int rc = 0;

    if (survey->lost > 0) {
        const char *reason = NULL;
        for (size_t i = 0; !reason && i < survey->process_count; i++)
            reason = loss_reason(&survey->processes[i].process->description);
        cunei_format_several(&words, survey->lost, "event");
        cunei_buffer_format(&words, " not recorded%s%s", reason ? ": " : "",
                            reason ? reason : "");
        rc = note_sentence(report, "lost", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && survey->missing_packets > 0) {
        cunei_format_several(&words, survey->missing_packets, "packet");
        cunei_buffer_append_text(&words, " not in the stream files");
        rc = note_sentence(report, "missing", CUNEI_INK_BAD, &words);
    }
    for (size_t i = 0;
         rc == 0 && i < survey->damage_count && i < CUNEI_SURVEY_DAMAGES_MAX; i++) {
        cunei_format_text(&words, survey->damages[i].text, SIZE_MAX);
        rc = note_sentence(report, "damaged", CUNEI_INK_BAD, &words);
    }
    if (rc == 0 && survey->orphans + survey->unclosed + survey->appeared > 0) {
        uint64_t ends = survey->orphans + survey->appeared;
        if (ends > 0) {
            cunei_format_several(&words, ends, "end");
            cunei_buffer_format(&words, " of calls without a beginning%s",
                                survey->unclosed > 0 ? ", " : "");
        }
        if (survey->unclosed > 0) {
            cunei_format_several(&words, survey->unclosed, "beginning");
            cunei_buffer_append_text(&words, " without an end");
        }
        rc = note_sentence(report, "unmatched", CUNEI_INK_BAD, &words);
    }
    return rc;
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

/* The views that this one is not. */
static void put_views(struct cunei_paragraph *note,
                      const struct cunei_report_options *options)
{
    const struct {
        bool is_here;
        const char *option;
    } views[] = {
        {options->tree, "--tree"},
        {options->threads, "--threads"},
        {options->callers != NULL, "--callers NAME"},
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

    begin_note(&note, report, "next", CUNEI_INK_DIM);
    if (options->directory) {
        cunei_buffer_append_text(&words, "cunei report ");
        format_word(options->directory, &words);
        put_words(&note, "", &words);
    } else {
        cunei_buffer_append_text(
            &words, "keep the trace with --save DIR, then: cunei report DIR");
        put_sentence(&note, &words);
    }
    put_views(&note, options);
    if (options->directory && shown < count) {
        cunei_buffer_append_text(&words, "--limit 0 (all ");
        cunei_format_count(&words, count);
        cunei_buffer_append_text(&words, ")");
        put_words(&note, " | ", &words);
    }
    cunei_buffer_fini(&words);
    return cunei_paragraph_print(&note, report->out);
}

int cunei_report_notes(const struct cunei_report *report, uint32_t shown,
                       uint32_t count)
{
    if (count == 0)
        (void)fprintf(report->out, "%s\n",
                      report->survey->functions.count > 0
                          ? "No function that these patterns let through was called."
                          : "No call was recorded.");
    (void)fputc('\n', report->out);
    int rc = note_left_out(report);
    if (rc == 0)
        rc = note_raised(report);
    if (rc == 0)
        rc = note_open(report);
    if (rc == 0)
        rc = note_losses(report);
    if (rc == 0)
        rc = note_next(report, shown, count);
    return rc;
}
