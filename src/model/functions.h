// SPDX-License-Identifier: MIT
/*
 * Functions by identity: one number for what several processes know under different
 * ids.  Identity is module, qualified name, file and first line.
 *
 *     struct cunei_functions functions = {0};
 *     int index = cunei_functions_add(&functions, &process->functions[i]);
 *     …
 *     cunei_functions_fini(&functions);
 */
#ifndef CUNEI_MODEL_FUNCTIONS_H
#define CUNEI_MODEL_FUNCTIONS_H

#include <stdint.h>

#include "wire/metadata.h"

struct cunei_functions {
    struct cunei_function *items; /* owned; their texts are borrowed, their ids 0 */
    uint32_t count;
    uint32_t capacity;
    uint32_t *table; /* owned, private: a hash to an index plus one */
    uint32_t table_size;
};

/* Its index, the same for the same identity; -ENOMEM. */
int cunei_functions_add(struct cunei_functions *functions,
                        const struct cunei_function *function);
void cunei_functions_fini(struct cunei_functions *functions);

#endif
