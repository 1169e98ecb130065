// SPDX-License-Identifier: MIT
#include "model/facts/text_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Texts are short: a block of memory for each would take more than they do. */
#define CHUNK_FIRST ((size_t)1 << 8)
#define CHUNK_MAX   ((size_t)1 << 16)

struct cunei_text_set_chunk {
    struct cunei_text_set_chunk *next; /* owned */
    size_t size;
    char text[];
};

void cunei_text_set_fini(struct cunei_text_set *set)
{
    while (set->chunks) {
        struct cunei_text_set_chunk *next = set->chunks->next;
        free(set->chunks);
        set->chunks = next;
    }
    free(set->items);
    free(set->sizes);
    cunei_map_fini(&set->map);
    *set = (struct cunei_text_set){.max = set->max, .max_bytes = set->max_bytes};
}

/* A place for `size` bytes; NULL: no memory. */
static char *take_room(struct cunei_text_set *set, size_t size)
{
    if (size > set->room) {
        size_t wanted = set->chunks ? 2 * set->chunks->size : CHUNK_FIRST;
        wanted = wanted > CHUNK_MAX ? CHUNK_MAX : wanted;
        wanted = wanted < size ? size : wanted;
        struct cunei_text_set_chunk *chunk = malloc(sizeof(*chunk) + wanted);
        if (!chunk)
            return NULL;
        chunk->next = set->chunks;
        chunk->size = wanted;
        set->chunks = chunk;
        set->room = wanted;
    }
    char *place = set->chunks->text + (set->chunks->size - set->room);
    set->room -= size;
    return place;
}

int64_t cunei_text_set_add(struct cunei_text_set *set, const char *text, size_t size)
{
    uint64_t hash = cunei_hash_bytes(CUNEI_HASH_BYTES_FIRST, text, size);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&set->map, &search, &i);) {
        if (set->sizes[i] == size && memcmp(set->items[i], text, size) == 0)
            return i;
    }
    if (set->count >= set->max || size >= UINT32_MAX ||
        (set->max_bytes > 0 && size > set->max_bytes - set->bytes))
        return -ENOSPC;
    if (!CUNEI_VECTOR_RESERVE(set->items, set->capacity, set->count + 1) ||
        !CUNEI_VECTOR_RESERVE(set->sizes, set->size_capacity, set->count + 1))
        return -ENOMEM;
    char *copy = take_room(set, size + 1);
    if (!copy || cunei_map_add(&set->map, hash, set->count) < 0)
        return -ENOMEM;
    memcpy(copy, text, size);
    copy[size] = '\0';
    set->items[set->count] = copy;
    set->sizes[set->count] = (uint32_t)size;
    set->bytes += size;
    return set->count++;
}
