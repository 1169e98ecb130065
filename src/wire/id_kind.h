// SPDX-License-Identifier: MIT
/*
 * What all ids of a process are of, as wire/user_event.h tells it of one.
 *
 * Readers need to know what is a region: it is open as a function is, but need not nest
 * (wire/event.h), and nobody called it.
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

/* What is unknown is a function. */
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
