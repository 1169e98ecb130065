// SPDX-License-Identifier: MIT
/*
 * A section of a report: a file of its own, which ends with its descriptor.
 *
 *     const struct cunei_report_section cunei_report_section_marks = {
 *         .name = "marks",
 *         .help = "show the program's marks and metadata",
 *         .needs = CUNEI_REPORT_NEEDS_USER_EVENTS,
 *         .has_rows = has_rows,
 *         .print = print,
 *         .print_json = print_json,
 *     };
 *
 * sections.c lists them; the options of `cunei report` and `cunei run`, the help, the
 * hint below a report, what is analysed and the JSON follow from there.  A section
 * takes a finished analysis: it never reads a trace.
 */
#ifndef CUNEI_REPORT_SECTION_H
#define CUNEI_REPORT_SECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/analysis.h"
#include "analysis/imports.h"
#include "analysis/project_tree.h"
#include "analysis/waiting.h"
#include "base/buffer.h"
#include "report/report_options.h"

struct cunei_json;
struct cunei_table;

/* The numbers of functions as they are shown (report/shown_functions.h). */
struct cunei_shown_functions {
    struct cunei_analysis_function *facts; /* owned: by index of functions … */
    bool *is_hidden;                       /* owned: it has no row … */
    bool *is_package; /* owned: its row is that of all modules of its package */
};

/* What all sections get. */
struct cunei_report {
    const struct cunei_report_options *options;
    const struct cunei_report_section *section; /* the one that is printed … */
    const struct cunei_report_choice *choice;   /* … and what it is asked for */
    const struct cunei_analysis *analysis;
    uint64_t duration_ns;
    struct cunei_waiting waiting;
    struct cunei_tree *working; /* owned: the tree of the analysis without functions
                                   that only wait or are excluded; NULL: it has none */
    struct cunei_imports imports;
    struct cunei_project_tree project;
    bool is_folded; /* `imports` is shown instead of the import system … */
    bool is_own;    /* … and libraries are part of what `project` has */
    bool is_brief;  /* the terminal is low: notes that sections have too are left out */
    const struct cunei_tree *tree; /* borrowed: what is shown of that tree */
    struct cunei_shown_functions shown;
    const struct cunei_process *home; /* paths are relative to its directory; or NULL */
    FILE *out;
};

/* The rows that a section has printed, of those that it has. */
struct cunei_report_rows {
    uint64_t shown, count;
};

/* What an analysis leaves out unless a section needs it. */
enum {
    CUNEI_REPORT_NEEDS_TREE = 1,
    CUNEI_REPORT_NEEDS_EDGES = 2,
    CUNEI_REPORT_NEEDS_LINES = 4,
    CUNEI_REPORT_NEEDS_USER_EVENTS = 8,
};

struct cunei_report_section {
    const char *name;    /* of its option, without dashes */
    char letter;         /* of the short option; or 0 */
    const char *value;   /* what its option takes; NULL: it is a flag */
    bool is_repeatable;  /* its option takes a value each time it is given */
    bool is_recording;   /* `cunei run` has an option of this name for recording */
    bool folds;          /* it leaves out the import system, and libraries */
    const char *help;    /* of its option; NULL: it has none */
    unsigned needs;      /* CUNEI_REPORT_NEEDS_… */
    unsigned needs_json; /* more of them, where it is asked for as JSON */
    /* Whether `cunei report` suggests it; NULL: always. */
    bool (*has_rows)(const struct cunei_analysis *analysis);
    /* Print the tables, without the notes below them; NULL: it is JSON only.  0 or a
     * negative errno, as the next two. */
    int (*print)(const struct cunei_report *report, struct cunei_report_rows *rows);
    /* Print the notes that only this section has; may be NULL. */
    int (*print_notes)(const struct cunei_report *report);
    /* Put its keys into the object of the report; may be NULL. */
    int (*print_json)(const struct cunei_report *report, struct cunei_json *json);
};

/* How many of `count` rows the limit lets through. */
uint64_t cunei_report_limit(const struct cunei_report *report, uint64_t count);

/* Whether the patterns let a function through. */
bool cunei_report_shows(const struct cunei_report *report, uint32_t function);

/* `qualname`, and `file:line`, of a function; "?" and nothing for UINT32_MAX. */
void cunei_report_name(const struct cunei_report *report, uint32_t function,
                       struct cunei_buffer *out);
void cunei_report_place(const struct cunei_report *report, uint32_t function,
                        struct cunei_buffer *out);

/* Module, name, file and line of a function in JSON; `name` is the key of its name.
 * Without a function all but the line are null. */
void cunei_report_put_function(struct cunei_json *json, const char *name,
                               const struct cunei_function *function, uint32_t line);

uint32_t cunei_report_pid(const struct cunei_report *report, size_t process);

/* Cells: a pid, which is left out where there is one process; a duration, or a dash. */
void cunei_report_add_pid(const struct cunei_report *report, struct cunei_table *table,
                          size_t process);
void cunei_report_add_duration(struct cunei_table *table, bool is_known, uint64_t ns);

/* Print a table, or the sentence `absence` if it has no rows, and free it.  -ENOMEM. */
int cunei_report_print_table(const struct cunei_report *report,
                             struct cunei_table *table, const char *absence);

/* The colour of a time, by its share of the time of threads, without waiting. */
enum cunei_ink cunei_report_heat(const struct cunei_report *report, uint64_t ns);

/* A duration, with ≥ if it is known only for a part of the time. */
void cunei_report_partial_duration(struct cunei_buffer *out, uint64_t ns,
                                   bool is_partial);

/* A time of the wall clock, as a duration since the first event. */
void cunei_report_offset(const struct cunei_report *report, uint64_t ns,
                         struct cunei_buffer *out);

/* The line above a table about one function: its name, place, time and calls. */
int cunei_report_head(const struct cunei_report *report, uint32_t function);

/* Whether no calls were recorded because --instrumenter none was used. */
bool cunei_report_is_without_calls(const struct cunei_analysis *analysis);

/* The sentence that says why a section about functions has no rows. */
const char *cunei_report_absence(const struct cunei_report *report);

#endif
