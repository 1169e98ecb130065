// SPDX-License-Identifier: MIT
/*
 * What each id of a process stands for: a function, a region, a counter or a stream of
 * tokens (wire/user_event.h).
 *
 * Readers treat regions apart: a region is open as a function is, but need not nest
 * (wire/event.h) and has no caller.
 */
#ifndef CUNEI_WIRE_ID_KIND_H
#define CUNEI_WIRE_ID_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/event.h"
#include "wire/user_event.h"

struct cunei_id_kinds {
    const uint8_t *items; /* borrowed: by id - CUNEI_FUNCTION_FIRST; NULL: functions */
    uint32_t count;
};

/* An unknown id counts as a function. */
static inline enum cunei_definition cunei_id_kinds_find(
    const struct cunei_id_kinds *kinds, uint32_t function)
{
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    return kinds->items && index < kinds->count
               ? (enum cunei_definition)kinds->items[index]
               : CUNEI_DEFINITION_FUNCTION;
}

static inline bool cunei_id_kinds_is_region(const struct cunei_id_kinds *kinds,
                                            uint32_t function)
{
    return cunei_id_kinds_find(kinds, function) == CUNEI_DEFINITION_REGION;
}

#endif
