// SPDX-License-Identifier: MIT
#include "cmd/top/top_options.h"

#include <stddef.h>
#include <string.h>

#include "base/measure.h"
#include "base/units.h"
#include "cmd/common/message.h"
#include "top/view/columns.h"
#include "top/view/list.h"

#define INTERVAL_LEAST_NS (20 * CUNEI_NS_PER_MS)
#define SPEED_MOST        1e6
#define RECORD_ROWS_MAX   40u

#define VALUE(name) offsetof(struct cunei_top_options, name)

/* Those of a recording, but for --filter, which filters what is shown. */
static const struct cunei_option *make_record_rows(void)
{
    static struct cunei_option rows[RECORD_ROWS_MAX];
    size_t count = 0;

    for (const struct cunei_option *row = cunei_record_option_rows;
         row->name && count + 1 < RECORD_ROWS_MAX; row++) {
        if (strcmp(row->name, "filter") != 0)
            rows[count++] = *row;
    }
    return rows;
}

const struct cunei_option cunei_top_option_rows[] = {
    {.name = "once",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print one sample and end; needs no terminal",
     .offset = VALUE(once)},
    {.name = "batch",
     .letter = 'b',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "print N samples and end",
     .offset = VALUE(batch)},
    {.name = "json",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print samples as JSON, one object per line: the fields\n"
             "of the report, and rates; one sample without --batch",
     .offset = VALUE(json)},
    {.name = "interval",
     .letter = 'd',
     .kind = CUNEI_OPTION_DURATION,
     .value = "TIME",
     .help = "the time between two samples: 500ms, 2s (default 1s)",
     .offset = VALUE(interval_ns)},
    {.name = "sort",
     .letter = 's',
     .kind = CUNEI_OPTION_TEXT,
     .value = "COLUMN",
     .help = "sort by self% (default), total%, calls/s, calls, own%,\n"
             "below%, self, total, mean, p99, max, function, place,\n"
             "resumes/s or raised/s",
     .offset = VALUE(sort)},
    {.name = "reverse",
     .kind = CUNEI_OPTION_FLAG,
     .help = "reverse the order",
     .offset = VALUE(reverse)},
    {.name = "columns",
     .kind = CUNEI_OPTION_TEXT,
     .value = "LIST",
     .help = "show these columns, in this order: self%,calls/s,mean",
     .offset = VALUE(columns)},
    {.name = "filter",
     .letter = 'f',
     .kind = CUNEI_OPTION_TEXT,
     .value = "TEXT",
     .help = "only functions whose name, module or file contains this",
     .offset = VALUE(search)},
    {.name = "group",
     .letter = 'g',
     .kind = CUNEI_OPTION_CHOICE,
     .value = "BY",
     .choices = cunei_top_group_words,
     .help = "one row for each module, file or class",
     .offset = VALUE(group)},
    {.name = "limit",
     .letter = 'n',
     .kind = CUNEI_OPTION_NUMBER,
     .value = "N",
     .help = "print the first N rows (default 25; 0: all)",
     .offset = VALUE(limit)},
    {.name = "idle",
     .kind = CUNEI_OPTION_FLAG,
     .help = "also show functions that only wait",
     .offset = VALUE(idle)},
    {.name = "whole",
     .kind = CUNEI_OPTION_FLAG,
     .help = "rates and shares since the start, not of the last interval",
     .offset = VALUE(whole)},
    {.name = "ascii",
     .kind = CUNEI_OPTION_FLAG,
     .help = "draw with ASCII alone (default where the locale has no UTF-8)",
     .offset = VALUE(ascii)},
    {.name = "replay",
     .kind = CUNEI_OPTION_FLAG,
     .help = "show a finished recording as if it were recorded now",
     .offset = VALUE(replay)},
    {.name = "speed",
     .kind = CUNEI_OPTION_TEXT,
     .value = "X",
     .help = "replay X times as fast: 4, 0.5",
     .offset = VALUE(speed_text)},
    {.name = "post-mortem",
     .kind = CUNEI_OPTION_FLAG,
     .help = "print what each process did at its end: open functions,\n"
             "and the rates of the last interval",
     .offset = VALUE(post_mortem)},
    {.kind = CUNEI_OPTION_TABLE,
     .make_table = make_record_rows,
     .offset = VALUE(recording)},
    {0},
};

static int unknown_column(const char *word, size_t size)
{
    return cunei_cmd_usage("there is no column '%.*s'; 'cunei help top' lists them",
                           (int)size, word);
}

static int settle_columns(const struct cunei_top_options *options,
                          struct cunei_top_view *view)
{
    size_t size = 0;

    if (options->sort) {
        view->sort = cunei_top_column_find(options->sort, strlen(options->sort));
        if (view->sort < 0)
            return unknown_column(options->sort, strlen(options->sort));
    }
    const char *word =
        options->columns ? cunei_top_view_choose(view, options->columns, &size) : NULL;
    return word ? unknown_column(word, size) : CUNEI_OPTIONS_CONTINUE;
}

static int settle_speed(struct cunei_top_options *options)
{
    options->speed = 1;
    if (!options->speed_text)
        return CUNEI_OPTIONS_CONTINUE;
    options->replay = true;
    if (!cunei_measure_number(options->speed_text, &options->speed) ||
        !(options->speed > 0) || options->speed > SPEED_MOST)
        return cunei_cmd_usage("--speed needs a number above 0, not '%s'",
                               options->speed_text);
    return CUNEI_OPTIONS_CONTINUE;
}

int cunei_top_options_settle(struct cunei_top_options *options,
                             struct cunei_top_view *view)
{
    if (options->interval_ns < INTERVAL_LEAST_NS)
        return cunei_cmd_usage("--interval must be at least 20ms");
    if (options->batch == 0)
        return cunei_cmd_usage("--batch needs a number above 0");
    if (options->batch == CUNEI_TOP_NO_BATCH)
        options->batch = options->once || options->json;
    view->is_reversed = options->reverse;
    view->idle = options->idle;
    view->is_whole = options->whole;
    view->group = (enum cunei_top_group)options->group;
    if (options->search)
        (void)strncpy(view->filter, options->search, CUNEI_TOP_FILTER_MAX);
    int status = settle_columns(options, view);
    return status == CUNEI_OPTIONS_CONTINUE ? settle_speed(options) : status;
}
