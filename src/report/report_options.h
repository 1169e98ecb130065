// SPDX-License-Identifier: MIT
/* What to show in a report, and how. */
#ifndef CUNEI_REPORT_REPORT_OPTIONS_H
#define CUNEI_REPORT_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pattern.h"
#include "text/style.h"
#include "trace/directory/process_choice.h"
#include "trace/directory/trace.h"

struct cunei_refusals;
struct cunei_json;
struct cunei_report_section;

#define CUNEI_REPORT_SECTIONS_MAX 16u

/* Whether a section is asked for, and for which functions where it takes names. */
struct cunei_report_choice {
    bool is_asked;
    const char *const *names; /* borrowed */
    size_t name_count;
};

/* A name that a section was asked for and that it has no rows for. */
struct cunei_report_missing {
    const char *name; /* borrowed: as asked for; NULL: no name is missing */
    bool is_line;     /* its lines are missing … */
    char **lined;     /* … owned: the functions that have some, by qualified name */
    size_t lined_count;
};

void cunei_report_missing_fini(struct cunei_report_missing *missing);

/* More for the JSON. */
struct cunei_report_more {
    const void *context;
    void (*put)(const void *context, struct cunei_json *json); /* behind the head */
    /* Behind the numbers of a function, by its index in the analysis. */
    void (*put_function)(const void *context, struct cunei_json *json,
                         uint32_t function);
};

struct cunei_report_options {
    const struct cunei_report_more *more; /* or NULL */
    int sort;                             /* index in cunei_report_sort_names */
    uint64_t limit;   /* rows of a table; 0: all; CUNEI_REPORT_FIT: not chosen */
    uint64_t depth;   /* levels of a tree; 0: all */
    double min_share; /* of the wall time, 0 to 1: less is left out of the call tree */
    struct cunei_report_choice
        sections[CUNEI_REPORT_SECTIONS_MAX]; /* as in cunei_report_sections */
    /* Shown where no section is asked for and it has rows; NULL: the functions. */
    const struct cunei_report_section *preferred;
    struct cunei_report_missing *missing; /* output; may be NULL */
    struct cunei_trace_choice processes;
    const struct cunei_refusals *refusals; /* borrowed, or NULL */
    struct cunei_patterns patterns;
    bool json;
    bool is_line;          /* JSON on one line */
    bool idle;             /* also functions that only wait */
    bool no_fold;          /* show the functions of the import system */
    const char *directory; /* of the trace, for hints; NULL: it will be removed */
    struct cunei_style style;
    /* As in struct cunei_analysis_options. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
    /* Called after the trace is read and before the first line is printed; or NULL. */
    void (*begin)(void *progress_context);
};

/* 25 rows; of functions as many of them as fit on the terminal with all else. */
#define CUNEI_REPORT_FIT UINT64_MAX

#define CUNEI_REPORT_DEFAULTS                                     \
    {                                                             \
        .limit = CUNEI_REPORT_FIT, .depth = 16, .min_share = 0.01 \
    }

/* The words for `sort`, ending with NULL. */
extern const char *const cunei_report_sort_names[];

#endif
