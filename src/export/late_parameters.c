// SPDX-License-Identifier: MIT
#include "export/late_parameters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wire/user_event.h"

static bool is_same(const struct cunei_user_value *a, const struct cunei_user_value *b)
{
    struct cunei_user_event_text one = cunei_user_event_name(a);
    struct cunei_user_event_text other = cunei_user_event_name(b);

    return a->target == b->target && one.size == other.size &&
           memcmp(one.data, other.data, one.size) == 0;
}

static struct cunei_late_parameter remove_item(struct cunei_late_parameters *late,
                                               size_t index)
{
    struct cunei_late_parameter item = late->items[index];

    late->count--;
    memmove(&late->items[index], &late->items[index + 1],
            (late->count - index) * sizeof(item));
    return item;
}

struct cunei_late_parameter cunei_late_parameters_pop(
    struct cunei_late_parameters *late)
{
    return remove_item(late, 0);
}

/* A name has one value at the end of a call, the last. */
static struct cunei_late_parameter make_room(struct cunei_late_parameters *late,
                                             const struct cunei_user_value *value)
{
    for (size_t i = 0; i < late->count; i++) {
        if (late->items[i].inside == 0 && is_same(late->items[i].value, value))
            return remove_item(late, i);
    }
    return late->count == CUNEI_LATE_MAX ? remove_item(late, 0)
                                         : (struct cunei_late_parameter){0};
}

int cunei_late_parameters_add(struct cunei_late_parameters *late,
                              const struct cunei_user_value *value, uint64_t time,
                              struct cunei_late_parameter *out)
{
    size_t size = sizeof(*value) + value->length;
    struct cunei_user_value *copy = malloc(size);

    if (!copy)
        return -ENOMEM;
    memcpy(copy, value, size);
    *out = make_room(late, value);
    late->items[late->count++] = (struct cunei_late_parameter){copy, time, 0};
    return 0;
}

void cunei_late_parameters_begin(struct cunei_late_parameters *late, uint32_t function)
{
    for (size_t i = 0; i < late->count; i++)
        late->items[i].inside += late->items[i].value->target == function;
}

size_t cunei_late_parameters_end(struct cunei_late_parameters *late, uint32_t function)
{
    size_t kept = 0, ended = 0;

    for (size_t i = 0; i < late->count; i++) {
        struct cunei_late_parameter item = late->items[i];
        if (item.value->target == function && item.inside == 0) {
            late->ended[ended++] = item.value;
            continue;
        }
        item.inside -= item.value->target == function;
        late->items[kept++] = item;
    }
    late->count = kept;
    return ended;
}

void cunei_late_parameters_free_ended(struct cunei_late_parameters *late, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(late->ended[i]);
}

void cunei_late_parameters_fini(struct cunei_late_parameters *late)
{
    while (late->count > 0)
        free(late->items[--late->count].value);
}
