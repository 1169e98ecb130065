// SPDX-License-Identifier: MIT
#include "model/greenlet_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u

struct cunei_greenlets *cunei_greenlets_new(void)
{
    return calloc(1, sizeof(struct cunei_greenlets));
}

void cunei_greenlets_free(struct cunei_greenlets *greenlets)
{
    if (!greenlets)
        return;
    for (uint32_t i = 1; i < greenlets->count; i++)
        free(greenlets->items[i].frames);
    free(greenlets->items);
    free(greenlets->table);
    free(greenlets);
}

/* Where the number of the greenlet stands, or the 0 that ends its chain. */
static uint32_t *find_link(const struct cunei_greenlets *greenlets, uint64_t number)
{
    uint32_t hash = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    uint32_t *link = &greenlets->table[hash & (greenlets->table_size - 1)];

    while (*link != 0 && greenlets->items[*link].number != number)
        link = &greenlets->items[*link].next;
    return link;
}

static int grow(struct cunei_greenlets *greenlets)
{
    uint32_t capacity = greenlets->capacity ? 2 * greenlets->capacity : FIRST_CAPACITY;
    struct cunei_greenlet *items = realloc(greenlets->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    greenlets->items = items;
    uint32_t *table = calloc(capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(greenlets->table);
    greenlets->table = table;
    greenlets->table_size = capacity;
    greenlets->capacity = capacity;
    if (greenlets->count == 0)
        items[greenlets->count++] = (struct cunei_greenlet){0};
    for (uint32_t i = 1; i < greenlets->count; i++) {
        items[i].next = 0;
        *find_link(greenlets, items[i].number) = i;
    }
    return 0;
}

/* The place of a new greenlet: one that was left, or another one. */
static struct cunei_greenlet *take_place(struct cunei_greenlets *greenlets)
{
    uint32_t index = greenlets->free;

    if (index != 0)
        greenlets->free = greenlets->items[index].next;
    else if (greenlets->count == greenlets->capacity && grow(greenlets) < 0)
        return NULL;
    else
        index = greenlets->count++;
    greenlets->items[index] = (struct cunei_greenlet){0};
    return &greenlets->items[index];
}

int cunei_greenlets_add(struct cunei_greenlets *greenlets, uint64_t number,
                        const struct cunei_walk_frame *frames, uint32_t depth,
                        uint64_t time)
{
    cunei_greenlets_remove(greenlets, number);
    if (depth > CUNEI_GREENLETS_FRAMES_MAX - greenlets->frame_count)
        return 0;
    struct cunei_walk_frame *copy = malloc(depth * sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    memcpy(copy, frames, depth * sizeof(*copy));
    struct cunei_greenlet *greenlet = take_place(greenlets);
    if (!greenlet) {
        free(copy);
        return -ENOMEM;
    }
    *greenlet = (struct cunei_greenlet){
        .number = number, .since = time, .frames = copy, .depth = depth};
    uint32_t index = (uint32_t)(greenlet - greenlets->items);
    *find_link(greenlets, number) = index;
    if (index < greenlets->first)
        greenlets->first = index;
    greenlets->frame_count += depth;
    return 0;
}

const struct cunei_greenlet *cunei_greenlets_find(
    const struct cunei_greenlets *greenlets, uint64_t number)
{
    uint32_t index = greenlets->capacity ? *find_link(greenlets, number) : 0;
    return index ? &greenlets->items[index] : NULL;
}

const struct cunei_greenlet *cunei_greenlets_first(struct cunei_greenlets *greenlets)
{
    for (; greenlets->first < greenlets->count; greenlets->first++) {
        const struct cunei_greenlet *greenlet = &greenlets->items[greenlets->first];
        if (greenlet->depth > 0)
            return greenlet;
    }
    return NULL;
}

void cunei_greenlets_remove(struct cunei_greenlets *greenlets, uint64_t number)
{
    uint32_t *link = greenlets->capacity ? find_link(greenlets, number) : NULL;

    if (!link || *link == 0)
        return;
    uint32_t index = *link;
    struct cunei_greenlet *greenlet = &greenlets->items[index];
    *link = greenlet->next;
    greenlets->frame_count -= greenlet->depth;
    free(greenlet->frames);
    *greenlet = (struct cunei_greenlet){.next = greenlets->free};
    greenlets->free = index;
}
