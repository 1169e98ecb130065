// SPDX-License-Identifier: MIT
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 32u
#define CAPACITY_MAX   (UINT32_C(1) << 31)

/* Where the search for a slot's hash begins. */
static uint32_t home(const struct cunei_map *map, uint64_t slot)
{
    return (uint32_t)(slot >> 32) & (map->capacity - 1);
}

static void put(struct cunei_map *map, uint64_t slot)
{
    uint32_t at = home(map, slot);

    while (map->slots[at] != 0)
        at = (at + 1) & (map->capacity - 1);
    map->slots[at] = slot;
}

static int grow(struct cunei_map *map)
{
    struct cunei_map grown = {.count = map->count};

    if (map->capacity >= CAPACITY_MAX)
        return -ENOMEM;
    grown.capacity = map->capacity ? 2 * map->capacity : FIRST_CAPACITY;
    grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
    if (!grown.slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < map->capacity; i++) {
        if (map->slots[i] != 0)
            put(&grown, map->slots[i]);
    }
    free(map->slots);
    *map = grown;
    return 0;
}

int cunei_map_add(struct cunei_map *map, uint64_t hash, uint32_t index)
{
    if (map->count >= map->capacity / 2) {
        int rc = grow(map);
        if (rc < 0)
            return rc;
    }
    put(map, (hash >> 32) << 32 | ((uint64_t)index + 1));
    map->count++;
    return 0;
}

void cunei_map_remove(struct cunei_map *map, uint64_t hash, uint32_t index)
{
    uint64_t slot = (hash >> 32) << 32 | ((uint64_t)index + 1);
    uint32_t mask = map->capacity - 1, hole = home(map, slot);

    while (map->slots[hole] != slot)
        hole = (hole + 1) & mask;
    /* Move back what follows, unless the search for it begins behind the hole. */
    for (uint32_t at = (hole + 1) & mask; map->slots[at] != 0; at = (at + 1) & mask) {
        uint32_t distance = (at - home(map, map->slots[at])) & mask;
        if (distance >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = 0;
    map->count--;
}

void cunei_map_fini(struct cunei_map *map)
{
    free(map->slots);
    *map = (struct cunei_map){0};
}
