// SPDX-License-Identifier: MIT
#include "base/vector.h"

#include <stdint.h>
#include <stdlib.h>

void *cunei_vector_grow(void *items, size_t item_size, size_t *capacity, size_t wanted)
{
    size_t most = PTRDIFF_MAX / item_size;
    size_t room = *capacity <= most / 2 ? 2 * *capacity : most;

    if (wanted > most)
        return NULL;
    if (room < wanted)
        room = wanted;
    void *grown = realloc(items, room * item_size);
    if (grown)
        *capacity = room;
    return grown;
}

void *cunei_vector_sort(const void *items, size_t item_size, size_t count,
                        int (*compare)(const void *, const void *))
{
    const void **order = calloc(count + 1, sizeof(*order));

    if (!order)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (const char *)items + i * item_size;
    qsort((void *)order, count, sizeof(*order), compare);
    return (void *)order;
}
