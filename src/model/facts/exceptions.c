// SPDX-License-Identifier: MIT
#include "model/facts/exceptions.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

void cunei_exceptions_fini(struct cunei_exceptions *exceptions)
{
    for (uint32_t i = 0; i < exceptions->count; i++)
        free(exceptions->items[i].type);
    free(exceptions->items);
    cunei_map_fini(&exceptions->map);
    free(exceptions->handlers);
    cunei_map_fini(&exceptions->handler_map);
    *exceptions = (struct cunei_exceptions){0};
}

static uint32_t find(struct cunei_exceptions *exceptions, const char *type, size_t size,
                     uint32_t slot, uint32_t line)
{
    uint64_t place = cunei_hash_number((uint64_t)slot << 32 | line);
    uint64_t hash = cunei_hash_bytes(place, type, size);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&exceptions->map, &search, &i);) {
        const struct cunei_raise *item = &exceptions->items[i];
        if (item->slot == slot && item->line == line &&
            strncmp(item->type, type, size) == 0 && item->type[size] == '\0')
            return i;
    }
    if (exceptions->count == CUNEI_EXCEPTIONS_MAX ||
        !CUNEI_VECTOR_RESERVE(exceptions->items, exceptions->capacity,
                              exceptions->count + 2))
        return 0;
    if (exceptions->count == 0)
        exceptions->items[exceptions->count++] = (struct cunei_raise){0};
    char *copy = strndup(type, size);
    if (!copy || cunei_map_add(&exceptions->map, hash, exceptions->count) < 0) {
        free(copy);
        return 0;
    }
    exceptions->items[exceptions->count] =
        (struct cunei_raise){.type = copy, .slot = slot, .line = line};
    return exceptions->count++;
}

static uint32_t find_handler(struct cunei_exceptions *exceptions, uint32_t exception,
                             uint32_t slot, uint32_t line)
{
    uint64_t place = cunei_hash_number((uint64_t)slot << 32 | line);
    uint64_t hash = cunei_hash_number(place ^ exception);
    struct cunei_map_search search = {.hash = hash};

    for (uint32_t i; cunei_map_next(&exceptions->handler_map, &search, &i);) {
        const struct cunei_handler *item = &exceptions->handlers[i];
        if (item->exception == exception && item->slot == slot && item->line == line)
            return i;
    }
    if (exceptions->handler_count == CUNEI_EXCEPTIONS_MAX ||
        !CUNEI_VECTOR_RESERVE(exceptions->handlers, exceptions->handler_capacity,
                              exceptions->handler_count + 2))
        return 0;
    if (exceptions->handler_count == 0)
        exceptions->handlers[exceptions->handler_count++] = (struct cunei_handler){0};
    if (cunei_map_add(&exceptions->handler_map, hash, exceptions->handler_count) < 0)
        return 0;
    exceptions->handlers[exceptions->handler_count] =
        (struct cunei_handler){.exception = exception, .slot = slot, .line = line};
    return exceptions->handler_count++;
}

/* Add to the exceptions that a handler caught. */
static void count_handler(struct cunei_exceptions *exceptions, uint32_t exception,
                          uint32_t slot, uint32_t line, int64_t count)
{
    uint32_t index = find_handler(exceptions, exception, slot, line);

    if (exceptions->handler_count > 0)
        exceptions->handlers[index].count += count;
}

/* Count an exception as ended; a count of -1 undoes that, because its handler reraised
 * it. */
static void count_end(struct cunei_exceptions *exceptions, uint32_t index,
                      const struct cunei_exception *event, uint32_t handler_slot,
                      int64_t count)
{
    struct cunei_raise *item = &exceptions->items[index];

    item->unwound += count * (int64_t)event->unwound;
    if (event->handler == 0 && event->handler_line == CUNEI_EXCEPTION_UNHANDLED) {
        item->unhandled += count;
        return;
    }
    item->caught += count;
    count_handler(exceptions, index, handler_slot, event->handler_line, count);
}

void cunei_exceptions_read(struct cunei_exceptions *exceptions,
                           const struct cunei_exception *event, uint32_t slot,
                           uint32_t handler_slot)
{
    size_t size = cunei_text_cut(event->type, strnlen(event->type, event->length),
                                 CUNEI_EXCEPTION_TYPE_MAX);
    uint32_t index = find(exceptions, event->type, size, slot, event->line);
    if (exceptions->count == 0)
        return; /* not even room for exception 0 */
    struct cunei_raise *item = &exceptions->items[index];

    switch (cunei_record_phase(event->record)) {
    case CUNEI_PHASE_ENTER:
        item->count++;
        break;
    case CUNEI_PHASE_LEAVE:
        if (event->unwound > item->unwound_max)
            item->unwound_max = event->unwound;
        count_end(exceptions, index, event, handler_slot, 1);
        break;
    case CUNEI_PHASE_RESUME:
        count_end(exceptions, index, event, handler_slot, -1);
        break;
    default:
        break;
    }
}

void cunei_exceptions_add(struct cunei_exceptions *exceptions,
                          const struct cunei_exceptions *other, const uint32_t *map)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct cunei_raise *from = &other->items[i];
        uint32_t slot = map ? map[from->slot] : from->slot;
        uint32_t index = from->type ? find(exceptions, from->type, strlen(from->type),
                                           slot, from->line)
                                    : 0;
        if (exceptions->count == 0)
            continue;
        struct cunei_raise *to = &exceptions->items[index];

        to->count += from->count;
        to->caught += from->caught;
        to->unhandled += from->unhandled;
        to->unwound += from->unwound;
        if (from->unwound_max > to->unwound_max)
            to->unwound_max = from->unwound_max;
    }
    for (uint32_t i = 1; i < other->handler_count; i++) {
        const struct cunei_handler *from = &other->handlers[i];
        const struct cunei_raise *of = &other->items[from->exception];
        uint32_t slot = map ? map[from->slot] : from->slot;
        uint32_t index = of->type ? find(exceptions, of->type, strlen(of->type),
                                         map ? map[of->slot] : of->slot, of->line)
                                  : 0;
        count_handler(exceptions, index, slot, from->line, from->count);
    }
    if (other->handler_count > 0 && exceptions->handler_count > 0)
        exceptions->handlers[0].count += other->handlers[0].count;
}
