// SPDX-License-Identifier: MIT
#include "model/exceptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FIRST_CAPACITY 16u

void cunei_exceptions_fini(struct cunei_exceptions *exceptions)
{
    for (uint32_t i = 0; i < exceptions->count; i++)
        free(exceptions->items[i].type);
    free(exceptions->items);
    free(exceptions->table);
    free(exceptions->handlers);
    free(exceptions->handler_table);
    *exceptions = (struct cunei_exceptions){0};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t find_place(const struct cunei_exceptions *exceptions, const char *type,
                           size_t size, uint32_t slot, uint32_t line)
{
    uint32_t mask = exceptions->table_size - 1;
    uint64_t hash = mix((uint64_t)slot << 32 | line, size);

    for (size_t i = 0; i < size; i++)
        hash = mix(hash >> 7 ^ hash, (unsigned char)type[i]);
    for (uint32_t place = (uint32_t)(hash >> 32) & mask;; place = (place + 1) & mask) {
        const struct cunei_raise *item = &exceptions->items[exceptions->table[place]];
        if (exceptions->table[place] == 0 ||
            (item->slot == slot && item->line == line &&
             strncmp(item->type, type, size) == 0 && item->type[size] == '\0'))
            return place;
    }
}

static int grow(struct cunei_exceptions *exceptions)
{
    uint32_t capacity =
        exceptions->capacity ? 2 * exceptions->capacity : FIRST_CAPACITY;

    if (exceptions->capacity >= CUNEI_EXCEPTIONS_MAX)
        return -ENOSPC;
    struct cunei_raise *items = realloc(exceptions->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    exceptions->items = items;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(exceptions->table);
    exceptions->table = table;
    exceptions->table_size = 2 * capacity;
    exceptions->capacity = capacity;
    if (exceptions->count == 0)
        items[exceptions->count++] = (struct cunei_raise){0};
    for (uint32_t i = 1; i < exceptions->count; i++)
        table[find_place(exceptions, items[i].type, strlen(items[i].type),
                         items[i].slot, items[i].line)] = i;
    return 0;
}

static uint32_t find(struct cunei_exceptions *exceptions, const char *type, size_t size,
                     uint32_t slot, uint32_t line)
{
    if (exceptions->capacity > 0) {
        uint32_t index =
            exceptions->table[find_place(exceptions, type, size, slot, line)];
        if (index != 0)
            return index;
    }
    if (exceptions->count == exceptions->capacity && grow(exceptions) < 0)
        return 0;
    char *copy = strndup(type, size);
    if (!copy)
        return 0;
    uint32_t index = exceptions->count++;
    exceptions->items[index] =
        (struct cunei_raise){.type = copy, .slot = slot, .line = line};
    exceptions->table[find_place(exceptions, type, size, slot, line)] = index;
    return index;
}

static uint32_t find_handler_place(const struct cunei_exceptions *exceptions,
                                   uint32_t exception, uint32_t slot, uint32_t line)
{
    uint32_t mask = exceptions->handler_table_size - 1;
    uint64_t hash = mix(mix(exception, slot), line);

    for (uint32_t place = (uint32_t)(hash >> 32) & mask;; place = (place + 1) & mask) {
        uint32_t index = exceptions->handler_table[place];
        const struct cunei_handler *item = &exceptions->handlers[index];
        if (index == 0 ||
            (item->exception == exception && item->slot == slot && item->line == line))
            return place;
    }
}

static int grow_handlers(struct cunei_exceptions *exceptions)
{
    uint32_t capacity = exceptions->handler_capacity ? 2 * exceptions->handler_capacity
                                                     : FIRST_CAPACITY;

    if (exceptions->handler_capacity >= CUNEI_EXCEPTIONS_MAX)
        return -ENOSPC;
    struct cunei_handler *handlers =
        realloc(exceptions->handlers, capacity * sizeof(*handlers));
    if (!handlers)
        return -ENOMEM;
    exceptions->handlers = handlers;
    uint32_t *table = calloc((size_t)2 * capacity, sizeof(*table));
    if (!table)
        return -ENOMEM;
    free(exceptions->handler_table);
    exceptions->handler_table = table;
    exceptions->handler_table_size = 2 * capacity;
    exceptions->handler_capacity = capacity;
    if (exceptions->handler_count == 0)
        handlers[exceptions->handler_count++] = (struct cunei_handler){0};
    for (uint32_t i = 1; i < exceptions->handler_count; i++)
        table[find_handler_place(exceptions, handlers[i].exception, handlers[i].slot,
                                 handlers[i].line)] = i;
    return 0;
}

/* Add to what a handler kept. */
static void count_handler(struct cunei_exceptions *exceptions, uint32_t exception,
                          uint32_t slot, uint32_t line, int64_t count)
{
    uint32_t index = 0, place = 0;

    if (exceptions->handler_capacity > 0) {
        place = find_handler_place(exceptions, exception, slot, line);
        index = exceptions->handler_table[place];
    }
    if (index == 0) {
        if (exceptions->handler_count == exceptions->handler_capacity) {
            if (grow_handlers(exceptions) < 0)
                goto out;
            place = find_handler_place(exceptions, exception, slot, line);
        }
        index = exceptions->handler_count++;
        exceptions->handlers[index] =
            (struct cunei_handler){.exception = exception, .slot = slot, .line = line};
        exceptions->handler_table[place] = index;
    }
out:
    if (exceptions->handler_count > 0)
        exceptions->handlers[index].count += count;
}

/* It has come to its end by this event, or by -1 not yet. */
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
    item->taken += count;
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
        to->taken += from->taken;
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
