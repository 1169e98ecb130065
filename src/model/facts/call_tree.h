// SPDX-License-Identifier: MIT
/*
 * The call tree: for each way to a function, how often it was taken and the time spent
 * at its end.
 *
 * Node 0 is the root, which is no function.  A child always has a higher number than
 * its parent.  A function that calls itself directly stays in one node, so that a plain
 * recursion is one line and not a thousand.  The number of nodes is capped: a way that
 * finds no place any more is counted to the last node on it, and `folded` says how
 * often that happened.  A missing allocation is treated in the same way.
 */
#ifndef CUNEI_MODEL_FACTS_CALL_TREE_H
#define CUNEI_MODEL_FACTS_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define CUNEI_TREE_MAX (1u << 20)

/* The slot of a node that is a thread and no function: this bit, and its number.  Such
 * nodes are below the root, where a tree keeps threads apart. */
#define CUNEI_TREE_THREAD (1u << 31)

struct cunei_node {
    uint32_t parent;
    uint32_t slot;   /* of the function; 0: the root, or unknown */
    uint32_t latest; /* private: the child that was looked for last */
    uint32_t reserved;
    uint64_t calls;
    uint64_t resumes;
    uint64_t recursive; /* of the calls: made by the function itself */
    uint64_t self;
    uint64_t gap; /* time of which only this is known: it went by below here */
};

struct cunei_tree {
    struct cunei_node *nodes; /* owned */
    uint32_t count;
    uint32_t capacity;
    struct cunei_map map; /* private: of parent and slot */
    uint64_t folded;
};

/* NULL: no memory. */
struct cunei_tree *cunei_tree_new(void);
void cunei_tree_free(struct cunei_tree *tree);

/* The child of a node, made if there is none. */
uint32_t cunei_tree_child(struct cunei_tree *tree, uint32_t parent, uint32_t slot);

/*
 * Add another tree's nodes.  A slot s of it is map[s] here, unless `map` is NULL or the
 * slot is a thread's; times are multiplied by `numerator` and divided by `denominator`.
 */
void cunei_tree_add(struct cunei_tree *tree, const struct cunei_tree *other,
                    const uint32_t *map, uint64_t numerator, uint64_t denominator);

/* What cunei_tree_fold does with a node. */
enum cunei_tree_fold {
    CUNEI_TREE_KEEP,
    CUNEI_TREE_FOLD,       /* its time is its caller's */
    CUNEI_TREE_FOLD_BELOW, /* the same, but only where its caller is folded */
    CUNEI_TREE_FOLD_RUN,   /* the same, but only where its caller has this value too */
    CUNEI_TREE_HIDE,       /* its time is in the `gap` of its caller */
    CUNEI_TREE_DROP,       /* its time is left out */
};

struct cunei_tree_folding {
    const enum cunei_tree_fold *folds; /* by slot */
    bool keeps_outermost; /* a node without a caller stays: the root gets no time */
    uint64_t *moved;      /* gets by slot the time that it got from others; or NULL */
    uint32_t *places;     /* gets by node the one of the copy that it is in; or NULL */
};

/*
 * A copy without the nodes that are folded or dropped: what they called is called by
 * the function that called them.  NULL: no memory.
 */
struct cunei_tree *cunei_tree_fold(const struct cunei_tree *tree,
                                   const struct cunei_tree_folding *folding);

#endif
