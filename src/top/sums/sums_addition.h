// SPDX-License-Identifier: MIT
/* An analysis on its way into sums: private to the files that add a part of it. */
#ifndef CUNEI_TOP_SUMS_SUMS_ADDITION_H
#define CUNEI_TOP_SUMS_SUMS_ADDITION_H

#include "top/sums/known.h"
#include "top/sums/sums_data.h"

struct cunei_top_addition {
    struct cunei_top_sums *sums;
    struct cunei_top_known *known;
    const struct cunei_analysis *analysis;
    uint32_t *functions; /* owned: numbers, by index of the analysis plus one; slot 0
                            stays */
    uint32_t *processes; /* owned: numbers, by index */
};

/* A number of a function by its slot in the analysis: itself plus one; 0 stays. */
static inline uint32_t cunei_top_addition_slot(
    const struct cunei_top_addition *addition, uint32_t slot)
{
    return slot == 0 ? 0 : addition->functions[slot] + 1;
}

/* Grow an array to `wanted` items, all zeros; false: no memory. */
bool cunei_top_sums_grow(void **items, uint32_t *count, size_t wanted,
                         size_t item_size);

/* -ENOMEM, from each. */
int cunei_top_sums_add_edges(struct cunei_top_addition *addition);
int cunei_top_sums_add_tree(struct cunei_top_addition *addition);
int cunei_top_sums_add_processes(struct cunei_top_addition *addition);
int cunei_top_sums_add_threads(struct cunei_top_addition *addition);
int cunei_top_sums_add_tasks(struct cunei_top_addition *addition);
int cunei_top_sums_add_raises(struct cunei_top_addition *addition);

/* The time since a thread's last event, for the functions that it has open. */
int cunei_top_sums_add_open(struct cunei_top_addition *addition,
                            const struct cunei_top_thread *thread);

#endif
