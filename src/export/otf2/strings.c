// SPDX-License-Identifier: MIT
#include "export/otf2/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

struct cunei_otf2_name {
    char *text; /* owned */
    size_t size;
    uint32_t ref;
};

/* Without memory, or beyond the limit, the text is defined again when it comes again.
 */
static void add(struct cunei_otf2_names *names, uint64_t hash, const char *text,
                size_t size)
{
    if (names->item_count == CUNEI_OTF2_NAMES_MAX ||
        !CUNEI_VECTOR_RESERVE_ONE(names->items, names->item_count))
        return;
    char *copy = malloc(size + 1);
    if (!copy || cunei_map_add(&names->map, hash, names->item_count) < 0) {
        free(copy);
        return;
    }
    memcpy(copy, text, size);
    names->items[names->item_count++] =
        (struct cunei_otf2_name){copy, size, names->count};
}

uint32_t cunei_otf2_names_find(struct cunei_otf2_names *names, const char *text,
                               size_t size, int *is_new)
{
    struct cunei_map_search search = {
        .hash = cunei_hash_bytes(CUNEI_HASH_BYTES_FIRST, text, size)};

    for (uint32_t i; cunei_map_next(&names->map, &search, &i);) {
        const struct cunei_otf2_name *item = &names->items[i];
        if (item->size == size && memcmp(item->text, text, size) == 0) {
            *is_new = 0;
            return item->ref;
        }
    }
    *is_new = 1;
    add(names, search.hash, text, size);
    return names->count++;
}

void cunei_otf2_names_fini(struct cunei_otf2_names *names)
{
    for (uint32_t i = 0; i < names->item_count; i++)
        free(names->items[i].text);
    free(names->items);
    cunei_map_fini(&names->map);
    *names = (struct cunei_otf2_names){0};
}
