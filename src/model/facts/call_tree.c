// SPDX-License-Identifier: MIT
#include "model/facts/call_tree.h"

#include <stdlib.h>

#include "base/vector.h"

struct cunei_tree *cunei_tree_new(void)
{
    struct cunei_tree *tree = calloc(1, sizeof(*tree));

    if (!tree || !CUNEI_VECTOR_RESERVE(tree->nodes, tree->capacity, 1)) {
        cunei_tree_free(tree);
        return NULL;
    }
    tree->nodes[tree->count++] = (struct cunei_node){0};
    return tree;
}

void cunei_tree_free(struct cunei_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    cunei_map_fini(&tree->map);
    free(tree);
}

/* The node, made if there is none; 0: there is no place for it. */
static uint32_t find(struct cunei_tree *tree, uint32_t parent, uint32_t slot)
{
    uint64_t hash = cunei_hash_number((uint64_t)parent << 32 | slot);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&tree->map, &search, &i);) {
        if (tree->nodes[i].parent == parent && tree->nodes[i].slot == slot)
            return i;
    }
    if (tree->count == CUNEI_TREE_MAX ||
        !CUNEI_VECTOR_RESERVE(tree->nodes, tree->capacity, tree->count + 1) ||
        cunei_map_add(&tree->map, hash, tree->count) < 0)
        return 0;
    tree->nodes[tree->count] = (struct cunei_node){.parent = parent, .slot = slot};
    return tree->count++;
}

uint32_t cunei_tree_child(struct cunei_tree *tree, uint32_t parent, uint32_t slot)
{
    struct cunei_node *node = &tree->nodes[parent];

    if (tree->nodes[node->latest].slot == slot && node->latest != 0)
        return node->latest;
    if (node->slot == slot && parent != 0)
        return parent;

    uint32_t child = find(tree, parent, slot);
    if (child == 0) {
        tree->folded++;
        return parent;
    }
    tree->nodes[parent].latest = child;
    return child;
}

static uint64_t scale(uint64_t time, uint64_t numerator, uint64_t denominator)
{
    return (uint64_t)((unsigned __int128)time * numerator / denominator);
}

static void add_node(struct cunei_node *node, const struct cunei_node *from)
{
    node->self += from->self;
    node->gap += from->gap;
    if (node->slot != from->slot)
        return; /* folded: the calls are not this node's */
    node->calls += from->calls;
    node->resumes += from->resumes;
    node->recursive += from->recursive;
}

void cunei_tree_add(struct cunei_tree *tree, const struct cunei_tree *other,
                    const uint32_t *map, uint64_t numerator, uint64_t denominator)
{
    uint32_t *here = calloc(other->count, sizeof(*here));
    if (!here) {
        tree->folded += other->count;
        return;
    }
    for (uint32_t i = 0; i < other->count; i++) {
        const struct cunei_node *from = &other->nodes[i];
        bool is_mapped = map && !(from->slot & CUNEI_TREE_THREAD);
        uint32_t slot = is_mapped ? map[from->slot] : from->slot;
        if (i > 0)
            here[i] = cunei_tree_child(tree, here[from->parent], slot);
        struct cunei_node scaled = *from;
        scaled.slot = slot;
        scaled.self = scale(from->self, numerator, denominator);
        scaled.gap = scale(from->gap, numerator, denominator);
        add_node(&tree->nodes[here[i]], &scaled);
    }
    tree->folded += other->folded;
    free(here);
}

/* Whether a node is folded; `caller`: how its caller is folded, `is_caller_folded`:
 * whether it was. */
static bool folds_away(enum cunei_tree_fold fold, enum cunei_tree_fold caller,
                       bool is_caller_folded)
{
    switch (fold) {
    case CUNEI_TREE_FOLD:
    case CUNEI_TREE_HIDE:
    case CUNEI_TREE_DROP:
        return true;
    case CUNEI_TREE_FOLD_BELOW:
        return is_caller_folded;
    case CUNEI_TREE_FOLD_RUN:
        return caller == CUNEI_TREE_FOLD_RUN;
    case CUNEI_TREE_KEEP:
        break;
    }
    return false;
}

static void move_time(struct cunei_node *to, const struct cunei_node *from,
                      enum cunei_tree_fold fold, uint64_t *moved)
{
    if (fold == CUNEI_TREE_DROP)
        return;
    to->gap += from->gap;
    if (fold == CUNEI_TREE_HIDE) {
        to->gap += from->self;
        return;
    }
    to->self += from->self;
    if (moved)
        moved[to->slot] += from->self;
}

struct cunei_tree *cunei_tree_fold(const struct cunei_tree *tree,
                                   const struct cunei_tree_folding *folding)
{
    const enum cunei_tree_fold *folds = folding->folds;
    struct cunei_tree *copy = cunei_tree_new();
    uint32_t *here = calloc(tree->count, sizeof(*here));
    bool *is_folded = calloc(tree->count, sizeof(*is_folded));
    bool has_memory = copy && here && is_folded;

    for (uint32_t i = 1; has_memory && i < tree->count; i++) {
        const struct cunei_node *from = &tree->nodes[i];
        uint32_t parent = here[from->parent];
        enum cunei_tree_fold fold = folds[from->slot];
        enum cunei_tree_fold caller =
            from->parent > 0 ? folds[tree->nodes[from->parent].slot] : CUNEI_TREE_KEEP;
        is_folded[i] =
            (parent > 0 || !folding->keeps_outermost || fold >= CUNEI_TREE_HIDE) &&
            folds_away(fold, caller, is_folded[from->parent]);
        here[i] = is_folded[i] ? parent : cunei_tree_child(copy, parent, from->slot);
        if (!is_folded[i])
            add_node(&copy->nodes[here[i]], from);
        else
            move_time(&copy->nodes[parent], from, fold, folding->moved);
        if (folding->places)
            folding->places[i] = here[i];
    }
    if (copy)
        copy->folded += tree->folded;
    if (!has_memory) {
        cunei_tree_free(copy);
        copy = NULL;
    }
    free(here);
    free(is_folded);
    return copy;
}
