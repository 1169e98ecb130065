// SPDX-License-Identifier: MIT
/*
 * Exceptions: type, where they were raised and how often, how far they propagated, and
 * what caught them.
 *
 * Each event holds all of it, so that these facts add up without knowing the stack.
 * Exception 0 and handler 0 take what finds no place: their number is capped, and a
 * missing allocation is treated in the same way.
 */
#ifndef CUNEI_MODEL_FACTS_EXCEPTIONS_H
#define CUNEI_MODEL_FACTS_EXCEPTIONS_H

#include <stdint.h>

#include "base/map.h"
#include "wire/event.h"

#define CUNEI_EXCEPTIONS_MAX (1u << 16)
/* Of a type's name, this many bytes. */
#define CUNEI_EXCEPTION_TYPE_MAX 1024u

/* One type at one line; `slot` of the function it was raised in, 0: not recorded. */
struct cunei_raise {
    char *type; /* owned; NULL: of exception 0 */
    uint32_t slot;
    uint32_t line;
    uint64_t count;       /* raised */
    int64_t caught;       /* by a recorded handler, or by code that is not recorded */
    int64_t unhandled;    /* ended the program or a thread */
    int64_t unwound;      /* frames that both ended, together */
    uint64_t unwound_max; /* frames that one of them ended */
};

/* A handler that caught it.  Slot 0: a C function, or one that is not recorded. */
struct cunei_handler {
    uint32_t exception; /* its index */
    uint32_t slot;
    uint32_t line;
    int64_t count; /* kept; may be below 0 in a piece, never in the whole */
};

/* Private but for the items. */
struct cunei_exceptions {
    struct cunei_raise *items; /* owned, as all */
    uint32_t count;            /* with exception 0, as soon as there is one */
    uint32_t capacity;
    struct cunei_map map; /* of type, slot and line */
    struct cunei_handler *handlers;
    uint32_t handler_count;
    uint32_t handler_capacity;
    struct cunei_map handler_map; /* of exception, slot and line */
};

void cunei_exceptions_fini(struct cunei_exceptions *exceptions);

/* Take an event in; slots are those of its functions. */
void cunei_exceptions_read(struct cunei_exceptions *exceptions,
                           const struct cunei_exception *event, uint32_t slot,
                           uint32_t handler_slot);

/* Add another's; a slot s of it is map[s] here, unless `map` is NULL. */
void cunei_exceptions_add(struct cunei_exceptions *exceptions,
                          const struct cunei_exceptions *other, const uint32_t *map);

#endif
