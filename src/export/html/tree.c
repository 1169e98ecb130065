// SPDX-License-Identifier: MIT
/* The call tree of the page, with a node for each of the threads that took the most
 * time, and the table of all threads. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/html/html.h"
#include "model/facts/call_tree.h"

/* So many threads are apart at most, and fewer if the tree would have too many nodes.
 */
#define THREADS_MAX 64u
#define NODES_MAX   50000u
/* What is together: the slot of a thread that is none. */
#define OTHERS (CUNEI_TREE_THREAD | (CUNEI_TREE_THREAD - 1))

/* A thread's node of the tree, and all time below it. */
struct thread_node {
    uint32_t node;
    uint64_t total;
};

static int compare(const void *a, const void *b)
{
    const struct thread_node *one = a, *two = b;

    if (one->total != two->total)
        return one->total > two->total ? -1 : 1;
    return one->node < two->node ? -1 : one->node > two->node;
}

/* The nodes of threads, the costliest first; owned by the caller.  NULL: no memory. */
static struct thread_node *find_threads(const struct cunei_tree *tree, uint32_t *count)
{
    struct thread_node *threads = calloc(tree->count, sizeof(*threads));
    uint64_t *totals = calloc(tree->count, sizeof(*totals));

    *count = 0;
    for (uint32_t i = tree->count - 1; threads && totals && i > 0; i--) {
        totals[i] += tree->nodes[i].self;
        totals[tree->nodes[i].parent] += totals[i];
        if (tree->nodes[i].slot & CUNEI_TREE_THREAD)
            threads[(*count)++] = (struct thread_node){i, totals[i]};
    }
    if (!totals) {
        free(threads);
        threads = NULL;
    }
    if (threads)
        qsort(threads, *count, sizeof(*threads), compare);
    free(totals);
    return threads;
}

/* A copy in which all threads but the first `limit` are one. */
static struct cunei_tree *gather(struct cunei_tree *tree,
                                 const struct thread_node *threads, uint32_t count,
                                 uint32_t limit)
{
    struct cunei_tree *copy = cunei_tree_new();

    for (uint32_t i = limit; i < count; i++)
        tree->nodes[threads[i].node].slot = OTHERS;
    if (copy)
        cunei_tree_add(copy, tree, NULL, 1, 1);
    return copy;
}

/* Keep as many threads apart as there is room for: a fourth of them each time. */
static int choose_threads(struct cunei_html *html)
{
    struct cunei_tree *tree = html->analysis.tree;
    uint32_t count = 0, limit = THREADS_MAX;
    struct thread_node *threads = find_threads(tree, &count);
    int rc = threads ? 0 : -ENOMEM;

    for (; rc == 0 && (count > limit || tree->count > NODES_MAX); limit /= 4) {
        struct cunei_tree *fewer = gather(tree, threads, count, limit);
        cunei_tree_free(html->tree);
        html->tree = fewer;
        if (!fewer)
            rc = -ENOMEM;
        else if (fewer->count <= NODES_MAX || limit == 0)
            break;
    }
    free(threads);
    return rc;
}

/* The tree with each node behind the one above it, and before those beside it: then
 * little is written of where a node is. */
struct ordered {
    struct cunei_tree tree; /* its nodes are owned */
    uint32_t *levels;       /* owned: by node */
};

static void ordered_fini(struct ordered *ordered)
{
    free(ordered->tree.nodes);
    free(ordered->levels);
}

/* The node behind `node`: its first child, or the next one beside it or above. */
static uint32_t find_next(const struct cunei_tree *tree, uint32_t node,
                          const uint32_t *first, const uint32_t *beside)
{
    if (first[node] > 0)
        return first[node];
    while (node > 0 && beside[node] == 0)
        node = tree->nodes[node].parent;
    return beside[node];
}

static int ordered_init(struct ordered *ordered, const struct cunei_tree *tree)
{
    uint32_t *first = calloc(tree->count, sizeof(*first));
    uint32_t *beside = calloc(tree->count, sizeof(*beside));
    uint32_t *places = calloc(tree->count, sizeof(*places)), node = 0;

    *ordered = (struct ordered){
        .tree = {.nodes = calloc(tree->count, sizeof(*tree->nodes)),
                 .count = tree->count},
        .levels = calloc(tree->count, sizeof(*ordered->levels)),
    };
    bool has_memory =
        first && beside && places && ordered->tree.nodes && ordered->levels;
    for (uint32_t i = tree->count; has_memory && i-- > 1;) {
        beside[i] = first[tree->nodes[i].parent];
        first[tree->nodes[i].parent] = i;
    }
    for (uint32_t i = 1; has_memory && i < tree->count; i++) {
        node = find_next(tree, node, first, beside);
        places[node] = i;
        ordered->tree.nodes[i] = tree->nodes[node];
        uint32_t parent = places[tree->nodes[node].parent];
        ordered->tree.nodes[i].parent = parent;
        ordered->levels[i] = ordered->levels[parent] + 1;
    }
    free(first);
    free(beside);
    free(places);
    if (!has_memory)
        ordered_fini(ordered);
    return has_memory ? 0 : -ENOMEM;
}

/* How many levels above the one before it a node is; 0: it is below that. */
static uint64_t rise_of(const struct cunei_node *node, void *context)
{
    const struct ordered *ordered = context;
    size_t i = (size_t)(node - ordered->tree.nodes);

    return i > 0 ? ordered->levels[i - 1] + 1 - ordered->levels[i] : 0;
}

/* Time outside of all functions is the root's and the threads'. */
static uint64_t self_of(const struct cunei_node *node, void *context)
{
    const struct ordered *ordered = context;
    bool is_function = node > ordered->tree.nodes && !(node->slot & CUNEI_TREE_THREAD);

    return is_function ? node->self : 0;
}

static uint64_t calls_of(const struct cunei_node *node, void *context)
{
    (void)context;
    return node->calls;
}

/* [node, row of thread_facts or -1, …] */
static int put_threads(struct cunei_html *html, const struct cunei_tree *tree)
{
    const struct cunei_analysis *analysis = &html->analysis;
    uint32_t *rows = calloc(analysis->thread_count + 1, sizeof(*rows));
    const char *comma = "";
    int rc = rows ? 0 : -ENOMEM;

    for (uint32_t i = 0; rows && i < analysis->thread_count; i++)
        rows[analysis->threads[i].number] = i;
    cunei_buffer_append_text(&html->page.text, ",\n\"threads\":[");
    for (uint32_t i = 1; rc == 0 && i < tree->count; i++) {
        uint32_t slot = tree->nodes[i].slot, number = slot & ~CUNEI_TREE_THREAD;
        if (!(slot & CUNEI_TREE_THREAD))
            continue;
        bool is_known =
            number < analysis->thread_count && rows[number] < CUNEI_HTML_ROWS_MAX;
        cunei_buffer_format(&html->page.text, "%s%" PRIu32 ",%" PRId64, comma, i,
                            is_known ? (int64_t)rows[number] : -1);
        comma = ",";
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(&html->page.text, "]");
    free(rows);
    return rc;
}

/* [row of its process, tid, name, begin, end, CPU or -1, waiting or -1, calls, gc] */
static int put_thread_facts(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    struct cunei_buffer *out = &html->page.text;
    int rc = 0;

    cunei_buffer_append_text(out, ",\n\"thread_facts\":[");
    for (size_t i = 0; rc == 0 && i < analysis->thread_count && i < CUNEI_HTML_ROWS_MAX;
         i++) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        cunei_buffer_format(out, "%s\n[%" PRId64 ",%" PRIu32 ",", i > 0 ? "," : "",
                            cunei_html_process_row(html, thread->process), thread->tid);
        cunei_page_redacted(out, thread->name, strlen(thread->name));
        cunei_buffer_format(out,
                            ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRIu64
                            ",%" PRIu64 "]",
                            cunei_export_since(html->export, thread->begin_ns),
                            cunei_export_since(html->export, thread->end_ns),
                            thread->has_cpu ? (int64_t)thread->cpu_ns : -1,
                            thread->has_cpu ? (int64_t)thread->waiting_ns : -1,
                            thread->calls, thread->collections.pause);
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(out, "]");
    return rc;
}

int cunei_html_put_tree(struct cunei_html *html)
{
    static const struct {
        const char *name;
        uint64_t (*value)(const struct cunei_node *node, void *context);
    } columns[] = {{"rise", rise_of},
                   {"function", cunei_page_function_of},
                   {"self", self_of},
                   {"calls", calls_of}};
    struct ordered ordered = {0};

    int rc = choose_threads(html);
    if (rc == 0)
        rc = ordered_init(&ordered, html->tree ? html->tree : html->analysis.tree);
    if (rc < 0)
        return rc;
    cunei_buffer_append_text(&html->page.text, ",\n\"tree\":{");
    for (unsigned i = 0; rc == 0 && i < sizeof(columns) / sizeof(columns[0]); i++) {
        cunei_buffer_append_text(&html->page.text, i > 0 ? ",\n" : "");
        rc = cunei_page_column(&html->page, columns[i].name, &ordered.tree,
                               columns[i].value, &ordered);
    }
    if (rc == 0)
        rc = put_threads(html, &ordered.tree);
    cunei_buffer_append_text(&html->page.text, "}");
    ordered_fini(&ordered);
    return rc == 0 ? put_thread_facts(html) : rc;
}
