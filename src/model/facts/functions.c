// SPDX-License-Identifier: MIT
#include "model/facts/functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_stamp.h"
#include "base/vector.h"

void cunei_functions_fini(struct cunei_functions *functions)
{
    free(functions->items);
    cunei_map_fini(&functions->map);
    *functions = (struct cunei_functions){0};
}

/* The module as far as it is part of the identity. */
static const char *module_of(const struct cunei_function *function)
{
    return strncmp(function->file, "<frozen ", 8) == 0 ? "" : function->module;
}

/* Each text with its NUL, so that they are separate. */
static uint64_t hash_function(const struct cunei_function *function)
{
    uint64_t hash = CUNEI_HASH_BYTES_FIRST ^ function->line;
    const char *module = module_of(function);

    hash = cunei_hash_bytes(hash, module, strlen(module) + 1);
    hash = cunei_hash_bytes(hash, function->qualname, strlen(function->qualname) + 1);
    return cunei_hash_bytes(hash, function->file, strlen(function->file) + 1);
}

static bool is_same(const struct cunei_function *a, const struct cunei_function *b)
{
    return a->line == b->line && strcmp(a->qualname, b->qualname) == 0 &&
           strcmp(module_of(a), module_of(b)) == 0 && strcmp(a->file, b->file) == 0;
}

static int find(struct cunei_functions *functions,
                const struct cunei_function *function)
{
    uint64_t hash = hash_function(function);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&functions->map, &search, &i);) {
        if (is_same(&functions->items[i], function))
            return (int)i;
    }
    if (!CUNEI_VECTOR_RESERVE(functions->items, functions->capacity,
                              functions->count + 1) ||
        cunei_map_add(&functions->map, hash, functions->count) < 0)
        return -ENOMEM;
    functions->items[functions->count] = *function;
    functions->items[functions->count].id = 0;
    return (int)functions->count++;
}

int cunei_functions_add(struct cunei_functions *functions,
                        const struct cunei_function *function)
{
    int index = find(functions, function);

    if (index < 0)
        return index;
    uint64_t *source = &functions->items[index].source;
    if (*source == 0)
        *source = function->source;
    else if (function->source != 0 && function->source != *source)
        *source = CUNEI_STAMP_MIXED;
    return index;
}
