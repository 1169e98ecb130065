// SPDX-License-Identifier: MIT
/*
 * Functions by identity: one number for what several processes know under different
 * ids.  Identity is module, qualified name, file and first line; of "<frozen NAME>",
 * the file alone stands for the module.  The import system is called _frozen_importlib
 * in a process that has not imported importlib, and importlib._bootstrap in one that
 * has.
 *
 *     struct cunei_functions functions = {0};
 *     int index = cunei_functions_add(&functions, &process->functions[i]);
 *     …
 *     cunei_functions_fini(&functions);
 */
#ifndef CUNEI_MODEL_FACTS_FUNCTIONS_H
#define CUNEI_MODEL_FACTS_FUNCTIONS_H

#include <stdint.h>

#include "base/map.h"
#include "wire/metadata.h"

struct cunei_functions {
    struct cunei_function *items; /* owned; their texts are borrowed, their ids 0 */
    uint32_t count;
    uint32_t capacity;
    struct cunei_map map; /* private */
};

/* Its index, the same for the same identity; -ENOMEM. */
int cunei_functions_add(struct cunei_functions *functions,
                        const struct cunei_function *function);
void cunei_functions_fini(struct cunei_functions *functions);

#endif
