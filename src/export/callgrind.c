// SPDX-License-Identifier: MIT
/*
 * Callers and callees for KCachegrind: the format of valgrind's callgrind.
 *
 * Self costs are those of the report.  The cost of a call is that of the callee's
 * outermost activations, so that the costs of all its callers add up to its total.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buffer.h"
#include "export/escaped_name.h"
#include "export/export.h"
#include "export/rounding.h"
#include "export/selection.h"
#include "export/write_buffer.h"
#include "export/writers.h"
#include "model/facts/call_edges.h"
#include "text/names.h"

struct writer {
    FILE *out;
    const struct cunei_analysis *analysis;
    struct cunei_buffer text;
    struct cunei_functions files; /* by their name alone */
    uint32_t file_count;          /* that were named so far */
    uint8_t *named;               /* owned: functions that were */
    uint32_t *edges;              /* owned: by their caller, … */
    uint32_t *begins;             /* … that begin here; owned */
};

/* Edges by caller: a counting sort. */
static int sort_edges(struct writer *writer)
{
    const struct cunei_edges *edges = writer->analysis->edges;
    size_t count = (size_t)writer->analysis->functions.count + 3;

    writer->named = calloc(count, sizeof(*writer->named));
    writer->begins = calloc(count, sizeof(*writer->begins));
    writer->edges = calloc(edges->count, sizeof(*writer->edges));
    if (!writer->named || !writer->begins || !writer->edges)
        return -ENOMEM;
    for (uint32_t i = 1; i < edges->count; i++)
        writer->begins[edges->items[i].caller + 2]++;
    for (size_t i = 1; i < count; i++)
        writer->begins[i] += writer->begins[i - 1];
    for (uint32_t i = 1; i < edges->count; i++)
        writer->edges[writer->begins[edges->items[i].caller + 1]++] = i;
    return 0;
}

/* key=(number) name, and later the number alone. */
static int put_file(struct writer *writer, const char *key,
                    const struct cunei_function *function)
{
    /* A C function has its module as file. */
    const struct cunei_function file = {.module = "",
                                        .qualname = "",
                                        .file = function->file[0] ? function->file
                                                                  : function->module};
    int index = cunei_functions_add(&writer->files, &file);

    if (index < 0)
        return index;
    cunei_buffer_format(&writer->text, "%s=(%d)", key, index + 1);
    if ((uint32_t)index == writer->file_count) {
        cunei_buffer_append_text(&writer->text, " ");
        cunei_escaped_name_put(&writer->text, file.file, strlen(file.file), '\0');
        writer->file_count++;
    }
    cunei_buffer_append_text(&writer->text, "\n");
    return 0;
}

static void put_name(struct writer *writer, const char *key, uint32_t index)
{
    cunei_buffer_format(&writer->text, "%s=(%" PRIu32 ")", key, index + 1);
    if (!writer->named[index]) {
        cunei_buffer_append_text(&writer->text, " ");
        cunei_escaped_name_put_function(
            &writer->text, &writer->analysis->functions.items[index], '\0');
        writer->named[index] = 1;
    }
    cunei_buffer_append_text(&writer->text, "\n");
}

static int put_call(struct writer *writer, const struct cunei_edge *edge)
{
    const struct cunei_function *functions = writer->analysis->functions.items;
    const struct cunei_function *callee = &functions[edge->callee - 1];
    uint64_t count = edge->calls + edge->resumes;

    int rc = put_file(writer, "cfi", callee);
    if (rc < 0)
        return rc;
    put_name(writer, "cfn", edge->callee - 1);
    /* A function that was open before the recording counts as called once. */
    cunei_buffer_format(&writer->text,
                        "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n",
                        count > 0 ? count : 1, callee->line,
                        functions[edge->caller - 1].line, edge->total);
    return 0;
}

static int put_function(struct writer *writer, uint32_t index)
{
    const struct cunei_function *function = &writer->analysis->functions.items[index];

    int rc = put_file(writer, "fl", function);
    if (rc < 0)
        return rc;
    put_name(writer, "fn", index);
    cunei_buffer_format(&writer->text, "%" PRIu32 " %" PRIu64 "\n", function->line,
                        writer->analysis->facts[index].self_ns);
    for (uint32_t i = writer->begins[index + 1];
         rc == 0 && i < writer->begins[index + 2]; i++) {
        const struct cunei_edge *edge =
            &writer->analysis->edges->items[writer->edges[i]];
        if (edge->callee > 0)
            rc = put_call(writer, edge);
    }
    cunei_buffer_append_text(&writer->text, "\n");
    return rc == 0 ? cunei_write_buffer_if_full(&writer->text, writer->out) : rc;
}

static void put_head(struct writer *writer)
{
    const struct cunei_analysis *analysis = writer->analysis;
    struct cunei_buffer command = {0};
    uint64_t self_ns = 0;

    for (uint32_t i = 0; i < analysis->functions.count; i++)
        self_ns += analysis->facts[i].self_ns;
    if (analysis->process_count > 0)
        cunei_format_command(&command, &analysis->processes[0].process->description);
    cunei_buffer_append_text(
        &writer->text,
        "# callgrind format\nversion: 1\ncreator: cunei " CUNEI_VERSION "\ncmd: ");
    cunei_escaped_name_put(&writer->text, cunei_buffer_text(&command), command.size,
                           '\0');
    cunei_buffer_format(&writer->text,
                        "\npositions: line\nevents: ns\nsummary: %" PRIu64 "\n\n",
                        self_ns);
    cunei_buffer_fini(&command);
}

/* Time of a function in its regions counts for the regions here: it would count twice
 * otherwise, because the function calls them. */
static void give_to_regions(struct cunei_analysis *analysis)
{
    if (analysis->regions == 0)
        return;
    for (uint32_t i = 0; i < analysis->functions.count; i++)
        analysis->facts[i].self_ns = 0;
    for (uint32_t i = 1; i < analysis->edges->count; i++) {
        const struct cunei_edge *edge = &analysis->edges->items[i];
        if (edge->callee > 0)
            analysis->facts[edge->callee - 1].self_ns += edge->self;
    }
}

int cunei_export_callgrind(struct cunei_export *export)
{
    struct cunei_analysis analysis;
    struct writer writer = {.out = export->out, .analysis = &analysis};

    int rc = cunei_selection_analyze(
        export, &(struct cunei_analysis_options){.edges = true}, &analysis);
    if (rc < 0)
        return rc;
    rc = cunei_rounding_correct_edges(&analysis);
    give_to_regions(&analysis);
    if (rc == 0)
        rc = sort_edges(&writer);
    if (rc == 0)
        put_head(&writer);
    for (uint32_t i = 0; rc == 0 && i < analysis.functions.count; i++)
        rc = put_function(&writer, i);
    if (rc == 0)
        rc = cunei_write_buffer(&writer.text, writer.out);
    cunei_functions_fini(&writer.files);
    free(writer.named);
    free(writer.begins);
    free(writer.edges);
    cunei_buffer_fini(&writer.text);
    cunei_analysis_fini(&analysis);
    return rc;
}
