// SPDX-License-Identifier: MIT
#include "model/text_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u

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
    free(set->table);
    *set = (struct cunei_text_set){.max = set->max, .max_bytes = set->max_bytes};
}

static uint32_t hash_of(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t find_place(const struct cunei_text_set *set, const char *text,
                           size_t size)
{
    uint32_t mask = set->table_size - 1, place = hash_of(text, size) & mask;

    for (; set->table[place] != 0; place = (place + 1) & mask) {
        uint32_t index = set->table[place] - 1;
        if (set->sizes[index] == size && memcmp(set->items[index], text, size) == 0)
            break;
    }
    return place;
}

static int grow(struct cunei_text_set *set)
{
    uint32_t capacity = set->capacity ? 2 * set->capacity : FIRST_CAPACITY;

    char **items = realloc((void *)set->items, capacity * sizeof(char *));
    if (!items)
        return -ENOMEM;
    set->items = items;
    uint32_t *sizes = realloc(set->sizes, capacity * sizeof(*sizes));
    if (!sizes)
        return -ENOMEM;
    set->sizes = sizes;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(set->table);
    set->table = table;
    set->table_size = 2 * capacity;
    set->capacity = capacity;
    for (uint32_t i = 0; i < set->count; i++)
        table[find_place(set, items[i], sizes[i])] = i + 1;
    return 0;
}

/* A place for so many bytes; NULL: there is no memory. */
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
    if (set->table_size > 0) {
        uint32_t found = set->table[find_place(set, text, size)];
        if (found > 0)
            return found - 1;
    }
    if (set->count >= set->max || size >= UINT32_MAX ||
        (set->max_bytes > 0 && size > set->max_bytes - set->bytes))
        return -ENOSPC;
    if (set->count == set->capacity) {
        int rc = grow(set);
        if (rc < 0)
            return rc;
    }
    char *copy = take_room(set, size + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, text, size);
    copy[size] = '\0';
    set->table[find_place(set, text, size)] = set->count + 1;
    set->items[set->count] = copy;
    set->sizes[set->count] = (uint32_t)size;
    set->bytes += size;
    return set->count++;
}
