// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/region_walk.h"

#include "probe/user/region_list.h"
#include "probe/user/user_name.h"

/*
 * Regions above one of this frame were begun after it, though their own frames may be
 * gone.
 */
static size_t lowest_of(const struct cunei_region_list *list, size_t left,
                        const void *frame)
{
    size_t lowest = left;

    for (size_t i = left; i > 0; i--) {
        if (!frame || list->opens[i - 1].frame == frame)
            lowest = i - 1;
    }
    return lowest;
}

uint32_t cunei_region_next(struct cunei_region_walk *walk, const void *frame)
{
    const struct cunei_region_list *list = cunei_region_list_peek();

    if (!list)
        return 0;
    if (!walk->is_begun) {
        walk->is_begun = true;
        walk->left = walk->until = list->count;
    }
    if (walk->left > list->count)
        walk->left = list->count;
    if (walk->until >= walk->left)
        walk->until = lowest_of(list, walk->left, frame);
    while (walk->left > walk->until) {
        const struct cunei_region_list_open *open = &list->opens[--walk->left];
        uint32_t id =
            open->greenlet == list->greenlet ? cunei_user_name_id(open->user_name) : 0;
        if (id)
            return id;
    }
    return 0;
}
