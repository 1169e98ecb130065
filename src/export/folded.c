// SPDX-License-Identifier: MIT
/* Stacks with the nanoseconds on top of each, as flamegraph.pl and inferno read them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/selection.h"
#include "model/tree.h"
#include "survey/survey.h"

/* A frame is told from the next by ';', and the count from the stack by a space that
 * is the last one: only these and line breaks must not be in a name. */
static void put_name(struct cunei_buffer *out, const struct cunei_function *function)
{
    size_t begin = out->size;

    cunei_buffer_format(out, "%s:%s", function->module, function->qualname);
    for (size_t i = begin; i < out->size; i++) {
        if (out->data[i] == ';')
            out->data[i] = ',';
        else if ((unsigned char)out->data[i] < ' ')
            out->data[i] = ' ';
    }
}

/* The frames down to a node, outermost first. */
static void put_stack(struct cunei_buffer *out, const struct cunei_survey *survey,
                      uint32_t node, uint32_t *path)
{
    const struct cunei_node *nodes = survey->tree->nodes;
    uint32_t depth = 0;

    for (; node > 0; node = nodes[node].parent)
        path[depth++] = node;
    while (depth > 0) {
        uint32_t slot = nodes[path[--depth]].slot;
        if (slot > 0)
            put_name(out, &survey->functions.items[slot - 1]);
        else
            cunei_buffer_append_text(out, "?");
        cunei_buffer_append_text(out, depth > 0 ? ";" : " ");
    }
}

int cunei_export_folded(struct cunei_export *export)
{
    struct cunei_buffer line = {0};
    struct cunei_survey survey;

    int rc = cunei_selection_survey(export, true, false, &survey);
    if (rc < 0)
        return rc;
    const struct cunei_tree *tree = survey.tree;
    uint32_t *path = calloc(tree->count, sizeof(*path));
    rc = path ? 0 : -ENOMEM;
    for (uint32_t i = 1; rc == 0 && i < tree->count; i++) {
        const struct cunei_node *node = &tree->nodes[i];
        if (node->self == 0)
            continue;
        cunei_buffer_clear(&line);
        put_stack(&line, &survey, i, path);
        cunei_buffer_format(&line, "%" PRIu64 "\n", node->self);
        if (line.failed)
            rc = -ENOMEM;
        else if (fwrite(line.data, 1, line.size, export->out) != line.size)
            rc = errno ? -errno : -EIO;
    }
    free(path);
    cunei_buffer_fini(&line);
    cunei_survey_fini(&survey);
    return rc;
}
