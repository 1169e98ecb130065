// SPDX-License-Identifier: MIT
/*
 * A number for each identity of a function (model/facts/functions.h).  The map copies
 * the texts of its keys: a caller may free its own.
 *
 *     struct cunei_function_map map = {0};
 *     uint32_t *number = cunei_function_map_find(&map, &function);    (0 at first)
 *     …
 *     cunei_function_map_fini(&map);
 */
#ifndef CUNEI_MODEL_FACTS_FUNCTION_MAP_H
#define CUNEI_MODEL_FACTS_FUNCTION_MAP_H

#include <stdint.h>

#include "model/facts/functions.h"

struct cunei_function_map {
    struct cunei_functions keys; /* private, as all */
    uint32_t *numbers;           /* owned */
    uint32_t capacity;
};

/* Borrowed until the next call; NULL: no memory. */
uint32_t *cunei_function_map_find(struct cunei_function_map *map,
                                  const struct cunei_function *key);
void cunei_function_map_fini(struct cunei_function_map *map);

#endif
