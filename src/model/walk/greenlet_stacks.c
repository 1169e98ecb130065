// SPDX-License-Identifier: MIT
#include "model/walk/greenlet_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vector.h"

struct cunei_greenlets {
    struct cunei_greenlet *items; /* owned, from 1 on; depth 0: free */
    uint32_t count, capacity;
    uint32_t free;
    uint32_t first; /* none below it is in use */
    uint32_t frame_count;
    struct cunei_map map; /* of numbers */
};

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
    cunei_map_fini(&greenlets->map);
    free(greenlets);
}

/* The place of the greenlet, from 1; 0: it has no stack here. */
static uint32_t find(const struct cunei_greenlets *greenlets, uint64_t number)
{
    struct cunei_map_search search = {.hash = cunei_hash_number(number)};

    for (uint32_t i; cunei_map_next(&greenlets->map, &search, &i);) {
        if (greenlets->items[i].number == number)
            return i;
    }
    return 0;
}

/* The place of a new greenlet: one that was left, or another one; 0: no memory. */
static uint32_t take_place(struct cunei_greenlets *greenlets)
{
    uint32_t index = greenlets->free;

    if (index != 0) {
        greenlets->free = greenlets->items[index].next;
        return index;
    }
    if (!CUNEI_VECTOR_RESERVE(greenlets->items, greenlets->capacity,
                              greenlets->count + 2))
        return 0;
    if (greenlets->count == 0)
        greenlets->items[greenlets->count++] = (struct cunei_greenlet){0};
    return greenlets->count++;
}

/* Nothing is kept in this place any more. */
static void give_place(struct cunei_greenlets *greenlets, uint32_t index)
{
    greenlets->items[index] = (struct cunei_greenlet){.next = greenlets->free};
    greenlets->free = index;
}

int cunei_greenlets_add(struct cunei_greenlets *greenlets, uint64_t number,
                        const struct cunei_walk_frame *frames, uint32_t depth,
                        uint64_t time)
{
    cunei_greenlets_remove(greenlets, number);
    if (depth > CUNEI_GREENLETS_FRAMES_MAX - greenlets->frame_count)
        return 0;
    uint32_t index = take_place(greenlets);
    if (index == 0)
        return -ENOMEM;
    struct cunei_walk_frame *copy = malloc(depth * sizeof(*copy));
    if (!copy || cunei_map_add(&greenlets->map, cunei_hash_number(number), index) < 0) {
        free(copy);
        give_place(greenlets, index);
        return -ENOMEM;
    }
    memcpy(copy, frames, depth * sizeof(*copy));
    greenlets->items[index] = (struct cunei_greenlet){
        .number = number, .since = time, .frames = copy, .depth = depth};
    if (index < greenlets->first)
        greenlets->first = index;
    greenlets->frame_count += depth;
    return 0;
}

const struct cunei_greenlet *cunei_greenlets_find(
    const struct cunei_greenlets *greenlets, uint64_t number)
{
    uint32_t index = find(greenlets, number);
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
    uint32_t index = find(greenlets, number);

    if (index == 0)
        return;
    const struct cunei_greenlet *greenlet = &greenlets->items[index];
    cunei_map_remove(&greenlets->map, cunei_hash_number(number), index);
    greenlets->frame_count -= greenlet->depth;
    free(greenlet->frames);
    give_place(greenlets, index);
}

void cunei_greenlets_clear_tags(struct cunei_greenlets *greenlets)
{
    for (uint32_t i = 1; i < greenlets->count; i++) {
        for (uint32_t j = 0; j < greenlets->items[i].depth; j++)
            greenlets->items[i].frames[j].tag = 0;
    }
}
