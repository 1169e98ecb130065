// SPDX-License-Identifier: MIT
#include "model/functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_stamp.h"

void cunei_functions_fini(struct cunei_functions *functions)
{
    free(functions->items);
    free(functions->table);
    *functions = (struct cunei_functions){0};
}

/* FNV-1a, texts separated by their NUL. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (const char *at = text;; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        if (*at == '\0')
            return hash;
    }
}

static uint64_t hash_function(const struct cunei_function *function)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ function->line;

    hash = hash_text(hash, function->module);
    hash = hash_text(hash, function->qualname);
    hash = hash_text(hash, function->file);
    return hash ^ hash >> 32;
}

static bool is_same(const struct cunei_function *a, const struct cunei_function *b)
{
    return a->line == b->line && strcmp(a->qualname, b->qualname) == 0 &&
           strcmp(a->module, b->module) == 0 && strcmp(a->file, b->file) == 0;
}

static uint32_t *find_place(const struct cunei_functions *functions,
                            const struct cunei_function *function)
{
    uint32_t mask = functions->table_size - 1;
    uint32_t place = (uint32_t)hash_function(function) & mask;

    while (functions->table[place] != 0 &&
           !is_same(&functions->items[functions->table[place] - 1], function))
        place = (place + 1) & mask;
    return &functions->table[place];
}

static int grow(struct cunei_functions *functions)
{
    uint32_t capacity = functions->capacity ? 2 * functions->capacity : 256;
    struct cunei_function *items = realloc(functions->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    functions->items = items;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(functions->table);
    functions->table = table;
    functions->table_size = 2 * capacity;
    functions->capacity = capacity;
    for (uint32_t i = 0; i < functions->count; i++)
        *find_place(functions, &items[i]) = i + 1;
    return 0;
}

int cunei_functions_add(struct cunei_functions *functions,
                        const struct cunei_function *function)
{
    if (functions->count == functions->capacity) {
        int rc = grow(functions);
        if (rc < 0)
            return rc;
    }
    uint32_t *place = find_place(functions, function);
    if (*place == 0) {
        functions->items[functions->count] = *function;
        functions->items[functions->count].id = 0;
        *place = ++functions->count;
    }
    uint64_t *source = &functions->items[*place - 1].source;
    if (*source == 0)
        *source = function->source;
    else if (function->source != 0 && function->source != *source)
        *source = CUNEI_STAMP_MIXED;
    return (int)(*place - 1);
}
