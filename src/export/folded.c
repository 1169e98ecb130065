// SPDX-License-Identifier: MIT
/* Stacks with the nanoseconds on top of each, as flamegraph.pl and inferno read them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "base/buffer.h"
#include "export/export.h"
#include "export/import_name.h"
#include "export/rounding.h"
#include "export/selection.h"
#include "export/write_buffer.h"
#include "export/writers.h"
#include "model/facts/call_tree.h"

struct writer {
    const struct cunei_export *export;
    const struct cunei_analysis *analysis;
    struct cunei_buffer lines;
    struct cunei_buffer names; /* of all functions, each with a ';' behind it … */
    size_t *offsets;           /* … and where they begin, by slot; owned */
    uint32_t *path;            /* owned: the nodes from one down to the root */
};

/* Names are made once, because they are written many times. */
static int put_names(struct writer *writer)
{
    const struct cunei_functions *functions = &writer->analysis->functions;

    writer->path = calloc(writer->analysis->tree->count, sizeof(*writer->path));
    writer->offsets = calloc(functions->count + (size_t)2, sizeof(*writer->offsets));
    if (!writer->path || !writer->offsets)
        return -ENOMEM;
    cunei_buffer_append_text(&writer->names, "?;");
    for (uint32_t i = 0; i < functions->count; i++) {
        writer->offsets[i + 1] = writer->names.size;
        cunei_import_name_put(writer->export, &writer->names, &functions->items[i],
                              ';');
        cunei_buffer_append_text(&writer->names, ";");
    }
    writer->offsets[functions->count + 1] = writer->names.size;
    return writer->names.failed ? -ENOMEM : 0;
}

/* The frames down to a node, outermost first, and its time. */
static void put_stack(struct writer *writer, uint32_t node)
{
    const struct cunei_node *nodes = writer->analysis->tree->nodes;
    uint64_t self_ns = nodes[node].self;
    uint32_t depth = 0;

    for (; node > 0; node = nodes[node].parent)
        writer->path[depth++] = node;
    while (depth > 0) {
        uint32_t slot = nodes[writer->path[--depth]].slot;
        size_t begin = writer->offsets[slot];
        cunei_buffer_append(&writer->lines, writer->names.data + begin,
                            writer->offsets[slot + 1] - begin);
    }
    /* In place of the last ';'. */
    if (!writer->lines.failed)
        writer->lines.data[writer->lines.size - 1] = ' ';
    cunei_buffer_format(&writer->lines, "%" PRIu64 "\n", self_ns);
}

int cunei_export_folded(struct cunei_export *export)
{
    struct cunei_analysis analysis;
    struct writer writer = {.export = export, .analysis = &analysis};

    int rc = cunei_selection_analyze(
        export, &(struct cunei_analysis_options){.tree = true}, &analysis);
    if (rc < 0)
        return rc;
    rc = cunei_rounding_correct_tree(&analysis);
    if (rc == 0)
        rc = put_names(&writer);
    for (uint32_t i = 1; rc == 0 && i < analysis.tree->count; i++) {
        if (analysis.tree->nodes[i].self == 0)
            continue;
        put_stack(&writer, i);
        rc = cunei_write_buffer_if_full(&writer.lines, export->out);
    }
    if (rc == 0)
        rc = cunei_write_buffer(&writer.lines, export->out);
    free(writer.path);
    free(writer.offsets);
    cunei_buffer_fini(&writer.names);
    cunei_buffer_fini(&writer.lines);
    cunei_analysis_fini(&analysis);
    return rc;
}
