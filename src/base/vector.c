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
