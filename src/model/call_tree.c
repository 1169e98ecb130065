// SPDX-License-Identifier: MIT
#include "model/call_tree.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256u

struct cunei_tree *cunei_tree_new(void)
{
    struct cunei_tree *tree = calloc(1, sizeof(*tree));
    if (!tree)
        return NULL;
    tree->nodes = calloc(FIRST_CAPACITY, sizeof(*tree->nodes));
    tree->table = calloc((size_t)2 * FIRST_CAPACITY, sizeof(*tree->table));
    if (!tree->nodes || !tree->table) {
        cunei_tree_free(tree);
        return NULL;
    }
    tree->count = 1;
    tree->capacity = FIRST_CAPACITY;
    tree->table_size = 2 * FIRST_CAPACITY;
    return tree;
}

void cunei_tree_free(struct cunei_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->table);
    free(tree);
}

static uint32_t hash(uint32_t parent, uint32_t slot)
{
    uint64_t key = (uint64_t)parent << 32 | slot;
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Where the node stands in the table, or the free place where it would. */
static uint32_t find_place(const struct cunei_tree *tree, uint32_t parent,
                           uint32_t slot)
{
    uint32_t mask = tree->table_size - 1;
    uint32_t place = hash(parent, slot) & mask;

    for (;; place = (place + 1) & mask) {
        const struct cunei_node *node = &tree->nodes[tree->table[place]];
        if (tree->table[place] == 0 || (node->parent == parent && node->slot == slot))
            return place;
    }
}

static int grow(struct cunei_tree *tree)
{
    uint32_t capacity = 2 * tree->capacity;

    if (tree->capacity >= CUNEI_TREE_MAX)
        return -1;
    struct cunei_node *nodes = realloc(tree->nodes, capacity * sizeof(*nodes));
    if (!nodes)
        return -1;
    tree->nodes = nodes;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -1;
    free(tree->table);
    tree->table = table;
    tree->table_size = 2 * capacity;
    tree->capacity = capacity;
    for (uint32_t i = 1; i < tree->count; i++)
        table[find_place(tree, nodes[i].parent, nodes[i].slot)] = i;
    return 0;
}

uint32_t cunei_tree_child(struct cunei_tree *tree, uint32_t parent, uint32_t slot)
{
    struct cunei_node *node = &tree->nodes[parent];

    if (tree->nodes[node->latest].slot == slot && node->latest != 0)
        return node->latest;
    if (node->slot == slot && parent != 0)
        return parent;

    uint32_t place = find_place(tree, parent, slot);
    uint32_t child = tree->table[place];
    if (child == 0) {
        if (tree->count == tree->capacity) {
            if (grow(tree) < 0) {
                tree->folded++;
                return parent;
            }
            place = find_place(tree, parent, slot);
        }
        child = tree->count++;
        tree->nodes[child] = (struct cunei_node){.parent = parent, .slot = slot};
        tree->table[place] = child;
    }
    tree->nodes[parent].latest = child;
    return child;
}

static uint64_t scale(uint64_t time, uint64_t numerator, uint64_t denominator)
{
    return (uint64_t)((unsigned __int128)time * numerator / denominator);
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
        uint32_t slot = map ? map[from->slot] : from->slot;
        if (i > 0)
            here[i] = cunei_tree_child(tree, here[from->parent], slot);
        struct cunei_node *node = &tree->nodes[here[i]];
        node->self += scale(from->self, numerator, denominator);
        node->gap += scale(from->gap, numerator, denominator);
        if (node->slot != slot)
            continue; /* folded: the calls are not this node's */
        node->calls += from->calls;
        node->resumes += from->resumes;
        node->recursive += from->recursive;
    }
    tree->folded += other->folded;
    free(here);
}
