// SPDX-License-Identifier: MIT
/*
 * Parameters that were told after other things had happened in what they are of: they
 * wait for its end, and are told with that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/encode.h"
#include "wire/user_event.h"

static bool is_same(const struct cunei_user_value *a, const struct cunei_user_value *b)
{
    struct cunei_user_event_text one = cunei_user_event_name(a);
    struct cunei_user_event_text other = cunei_user_event_name(b);

    return a->target == b->target && one.size == other.size &&
           memcmp(one.data, other.data, one.size) == 0;
}

/* One of them waits no longer: it is told as an event, at its time. */
static int tell_apart(struct cunei_encoding *encoding, size_t index)
{
    struct cunei_late_parameters *late = &encoding->late;
    struct cunei_late_parameters_item item = late->items[index];

    late->count--;
    memmove(&late->items[index], &late->items[index + 1],
            (late->count - index) * sizeof(item));
    int rc =
        encoding->encoder->event
            ? encoding->encoder->event(encoding, (const void *)item.value, item.time)
            : 0;
    free(item.value);
    return rc;
}

/* A name has one value at an end, the last; those before it are told apart. */
static int make_room(struct cunei_encoding *encoding,
                     const struct cunei_user_value *value)
{
    struct cunei_late_parameters *late = &encoding->late;

    for (size_t i = 0; i < late->count; i++) {
        if (late->items[i].inside == 0 && is_same(late->items[i].value, value))
            return tell_apart(encoding, i);
    }
    return late->count == CUNEI_LATE_MAX ? tell_apart(encoding, 0) : 0;
}

int cunei_late_parameters_take(struct cunei_encoding *encoding,
                               const struct cunei_user_value *value, uint64_t time)
{
    struct cunei_late_parameters *late = &encoding->late;
    size_t size = sizeof(*value) + value->length;

    int rc = make_room(encoding, value);
    if (rc != 0)
        return rc;
    struct cunei_user_value *copy = malloc(size);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, value, size);
    late->items[late->count++] = (struct cunei_late_parameters_item){copy, time, 0};
    return 0;
}

void cunei_late_parameters_open(struct cunei_late_parameters *late, uint32_t function)
{
    for (size_t i = 0; i < late->count; i++)
        late->items[i].inside += late->items[i].value->target == function;
}

size_t cunei_late_parameters_close(struct cunei_late_parameters *late,
                                   uint32_t function)
{
    size_t kept = 0, ended = 0;

    for (size_t i = 0; i < late->count; i++) {
        struct cunei_late_parameters_item item = late->items[i];
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

void cunei_late_parameters_free(struct cunei_late_parameters *late, size_t ended)
{
    for (size_t i = 0; i < ended; i++)
        free(late->ended[i]);
}

int cunei_late_parameters_flush(struct cunei_encoding *encoding)
{
    int rc = 0;

    while (rc == 0 && encoding->late.count > 0)
        rc = tell_apart(encoding, 0);
    return rc;
}

void cunei_late_parameters_fini(struct cunei_late_parameters *late)
{
    while (late->count > 0)
        free(late->items[--late->count].value);
}
