// SPDX-License-Identifier: MIT
/*
 * A hash map from keys to the indices of items that its user keeps in an array: the
 * user compares the keys, so that they may be of any type.
 *
 *     uint64_t hash = cunei_hash_number(key);
 *     struct cunei_map_search search = {.hash = hash};
 *     for (uint32_t i; cunei_map_next(&map, &search, &i);)
 *         if (items[i].key == key)
 *             return i;
 *     rc = cunei_map_add(&map, hash, count++);
 *
 * Open addressing; 8 bytes a slot, at most half of which are in use.  A slot holds half
 * of the hash, so that most other keys are passed over without a look at their items,
 * and the map grows without asking for keys.  All zeros is an empty map.
 */
#ifndef CUNEI_BASE_MAP_H
#define CUNEI_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_map {
    uint64_t *slots;   /* owned, private: hash in the upper half, index + 1; 0: free */
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

/* A search for the items with one hash; begins with the hash alone. */
struct cunei_map_search {
    uint64_t hash;
    uint32_t step;
};

/* Only the upper half of a hash counts. */
static inline uint64_t cunei_hash_number(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

#define CUNEI_HASH_BYTES_FIRST UINT64_C(0xcbf29ce484222325)

/* FNV-1a.  The hash of several texts begins with that of those before. */
static inline uint64_t cunei_hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The next item with this hash goes to `*index`; false: there is none. */
static inline bool cunei_map_next(const struct cunei_map *map,
                                  struct cunei_map_search *search, uint32_t *index)
{
    uint32_t wanted = (uint32_t)(search->hash >> 32);

    if (map->capacity == 0)
        return false;
    for (;;) {
        uint64_t slot = map->slots[(wanted + search->step++) & (map->capacity - 1)];
        if (slot == 0)
            return false;
        if ((uint32_t)(slot >> 32) == wanted) {
            *index = (uint32_t)slot - 1;
            return true;
        }
    }
}

/* Add an item; its key must not be there.  -ENOMEM. */
int cunei_map_add(struct cunei_map *map, uint64_t hash, uint32_t index);

/* Remove an item that is there. */
void cunei_map_remove(struct cunei_map *map, uint64_t hash, uint32_t index);

void cunei_map_fini(struct cunei_map *map);

#endif
