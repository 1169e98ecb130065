// SPDX-License-Identifier: MIT
/* Stacks with the nanoseconds on top of each, as flamegraph.pl and inferno read them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "export/drain.h"
#include "export/exact.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/name.h"
#include "export/selection.h"
#include "model/tree.h"
#include "survey/survey.h"

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
            /* What tells one frame from the next must not be in a name. */
            cunei_name_put_function(out, &survey->functions.items[slot - 1], ';');
        else
            cunei_buffer_append_text(out, "?");
        cunei_buffer_append_text(out, depth > 0 ? ";" : " ");
    }
}

int cunei_export_folded(struct cunei_export *export)
{
    struct cunei_buffer lines = {0};
    struct cunei_survey survey;

    int rc = cunei_selection_survey(export, true, false, &survey);
    if (rc < 0)
        return rc;
    const struct cunei_tree *tree = survey.tree;
    uint32_t *path = calloc(tree->count, sizeof(*path));
    rc = path ? cunei_exact_tree(&survey) : -ENOMEM;
    for (uint32_t i = 1; rc == 0 && i < tree->count; i++) {
        const struct cunei_node *node = &tree->nodes[i];
        if (node->self == 0)
            continue;
        put_stack(&lines, &survey, i, path);
        cunei_buffer_format(&lines, "%" PRIu64 "\n", node->self);
        rc = cunei_drain_full(&lines, export->out);
    }
    if (rc == 0)
        rc = cunei_drain(&lines, export->out);
    free(path);
    cunei_buffer_fini(&lines);
    cunei_survey_fini(&survey);
    return rc;
}
