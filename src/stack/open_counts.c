// SPDX-License-Identifier: MIT
#include "stack/open_counts.h"

#include <string.h>

#include "base/vector.h"

bool cunei_open_counts_grow(struct cunei_open_counts *counts, uint32_t function)
{
    uint32_t before = counts->capacity;

    if (!CUNEI_VECTOR_RESERVE(counts->items, counts->capacity, (size_t)function + 1))
        return false;
    memset(counts->items + before, 0,
           (counts->capacity - before) * sizeof(*counts->items));
    return true;
}
