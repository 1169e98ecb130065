// SPDX-License-Identifier: MIT
#include "report/own_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/own_time.h"
#include "report/note.h"
#include "report/ranking.h"
#include "report/section.h"
#include "text/format.h"
#include "text/terminal_text.h"

/* The functions that the line names. */
#define NAMES_MAX 3u
/* They are not named if all of them are in so many rows of the table. */
#define FIRST_ROWS 5u
/* One that took less than this part of the working time is named only if it is the
 * first. */
#define LEAST_PART 200u

/* The longest times, and whose they are. */
struct longest {
    uint64_t time_ns;
    uint32_t function;
};

/* Whether the table is that of functions that work, by self time, and the tree has all
 * calls: of functions that a budget sampled it has the samples. */
static bool is_possible(const struct cunei_report *report)
{
    return report->analysis->estimated_calls == 0 && report->is_folded &&
           !report->is_own && report->project.tree && !report->options->idle &&
           report->options->sort == 0;
}

/* Whether the function is in one of the first rows. */
static bool is_seen(const struct cunei_ranking *rows, uint32_t function)
{
    for (uint32_t i = 0; i < rows->count && i < FIRST_ROWS; i++) {
        if (rows->indices[i] == function)
            return true;
    }
    return false;
}

/* Keep the longest, in order; the first of equals comes first. */
static void add(struct longest longest[NAMES_MAX], unsigned *count, struct longest one)
{
    unsigned at = *count;

    while (at > 0 && longest[at - 1].time_ns < one.time_ns)
        at--;
    if (at == NAMES_MAX)
        return;
    if (*count < NAMES_MAX)
        (*count)++;
    memmove(&longest[at + 1], &longest[at], (*count - at - 1) * sizeof(one));
    longest[at] = one;
}

static unsigned find_longest(const struct cunei_report *report, const uint64_t *times,
                             struct longest longest[NAMES_MAX])
{
    uint64_t least_ns = report->waiting.base_ns / LEAST_PART;
    unsigned count = 0;

    for (uint32_t i = 0; i < report->analysis->functions.count; i++) {
        if (times[i + 1] > 0 && cunei_report_shows(report, i))
            add(longest, &count, (struct longest){times[i + 1], i});
    }
    while (count > 1 && longest[count - 1].time_ns < least_ns)
        count--;
    return count;
}

/* `handle 1.20 s (8.0 %) app.py:12`. */
static void put_function(struct cunei_paragraph *line,
                         const struct cunei_report *report, const struct longest *one,
                         const char *before)
{
    struct cunei_buffer text = {0}, words = {0};
    uint64_t base_ns = report->waiting.base_ns;
    uint64_t part_ns = one->time_ns < base_ns ? one->time_ns : base_ns;

    cunei_report_name(report, one->function, &text);
    cunei_terminal_text(&words, cunei_buffer_text(&text), 40);
    cunei_buffer_append_text(&words, " ");
    cunei_format_duration(&words, one->time_ns);
    cunei_buffer_append_text(&words, " (");
    cunei_format_percent(&words, part_ns, base_ns);
    cunei_buffer_append_text(&words, " %)");
    cunei_note_words(line, before, &words);
    cunei_buffer_clear(&text);
    cunei_report_place(report, one->function, &text);
    cunei_terminal_text(&words, cunei_buffer_text(&text), 40);
    cunei_note_words(line, " ", &words);
    line->text.failed |= text.failed;
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&words);
}

int cunei_report_print_own_code(const struct cunei_report *report,
                                const struct cunei_ranking *rows)
{
    struct longest longest[NAMES_MAX];
    struct cunei_paragraph line;
    bool is_needed = false;

    if (!is_possible(report))
        return 0;
    uint64_t *times = cunei_own_times(
        report->analysis, report->working ? report->working : report->analysis->tree,
        report->project.is_own);
    if (!times)
        return -ENOMEM;
    unsigned count = find_longest(report, times, longest);
    free(times);
    for (unsigned i = 0; i < count; i++)
        is_needed |= !is_seen(rows, longest[i].function);
    if (!is_needed)
        return 0;
    cunei_note_begin(&line, report, "your code", CUNEI_INK_HEAD);
    for (unsigned i = 0; i < count; i++)
        put_function(&line, report, &longest[i], i > 0 ? ", " : "");
    int rc = cunei_paragraph_print(&line, report->out);
    (void)fputc('\n', report->out);
    return rc;
}
