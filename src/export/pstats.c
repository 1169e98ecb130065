// SPDX-License-Identifier: MIT
/*
 * What cProfile writes: a dictionary of (file, line, name) to calls, times and callers,
 * for pstats, snakeviz and tuna.
 *
 * It counts like cProfile: a resumption of a generator is a call, a call of a function
 * that is open is not primitive, and functions with the same file, line and name are
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/cprofile_label.h"
#include "base/buffer.h"
#include "export/export.h"
#include "export/marshal.h"
#include "export/rounding.h"
#include "export/selection.h"
#include "export/write_buffer.h"
#include "export/writers.h"
#include "model/facts/call_edges.h"

/* A function as cProfile knows it. */
struct entry {
    uint64_t entries;   /* calls and resumes */
    uint64_t recursive; /* of them */
    uint64_t self_ns, total_ns;
    uint32_t mark;       /* the number of its key, plus one; 0: not yet written */
    uint32_t first_edge; /* to it, and for each the next one; 0: there is none */
};

struct writer {
    FILE *out;
    const struct cunei_analysis *analysis;
    struct cunei_buffer marshal;
    struct cunei_buffer name;         /* of a C function */
    struct cunei_functions functions; /* by file, line and name */
    struct entry *entries;            /* owned: of each */
    uint32_t *map;                    /* owned: an analysis's slot to one of them */
    struct cunei_edges *edges;        /* owned: between them */
    uint32_t *next;                   /* owned: the next edge to the same one */
    char **names;                     /* owned, as each of them; or NULL */
    uint32_t mark_count;
};

/* Map a function of the analysis to an entry. */
static int add_function(struct writer *writer, uint32_t index)
{
    const struct cunei_function *function = &writer->analysis->functions.items[index];
    struct cunei_function label = cunei_label_make(function, &writer->name);

    if (!function->file[0]) {
        writer->names[index] = writer->name.failed ? NULL : strdup(label.qualname);
        if (!writer->names[index])
            return -ENOMEM;
        label.qualname = writer->names[index];
    }
    int found = cunei_functions_add(&writer->functions, &label);
    if (found < 0)
        return found;
    writer->map[index + 1] = (uint32_t)found + 1;

    const struct cunei_analysis_function *facts = &writer->analysis->facts[index];
    struct entry *entry = &writer->entries[found];
    entry->entries += facts->calls + facts->resumes;
    entry->recursive += facts->recursive + facts->nested;
    entry->self_ns += facts->self_ns;
    entry->total_ns += facts->total_ns;
    return 0;
}

static int add_edges(struct writer *writer)
{
    writer->edges = cunei_edges_new();
    if (!writer->edges)
        return -ENOMEM;
    cunei_edges_add(writer->edges, writer->analysis->edges, writer->map, 1, 1);
    writer->next = calloc(writer->edges->count, sizeof(*writer->next));
    if (!writer->next)
        return -ENOMEM;
    for (uint32_t i = writer->edges->count - 1; i > 0; i--) {
        const struct cunei_edge *edge = &writer->edges->items[i];
        if (edge->caller == 0 || edge->callee == 0)
            continue;
        struct entry *callee = &writer->entries[edge->callee - 1];
        writer->next[i] = callee->first_edge;
        callee->first_edge = i;
    }
    return 0;
}

static int gather(struct writer *writer)
{
    uint32_t count = writer->analysis->functions.count;
    int rc = 0;

    writer->entries = calloc(count + (size_t)1, sizeof(*writer->entries));
    writer->names = calloc(count + (size_t)1, sizeof(*writer->names));
    writer->map = calloc(count + (size_t)1, sizeof(*writer->map));
    if (!writer->entries || !writer->names || !writer->map)
        return -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = add_function(writer, i);
    return rc == 0 ? add_edges(writer) : rc;
}

static void put_key(struct writer *writer, uint32_t index)
{
    const struct cunei_function *function = &writer->functions.items[index];
    struct entry *entry = &writer->entries[index];

    if (entry->mark > 0) {
        cunei_marshal_again(&writer->marshal, entry->mark - 1);
        return;
    }
    entry->mark = ++writer->mark_count;
    cunei_marshal_tuple(&writer->marshal, 3, true);
    cunei_marshal_text(&writer->marshal, function->file, strlen(function->file));
    cunei_marshal_number(&writer->marshal, function->line);
    cunei_marshal_text(&writer->marshal, function->qualname,
                       strlen(function->qualname));
}

/* Callers have calls before primitive calls; entries have them the other way round. */
static void put_caller(struct writer *writer, const struct cunei_edge *edge)
{
    uint64_t entries = edge->calls + edge->resumes;

    put_key(writer, edge->caller - 1);
    cunei_marshal_tuple(&writer->marshal, 4, false);
    cunei_marshal_number(&writer->marshal, entries);
    cunei_marshal_number(&writer->marshal, entries - edge->recursive);
    cunei_marshal_seconds(&writer->marshal, edge->self);
    cunei_marshal_seconds(&writer->marshal, edge->inclusive);
}

static int put_entry(struct writer *writer, uint32_t index)
{
    const struct entry *entry = &writer->entries[index];

    put_key(writer, index);
    cunei_marshal_tuple(&writer->marshal, 5, false);
    cunei_marshal_number(&writer->marshal, entry->entries - entry->recursive);
    cunei_marshal_number(&writer->marshal, entry->entries);
    cunei_marshal_seconds(&writer->marshal, entry->self_ns);
    cunei_marshal_seconds(&writer->marshal, entry->total_ns);
    cunei_marshal_dict(&writer->marshal);
    for (uint32_t i = entry->first_edge; i > 0; i = writer->next[i])
        put_caller(writer, &writer->edges->items[i]);
    cunei_marshal_dict_end(&writer->marshal);
    return cunei_write_buffer_if_full(&writer->marshal, writer->out);
}

static void fini(struct writer *writer)
{
    for (uint32_t i = 0; writer->names && i < writer->analysis->functions.count; i++)
        free(writer->names[i]);
    free(writer->names);
    free(writer->entries);
    free(writer->map);
    free(writer->next);
    cunei_edges_free(writer->edges);
    cunei_functions_fini(&writer->functions);
    cunei_buffer_fini(&writer->name);
    cunei_buffer_fini(&writer->marshal);
}

int cunei_export_pstats(struct cunei_export *export)
{
    struct cunei_analysis analysis;
    struct writer writer = {.out = export->out, .analysis = &analysis};

    int rc = cunei_selection_analyze(
        export, &(struct cunei_analysis_options){.edges = true}, &analysis);
    if (rc < 0)
        return rc;
    rc = cunei_rounding_correct_edges(&analysis);
    if (rc == 0)
        rc = gather(&writer);
    if (rc == 0)
        cunei_marshal_dict(&writer.marshal);
    for (uint32_t i = 0; rc == 0 && i < writer.functions.count; i++)
        rc = put_entry(&writer, i);
    if (rc == 0) {
        cunei_marshal_dict_end(&writer.marshal);
        rc = cunei_write_buffer(&writer.marshal, writer.out);
    }
    fini(&writer);
    cunei_analysis_fini(&analysis);
    return rc;
}
