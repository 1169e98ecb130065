// SPDX-License-Identifier: MIT
/*
 * A number for each identity of a function (model/functions.h), with texts of its own:
 * those who asked may go.
 *
 *     struct cunei_namemap map = {0};
 *     uint32_t *number = cunei_namemap_find(&map, &function);    (0 at first)
 *     …
 *     cunei_namemap_fini(&map);
 */
#ifndef CUNEI_MODEL_NAMEMAP_H
#define CUNEI_MODEL_NAMEMAP_H

#include <stdint.h>

#include "model/functions.h"

struct cunei_namemap {
    struct cunei_functions keys; /* private, as all */
    uint32_t *numbers;           /* owned */
    uint32_t capacity;
};

/* Borrowed until the next call; NULL: no memory. */
uint32_t *cunei_namemap_find(struct cunei_namemap *map,
                             const struct cunei_function *key);
void cunei_namemap_fini(struct cunei_namemap *map);

#endif
