// SPDX-License-Identifier: MIT
#include "top/sums/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static uint64_t hash_of(uint64_t first, uint64_t second, const char *text)
{
    uint64_t hash = cunei_hash_bytes(CUNEI_HASH_BYTES_FIRST, text, strlen(text));

    return cunei_hash_number(hash ^
                             cunei_hash_number(first ^ cunei_hash_number(second)));
}

int64_t cunei_top_keys_find(struct cunei_top_keys *keys, uint64_t first,
                            uint64_t second, const char *text)
{
    uint64_t hash = hash_of(first, second, text);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&keys->map, &search, &i);) {
        const struct cunei_top_key *key = &keys->items[i];
        if (key->first == first && key->second == second &&
            strcmp(key->text, text) == 0)
            return i;
    }
    if (!CUNEI_VECTOR_RESERVE(keys->items, keys->capacity, keys->count + 1))
        return -ENOMEM;
    char *copy = strdup(text);
    if (!copy || cunei_map_add(&keys->map, hash, keys->count) < 0) {
        free(copy);
        return -ENOMEM;
    }
    keys->items[keys->count] = (struct cunei_top_key){first, second, copy};
    return keys->count++;
}

void cunei_top_keys_fini(struct cunei_top_keys *keys)
{
    for (uint32_t i = 0; i < keys->count; i++)
        free(keys->items[i].text);
    free(keys->items);
    cunei_map_fini(&keys->map);
    *keys = (struct cunei_top_keys){0};
}
