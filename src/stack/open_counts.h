// SPDX-License-Identifier: MIT
/*
 * How many frames each function has open, so that a leave of a function that has none
 * needs no search.  All zeros is an empty one; free(counts->items) ends it.
 */
#ifndef CUNEI_STACK_OPEN_COUNTS_H
#define CUNEI_STACK_OPEN_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_open_counts {
    uint32_t *items; /* owned, by function */
    uint32_t capacity;
};

/* Room for a function; false: no memory. */
bool cunei_open_counts_grow(struct cunei_open_counts *counts, uint32_t function);

/* One more frame of a function below CUNEI_FUNCTION_END; false: no memory. */
static inline bool cunei_open_counts_add(struct cunei_open_counts *counts,
                                         uint32_t function)
{
    if (function >= counts->capacity && !cunei_open_counts_grow(counts, function))
        return false;
    counts->items[function]++;
    return true;
}

/* One less, of a function that has one. */
static inline void cunei_open_counts_remove(struct cunei_open_counts *counts,
                                            uint32_t function)
{
    counts->items[function]--;
}

static inline bool cunei_open_counts_has(const struct cunei_open_counts *counts,
                                         uint32_t function)
{
    return function < counts->capacity && counts->items[function] > 0;
}

#endif
