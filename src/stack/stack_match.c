// SPDX-License-Identifier: MIT
#include "stack/stack_match.h"

/* The next position of a region, or of a function, from `at` on. */
static uint32_t next_of(const struct cunei_id_kinds *kinds, const uint32_t *functions,
                        uint32_t count, uint32_t at, bool is_region)
{
    while (at < count && cunei_id_kinds_is_region(kinds, functions[at]) != is_region)
        at++;
    return at;
}

static uint32_t match_kind(const struct cunei_id_kinds *kinds, const uint32_t *here,
                           uint32_t here_count, const uint32_t *there,
                           uint32_t there_count, uint32_t *map, bool is_region)
{
    uint32_t found = 0, i = 0, j = 0;

    for (;; i++, j++) {
        i = next_of(kinds, here, here_count, i, is_region);
        j = next_of(kinds, there, there_count, j, is_region);
        if (i == here_count || j == there_count)
            break;
        if (here[i] != there[j] && here[i] != 0 && there[j] != 0)
            break;
        map[j] = i + 1;
        found++;
    }
    return found;
}

uint32_t cunei_stack_match(const struct cunei_id_kinds *kinds, const uint32_t *here,
                           uint32_t here_count, const uint32_t *there,
                           uint32_t there_count, uint32_t *map)
{
    for (uint32_t i = 0; i < there_count; i++)
        map[i] = 0;
    return match_kind(kinds, here, here_count, there, there_count, map, false) +
           match_kind(kinds, here, here_count, there, there_count, map, true);
}

bool cunei_stack_has_regions(const struct cunei_id_kinds *kinds,
                             const uint32_t *functions, uint32_t count)
{
    return kinds->items && next_of(kinds, functions, count, 0, true) < count;
}
