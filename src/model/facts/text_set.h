// SPDX-License-Identifier: MIT
/*
 * Texts, each with a number of its own, in the order in which they came.
 *
 *     struct cunei_text_set names = {.max = 1u << 20};
 *     int64_t index = cunei_text_set_add(&names, text, size);
 *     …
 *     cunei_text_set_fini(&names);
 */
#ifndef CUNEI_MODEL_FACTS_TEXT_SET_H
#define CUNEI_MODEL_FACTS_TEXT_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cunei_text_set_chunk;

struct cunei_text_set {
    uint32_t max;     /* texts at most; others are refused */
    size_t max_bytes; /* of all texts together; 0: no limit */

    /* Private, but for the texts, with a NUL behind them. */
    char **items;    /* owned, as all; each text in a chunk */
    uint32_t *sizes; /* of texts below 4 GiB */
    uint32_t count, capacity, size_capacity;
    size_t bytes;
    struct cunei_text_set_chunk *chunks;
    size_t room; /* in the first of them */
    struct cunei_map map;
};

/* Its index, the same for the same bytes; -ENOSPC: there are too many or it is too
 * long, -ENOMEM. */
int64_t cunei_text_set_add(struct cunei_text_set *set, const char *text, size_t size);
void cunei_text_set_fini(struct cunei_text_set *set);

#endif
