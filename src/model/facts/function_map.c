// SPDX-License-Identifier: MIT
#include "model/facts/function_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static void free_texts(struct cunei_function *key)
{
    free((char *)(uintptr_t)key->module);
    free((char *)(uintptr_t)key->qualname);
    free((char *)(uintptr_t)key->file);
}

uint32_t *cunei_function_map_find(struct cunei_function_map *map,
                                  const struct cunei_function *key)
{
    uint32_t before = map->keys.count;

    if (!CUNEI_VECTOR_RESERVE(map->numbers, map->capacity, before + 1))
        return NULL;
    int index = cunei_functions_add(&map->keys, key);
    if (index < 0)
        return NULL;
    if (map->keys.count > before) {
        struct cunei_function *own = &map->keys.items[index];
        own->module = strdup(key->module);
        own->qualname = strdup(key->qualname);
        own->file = strdup(key->file);
        map->numbers[index] = 0;
        /* The map is of no more use: callers stop at -ENOMEM. */
        if (!own->module || !own->qualname || !own->file) {
            free_texts(own);
            map->keys.count--;
            return NULL;
        }
    }
    return &map->numbers[index];
}

void cunei_function_map_fini(struct cunei_function_map *map)
{
    for (uint32_t i = 0; i < map->keys.count; i++)
        free_texts(&map->keys.items[i]);
    cunei_functions_fini(&map->keys);
    free(map->numbers);
    *map = (struct cunei_function_map){0};
}
