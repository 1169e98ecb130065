// SPDX-License-Identifier: MIT
#include "stack/open_counts.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096u

bool cunei_open_counts_grow(struct cunei_open_counts *counts, uint32_t function)
{
    uint32_t capacity = counts->capacity ? counts->capacity : FIRST_CAPACITY;

    while (capacity <= function)
        capacity *= 2;
    uint32_t *items = realloc(counts->items, capacity * sizeof(*items));
    if (!items)
        return false;
    memset(items + counts->capacity, 0, (capacity - counts->capacity) * sizeof(*items));
    counts->items = items;
    counts->capacity = capacity;
    return true;
}
