// SPDX-License-Identifier: MIT
/*
 * Numbers for things that have a key of two numbers and a text: the same number for the
 * same key, as long as the set lives.
 *
 *     struct cunei_top_keys threads = {0};
 *     int index = cunei_top_keys_find(&threads, process, serial, "");
 *     …
 *     cunei_top_keys_fini(&threads);
 */
#ifndef CUNEI_TOP_SUMS_KEYS_H
#define CUNEI_TOP_SUMS_KEYS_H

#include <stdint.h>

#include "base/map.h"

struct cunei_top_key {
    uint64_t first, second;
    char *text; /* owned */
};

struct cunei_top_keys {
    struct cunei_top_key *items; /* owned */
    uint32_t count, capacity;
    struct cunei_map map; /* private */
};

/* The number of a key, which is added if it is new; -ENOMEM. */
int64_t cunei_top_keys_find(struct cunei_top_keys *keys, uint64_t first,
                            uint64_t second, const char *text);
void cunei_top_keys_fini(struct cunei_top_keys *keys);

#endif
