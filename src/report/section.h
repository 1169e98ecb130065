// SPDX-License-Identifier: MIT
/*
 * The sections of a report, one file each: private to report.c.
 *
 * Each prints to `out` and returns 0 or a negative errno.
 */
#ifndef CUNEI_REPORT_SECTION_H
#define CUNEI_REPORT_SECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/analysis.h"
#include "base/buffer.h"
#include "report/report.h"

struct cunei_json;

/* What they all look at. */
struct cunei_report {
    const struct cunei_trace *trace;
    const struct cunei_report_options *options;
    const struct cunei_analysis *analysis;
    uint64_t duration_ns;
    const struct cunei_process *home; /* files are shown as seen from it; or NULL */
    FILE *out;
};

/* The functions that the patterns let through, in the order asked for. */
struct cunei_ranking {
    uint32_t *indices; /* owned */
    uint32_t count;
};

int cunei_ranking_init(struct cunei_ranking *ranking,
                       const struct cunei_report *report);
void cunei_ranking_fini(struct cunei_ranking *ranking);

uint64_t cunei_report_mean_ns(const struct cunei_analysis_function *facts);
uint64_t cunei_report_quantile_ns(const struct cunei_analysis_function *facts,
                                  double fraction);
bool cunei_report_shows(const struct cunei_report *report, uint32_t function);

/* `qualname`, and `file:line`, of a function; unknown where it is UINT32_MAX. */
void cunei_report_name(const struct cunei_report *report, uint32_t function,
                       struct cunei_buffer *out);
void cunei_report_place(const struct cunei_report *report, uint32_t function,
                        struct cunei_buffer *out);
enum cunei_ink cunei_report_heat(const struct cunei_report *report, uint64_t ns);

/* When something was: since the first event, where the wall time begins, too. */
void cunei_report_offset(const struct cunei_report *report, uint64_t ns,
                         struct cunei_buffer *out);

int cunei_report_title(const struct cunei_report *report);

/* What stands above what is told of one function. */
int cunei_report_head(const struct cunei_report *report, uint32_t function);
int cunei_report_notes(const struct cunei_report *report, uint32_t shown,
                       uint32_t count);
int cunei_report_functions(const struct cunei_report *report);
int cunei_report_tree(const struct cunei_report *report);
int cunei_report_callers(const struct cunei_report *report);
int cunei_report_lines(const struct cunei_report *report);
int cunei_report_threads(const struct cunei_report *report);
int cunei_report_processes(const struct cunei_report *report);
int cunei_report_tasks(const struct cunei_report *report);
int cunei_report_exceptions(const struct cunei_report *report);
int cunei_report_regions(const struct cunei_report *report);
int cunei_report_counters(const struct cunei_report *report);
int cunei_report_marks(const struct cunei_report *report);
int cunei_report_tokens(const struct cunei_report *report);
int cunei_report_json(const struct cunei_report *report);

/* Sections of the JSON object. */
int cunei_report_tasks_json(const struct cunei_report *report, struct cunei_json *json);
int cunei_report_exceptions_json(const struct cunei_report *report,
                                 struct cunei_json *json);
int cunei_report_lines_json(const struct cunei_report *report, struct cunei_json *json);
int cunei_report_regions_json(const struct cunei_report *report,
                              struct cunei_json *json);
int cunei_report_counters_json(const struct cunei_report *report,
                               struct cunei_json *json);
int cunei_report_marks_json(const struct cunei_report *report, struct cunei_json *json);
int cunei_report_tokens_json(const struct cunei_report *report,
                             struct cunei_json *json);

/* Whether all that is told of a function, or its own time alone, is an estimate. */
bool cunei_report_is_estimated(const struct cunei_analysis_function *facts);
bool cunei_report_is_self_estimated(const struct cunei_analysis_function *facts);
int cunei_report_estimates(const struct cunei_report *report);

/* Those that are there when asked for. */
int cunei_report_tree_json(const struct cunei_report *report, struct cunei_json *json);
int cunei_report_callers_json(const struct cunei_report *report,
                              struct cunei_json *json);

#endif
