// SPDX-License-Identifier: MIT
#include "report/report_json.h"

#include "python/refusals.h"
#include "report/causes.h"
#include "report/kept.h"
#include "report/section.h"
#include "report/sections.h"
#include "text/json.h"
#include "text/refusals_json.h"

static void put_head(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_analysis *analysis = report->analysis;
    const struct cunei_refusals none = {0}, *refusals = report->options->refusals;
    uint64_t complete_ns = cunei_report_complete_ns(analysis);

    cunei_json_number(json, "version", 1);
    cunei_json_number(json, "events", analysis->events);
    cunei_json_number(json, "lost", analysis->lost);
    cunei_json_number(json, "duration_ns", report->duration_ns);
    cunei_json_number(json, "threads_ns", report->waiting.threads_ns);
    cunei_json_number(json, "waiting_ns", report->waiting.waiting_ns);
    cunei_json_number(json, "working_ns", report->waiting.base_ns);
    cunei_json_number(json, "begin_ns", analysis->begin_ns);
    if (complete_ns > 0)
        cunei_json_number(json, "complete_ns", complete_ns);
    cunei_report_put_causes(report, json);
    cunei_json_number(json, "calls", analysis->calls);
    cunei_json_number(json, "resumes", analysis->resumes);
    cunei_json_number(json, "raised", analysis->raised);
    cunei_json_number(json, "switches", analysis->switches);
    cunei_json_number(json, "cost_ns", analysis->cost_ns);
    if (analysis->bursts > 0) {
        cunei_json_number(json, "estimated_calls", analysis->estimated_calls);
        cunei_json_number(json, "bursts", analysis->bursts);
    }
    if (analysis->pauses > 0) {
        cunei_json_number(json, "pauses", analysis->pauses);
        cunei_json_number(json, "paused_ns", analysis->paused_ns);
    }
    cunei_json_number(json, "orphans", analysis->orphans);
    cunei_json_number(json, "unclosed", analysis->unclosed);
    cunei_json_number(json, "appeared", analysis->appeared);
    cunei_json_number(json, "dropped_packets", analysis->dropped_packets);
    cunei_json_number(json, "missing_packets", analysis->missing_packets);
    cunei_json_open(json, "damaged", '[');
    for (size_t i = 0; i < analysis->damage_count && i < CUNEI_ANALYSIS_DAMAGES_MAX;
         i++)
        cunei_json_text(json, NULL, analysis->damages[i].text);
    cunei_json_close(json, ']');
    cunei_refusals_put_json(refusals ? refusals : &none, json);
    if (report->options->more)
        report->options->more->put(report->options->more->context, json);
}

int cunei_report_print_json(const struct cunei_report *report, unsigned contents)
{
    struct cunei_json json = {.out = report->out, .is_line = report->options->is_line};
    int rc = 0;

    cunei_json_open(&json, NULL, '{');
    put_head(report, &json);
    for (size_t i = 0; rc == 0 && cunei_report_sections[i]; i++) {
        struct cunei_report part = *report;
        part.section = cunei_report_sections[i];
        part.choice = &report->options->sections[i];
        if (part.section->print_json && (part.section->needs & ~contents) == 0)
            rc = part.section->print_json(&part, &json);
    }
    cunei_json_close(&json, '}');
    int end_rc = cunei_json_end(&json);
    return rc < 0 ? rc : end_rc;
}
