// SPDX-License-Identifier: MIT
/* The call tree of a report, with total times. */
#include "model/facts/call_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/function_numbers.h"
#include "model/facts/import_system.h"
#include "report/note.h"
#include "report/section.h"
#include "report/shown_tree.h"
#include "text/format.h"
#include "text/json.h"
#include "text/table.h"

/* The tree with total times, and the children of each node in order. */
struct branches {
    const struct cunei_report *report;
    const struct cunei_tree *tree;
    uint64_t *totals;   /* owned, as all: by node */
    bool *shown;        /* the node, or one below it, matches the patterns */
    uint32_t *children; /* all nodes but the root, by parent, the costliest first */
    uint32_t *first; /* by node: where its children begin in `children`; they end where
                        those of the next begin */
};

/* For qsort, which takes no context. */
struct child {
    uint32_t parent, node, slot;
    uint64_t total;
};

static int compare_children(const void *a, const void *b)
{
    const struct child *one = a, *two = b;

    if (one->parent != two->parent)
        return one->parent < two->parent ? -1 : 1;
    if (one->total != two->total)
        return one->total > two->total ? -1 : 1;
    return one->slot < two->slot ? -1 : one->slot > two->slot;
}

static void branches_fini(struct branches *branches)
{
    free(branches->totals);
    free(branches->shown);
    free(branches->children);
    free(branches->first);
}

static int sort_children(struct branches *branches)
{
    const struct cunei_tree *tree = branches->tree;
    struct child *children = calloc(tree->count, sizeof(*children));
    if (!children)
        return -ENOMEM;
    for (uint32_t i = 1; i < tree->count; i++)
        children[i - 1] = (struct child){tree->nodes[i].parent, i, tree->nodes[i].slot,
                                         branches->totals[i]};
    qsort(children, tree->count - 1, sizeof(*children), compare_children);
    for (uint32_t i = 0; i + 1 < tree->count; i++) {
        branches->children[i] = children[i].node;
        branches->first[children[i].parent + 1] = i + 1;
    }
    for (uint32_t i = 1; i <= tree->count; i++) {
        if (branches->first[i] < branches->first[i - 1])
            branches->first[i] = branches->first[i - 1];
    }
    free(children);
    return 0;
}

/* Parents have lower numbers than their children: one pass from the end adds up. */
static int branches_init(struct branches *branches, const struct cunei_report *report,
                         const struct cunei_tree *tree)
{
    *branches = (struct branches){.report = report, .tree = tree};
    branches->totals = calloc(tree->count, sizeof(*branches->totals));
    branches->shown = calloc(tree->count, sizeof(*branches->shown));
    branches->children = calloc(tree->count, sizeof(*branches->children));
    branches->first = calloc((size_t)tree->count + 1, sizeof(*branches->first));
    if (!branches->totals || !branches->shown || !branches->children ||
        !branches->first) {
        branches_fini(branches);
        return -ENOMEM;
    }
    for (uint32_t i = tree->count - 1; i > 0; i--) {
        const struct cunei_node *node = &tree->nodes[i];
        branches->totals[i] += node->self + node->gap;
        branches->totals[node->parent] += branches->totals[i];
        branches->shown[i] |=
            node->slot > 0 && cunei_report_shows(report, node->slot - 1);
        branches->shown[node->parent] |= branches->shown[i];
    }
    int rc = sort_children(branches);
    if (rc < 0)
        branches_fini(branches);
    return rc;
}

static bool is_worth_it(const struct branches *branches, uint32_t node)
{
    const struct cunei_report *report = branches->report;
    double least = report->options->min_share * (double)report->waiting.base_ns;

    return branches->shown[node] && (double)branches->totals[node] >= least;
}

static const struct cunei_column columns[] = {
    {.head = "total"},
    {.head = "%", .rank = 1},
    {.head = "self", .rank = 3},
    {.head = "calls", .rank = 4},
    {.head = "resumes", .rank = 5},
    {.head = "call tree", .min = 38},
    {.head = "", .rank = 2, .min = 14, .is_path = true},
};

/* A budget sampled the function: the node has only the calls inside samples. */
static bool is_node_demoted(const struct branches *branches,
                            const struct cunei_node *node)
{
    return node->slot > 0 && cunei_function_is_estimated(
                                 &branches->report->analysis->facts[node->slot - 1]);
}

static struct cunei_buffer *number_cell(struct cunei_table *table, enum cunei_ink ink,
                                        bool is_demoted)
{
    struct cunei_buffer *cell = cunei_table_cell(table, ink);

    if (is_demoted)
        cunei_buffer_append_text(cell, "~");
    return cell;
}

/* How much of a library the row stands for matters less than its name. */
static void put_run(const struct cunei_report *report, uint32_t index,
                    struct cunei_table *table, struct cunei_buffer *name)
{
    cunei_table_tail(table);
    cunei_shown_tree_put_run(report, index, name);
}

static void add_row(const struct branches *branches, struct cunei_table *table,
                    uint32_t index, const struct cunei_buffer *branch)
{
    const struct cunei_report *report = branches->report;
    const struct cunei_node *node = &branches->tree->nodes[index];
    enum cunei_ink heat = cunei_report_heat(report, node->self);
    bool is_demoted = is_node_demoted(branches, node);

    cunei_format_duration(number_cell(table, CUNEI_INK_PLAIN, is_demoted),
                          branches->totals[index]);
    cunei_format_percent(cunei_table_cell(table, CUNEI_INK_PLAIN),
                         branches->totals[index], report->waiting.base_ns);
    cunei_format_duration(number_cell(table, heat, is_demoted), node->self);
    cunei_format_count(number_cell(table, CUNEI_INK_PLAIN, is_demoted), node->calls);
    struct cunei_buffer *resumes = cunei_table_cell(table, CUNEI_INK_PLAIN);
    if (node->resumes > 0)
        cunei_format_count(resumes, node->resumes);
    struct cunei_buffer *name = cunei_table_cell(table, CUNEI_INK_STRONG);
    cunei_buffer_append_text(name, cunei_buffer_text(branch));
    cunei_table_lead(table);
    cunei_report_name(report, node->slot ? node->slot - 1 : UINT32_MAX, name);
    if (node->recursive > 0)
        cunei_buffer_append_text(name, " ↻");
    if (branches->tree == report->project.tree)
        put_run(report, index, table, name);
    struct cunei_buffer *place = cunei_table_cell(table, CUNEI_INK_DIM);
    if (node->slot > 0)
        cunei_report_place(report, node->slot - 1, place);
}

/* A row for the levels below --depth. */
static void add_rest(struct cunei_table *table, const struct cunei_buffer *branch)
{
    for (unsigned i = 0; i < 5; i++)
        (void)cunei_table_cell(table, CUNEI_INK_PLAIN);
    struct cunei_buffer *text = cunei_table_cell(table, CUNEI_INK_DIM);
    cunei_buffer_append_text(text, cunei_buffer_text(branch));
    cunei_table_lead(table);
    cunei_buffer_append_text(text, "…");
    (void)cunei_table_cell(table, CUNEI_INK_PLAIN);
}

/* The rows below a node.  `branch` holds the lines that run down beside them. */
static void add_children(const struct branches *branches, struct cunei_table *table,
                         uint32_t parent, uint64_t level, struct cunei_buffer *branch)
{
    const struct cunei_report_options *options = branches->report->options;
    uint32_t begin = branches->first[parent], end = branches->first[parent + 1];
    size_t size = branch->size;

    /* Children are sorted by their totals, so that those below --min-percent come last;
     * the patterns may hide some before. */
    while (end > begin && !is_worth_it(branches, branches->children[end - 1]))
        end--;
    if (end > begin && options->depth > 0 && level >= options->depth) {
        cunei_buffer_append_text(branch, "└ ");
        add_rest(table, branch);
        cunei_buffer_cut(branch, size);
        return;
    }
    for (uint32_t i = begin; i < end; i++) {
        uint32_t child = branches->children[i];
        if (!is_worth_it(branches, child))
            continue;
        if (level > 0)
            cunei_buffer_append_text(branch, i + 1 == end ? "└ " : "├ ");
        add_row(branches, table, child, branch);
        cunei_buffer_cut(branch, size);
        if (level > 0)
            cunei_buffer_append_text(branch, i + 1 == end ? "  " : "│ ");
        add_children(branches, table, child, level + 1, branch);
        cunei_buffer_cut(branch, size);
    }
}

static bool has_shown_call(const struct cunei_report *report)
{
    const struct cunei_analysis *analysis = report->analysis;

    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        const struct cunei_analysis_function *facts = &analysis->facts[i];
        if (facts->calls + facts->resumes > 0 && cunei_report_shows(report, i))
            return true;
    }
    return false;
}

static int print_tree(const struct cunei_report *report, const struct cunei_tree *tree,
                      struct cunei_report_rows *rows)
{
    struct branches branches;
    struct cunei_table table;
    struct cunei_buffer branch = {0}, absence = {0};

    int rc = branches_init(&branches, report, tree);
    if (rc < 0)
        return rc;
    cunei_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    add_children(&branches, &table, 0, 0, &branch);
    if (has_shown_call(report))
        cunei_buffer_format(
            &absence, "No function took %g %% of the time of all threads or more.\n",
            100 * report->options->min_share);
    else
        cunei_buffer_append_text(&absence, cunei_report_absence(report));
    rc = cunei_report_print_table(report, &table, cunei_buffer_text(&absence));
    cunei_buffer_fini(&absence);
    cunei_buffer_fini(&branch);
    branches_fini(&branches);
    *rows = (struct cunei_report_rows){1, 1};
    return rc;
}

static int print(const struct cunei_report *report, struct cunei_report_rows *rows)
{
    return print_tree(report, report->tree, rows);
}

static int print_imports(const struct cunei_report *report,
                         struct cunei_report_rows *rows)
{
    return print_tree(report, report->imports.modules, rows);
}

static int print_notes(const struct cunei_report *report)
{
    const struct cunei_report_options *options = report->options;
    struct cunei_buffer words = {0};
    int rc = cunei_note_waiting(report);

    if (rc == 0 && options->min_share > 0) {
        cunei_buffer_format(&words,
                            "entries below %g %% of the working time; --min-percent "
                            "0 shows them",
                            100 * options->min_share);
        rc = cunei_note_print(report, "hidden", CUNEI_INK_DIM, &words);
    }
    if (rc == 0 && report->analysis->tree->folded > 0) {
        cunei_buffer_append_text(&words,
                                 "the tree has too many branches; the time of the rest "
                                 "is added to the callers that are shown");
        rc = cunei_note_print(report, "folded", CUNEI_INK_BAD, &words);
    }
    return rc;
}

static void put_node(const struct branches *branches, struct cunei_json *json,
                     uint32_t index)
{
    const struct cunei_node *node = &branches->tree->nodes[index];
    const struct cunei_function *names =
        node->slot ? &branches->report->analysis->functions.items[node->slot - 1]
                   : NULL;

    cunei_json_open(json, NULL, '{');
    cunei_json_number(json, "id", index);
    cunei_json_number(json, "parent", node->parent);
    cunei_report_put_function(json, "qualname", names, names ? names->line : 0);
    cunei_json_number(json, "calls", node->calls);
    cunei_json_number(json, "resumes", node->resumes);
    cunei_json_number(json, "recursive", node->recursive);
    cunei_json_number(json, "total_ns", branches->totals[index]);
    cunei_json_number(json, "self_ns", node->self);
    if (is_node_demoted(branches, node))
        cunei_json_flag(json, "demoted", true);
    cunei_json_close(json, '}');
}

static int print_tree_json(const struct cunei_report *report,
                           const struct cunei_tree *tree, const char *key,
                           struct cunei_json *json)
{
    struct branches branches;

    int rc = branches_init(&branches, report, tree);
    if (rc < 0)
        return rc;
    cunei_json_open(json, key, '[');
    for (uint32_t i = 0; i + 1 < branches.tree->count; i++)
        put_node(&branches, json, branches.children[i]);
    cunei_json_close(json, ']');
    branches_fini(&branches);
    return 0;
}

static int print_json(const struct cunei_report *report, struct cunei_json *json)
{
    const struct cunei_report_choice *choice = report->choice;

    return choice->is_asked ? print_tree_json(report, report->tree, "tree", json) : 0;
}

static int print_imports_json(const struct cunei_report *report,
                              struct cunei_json *json)
{
    const struct cunei_report_choice *choice = report->choice;

    return choice->is_asked
               ? print_tree_json(report, report->imports.modules, "imports", json)
               : 0;
}

static bool has_rows(const struct cunei_analysis *analysis)
{
    return !cunei_report_is_without_calls(analysis);
}

static bool has_imports(const struct cunei_analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        if (analysis->facts[i].calls > 0 &&
            cunei_is_imported_module(&analysis->functions.items[i]))
            return true;
    }
    return false;
}

const struct cunei_report_section cunei_report_section_tree = {
    .name = "tree",
    .letter = 't',
    .folds = true,
    .help = "show the call tree with total times",
    .needs = CUNEI_REPORT_NEEDS_TREE,
    .has_rows = has_rows,
    .print = print,
    .print_notes = print_notes,
    .print_json = print_json,
};

const struct cunei_report_section cunei_report_section_imports = {
    .name = "imports",
    .folds = true,
    .help = "show the tree of imported modules; self is a module's\n"
            "time without the modules that it imports",
    .needs = CUNEI_REPORT_NEEDS_TREE,
    .has_rows = has_imports,
    .print = print_imports,
    .print_notes = print_notes,
    .print_json = print_imports_json,
};
