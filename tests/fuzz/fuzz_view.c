// SPDX-License-Identifier: MIT
/*
 * Packets in a stream file, shown in a way that the size of the input chooses, and as
 * JSON: each view gets along with whatever they hold, and what calls itself JSON is it.
 */
#include <errno.h>
#include <stdbool.h>

#include "analysis/analyzer.h"
#include "analysis/filter_proposal.h"
#include "fuzz.h"
#include "recorded.h"
#include "report/replay/replay.h"
#include "report/report.h"
#include "report/section.h"
#include "report/sections.h"
#include "wellformed.h"

static void check_rc(int rc, const struct cunei_trace_error *error)
{
    FUZZ_CHECK(rc == 0 || rc == -ESRCH || rc == -ENODATA || rc == -ENOENT ||
               rc == -EBADMSG);
    FUZZ_CHECK(rc != -EBADMSG || error->text[0]);
}

static void show_report(const struct cunei_trace *trace,
                        struct cunei_report_options wanted)
{
    struct cunei_trace_error error = {{0}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    FUZZ_CHECK(out);
    wanted.depth = 16;
    wanted.limit = 25;
    int rc = cunei_report_print(trace, &wanted, out, &error);
    FUZZ_CHECK(fclose(out) == 0);
    check_rc(rc, &error);
    if (wanted.json && size > 0)
        wellformed_check(text, size, true);
    free(text);
}

static void show_replay(const struct cunei_trace *trace, bool json, size_t size)
{
    const struct cunei_replay_options wanted = {
        .json = json,
        .min_time_ns = size / 16 % 2,
        .from_ns = size / 32 % 2 * 500,
        .until_ns = size / 64 % 2 == 1 ? 2000 : UINT64_MAX,
    };
    struct cunei_trace_error error = {{0}};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    FUZZ_CHECK(out);
    check_rc(cunei_replay_print(trace, &wanted, out, &error), &error);
    FUZZ_CHECK(fclose(out) == 0);
    if (json)
        wellformed_check(text, length, false);
    free(text);
}

static void propose(const struct cunei_trace *trace)
{
    const struct cunei_analysis_options wanted = {.edges = true};
    struct cunei_filter_proposal proposal = {.max_overhead = 0.05, .event_cost_ns = 30};
    struct cunei_analysis analysis;

    if (cunei_analyze(&analysis, trace, &wanted) < 0)
        return;
    FUZZ_CHECK(cunei_filter_proposal_make(&proposal, &analysis) == 0);
    FUZZ_CHECK(proposal.left_out_count <= proposal.count);
    FUZZ_CHECK(proposal.saved_ns <= proposal.cost_ns);
    FUZZ_CHECK(proposal.saved_events <= proposal.events);
    cunei_filter_proposal_fini(&proposal);
    cunei_analysis_fini(&analysis);
}

/* One section of a report, or the report that no option was given for. */
static void show_section(const struct cunei_trace *trace, size_t number)
{
    static const char *const name = "f";
    struct cunei_report_options wanted = {0};
    size_t count = 0;

    do
        count++;
    while (cunei_report_sections[count]);
    number %= count;
    const struct cunei_report_section *section = cunei_report_sections[number];
    wanted.sections[number].is_asked = section && section->print;
    if (section && section->value && !section->is_repeatable) {
        wanted.sections[number].names = &name;
        wanted.sections[number].name_count = 1;
    }
    show_report(trace, wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cunei_report_options json = {.json = true};
    struct cunei_trace trace;

    if (!recorded_open(&trace, data, size))
        return 0;
    for (size_t i = 0; cunei_report_sections[i]; i++)
        json.sections[i].is_asked = !cunei_report_sections[i]->value;
    show_section(&trace, size / 8);
    show_report(&trace, json);
    show_replay(&trace, false, size);
    show_replay(&trace, true, size);
    propose(&trace);
    recorded_close(&trace);
    return 0;
}
