// SPDX-License-Identifier: MIT
#include "export/otf2/strings.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE (2 * (size_t)CUNEI_OTF2_NAMES_MAX)

static uint32_t hash(const char *text, size_t size)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        value = (value ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(value ^ value >> 32);
}

uint32_t cunei_otf2_names_find(struct cunei_otf2_names *names, const char *text,
                               size_t size, int *is_new)
{
    size_t at = hash(text, size) % TABLE_SIZE;

    *is_new = 1;
    if (!names->items)
        names->items = calloc(TABLE_SIZE, sizeof(*names->items));
    if (!names->items)
        return names->count++;
    for (; names->items[at].text; at = (at + 1) % TABLE_SIZE) {
        const struct cunei_otf2_name *item = &names->items[at];
        if (item->size == size && memcmp(item->text, text, size) == 0) {
            *is_new = 0;
            return item->ref;
        }
    }
    if (names->item_count < CUNEI_OTF2_NAMES_MAX) {
        char *copy = malloc(size + 1);
        if (copy) {
            memcpy(copy, text, size);
            names->items[at] = (struct cunei_otf2_name){copy, size, names->count};
            names->item_count++;
        }
    }
    return names->count++;
}

void cunei_otf2_names_fini(struct cunei_otf2_names *names)
{
    for (uint32_t i = 0; names->items && i < TABLE_SIZE; i++)
        free(names->items[i].text);
    free(names->items);
    *names = (struct cunei_otf2_names){0};
}
