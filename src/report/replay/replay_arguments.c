// SPDX-License-Identifier: MIT
#include "report/replay/replay_arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "model/walk/walk.h"

void cunei_replay_arguments_fini(struct cunei_replay_arguments *arguments)
{
    for (uint32_t i = 0; i < arguments->count; i++)
        cunei_buffer_fini(&arguments->items[i]);
    free(arguments->items);
    free(arguments->unused);
    cunei_buffer_fini(&arguments->result);
    *arguments = (struct cunei_replay_arguments){.is_json = arguments->is_json};
}

/* A tag for a frame's arguments; 0: no memory.  It also has room among the unused. */
static uint32_t take_tag(struct cunei_replay_arguments *arguments)
{
    if (arguments->unused_count > 0)
        return arguments->unused[--arguments->unused_count];
    if (!CUNEI_VECTOR_RESERVE(arguments->items, arguments->capacity,
                              arguments->count + 1) ||
        !CUNEI_VECTOR_RESERVE(arguments->unused, arguments->unused_capacity,
                              arguments->count + 1))
        return 0;
    arguments->items[arguments->count++] = (struct cunei_buffer){0};
    return arguments->count;
}

void cunei_replay_arguments_remove(struct cunei_replay_arguments *arguments,
                                   struct cunei_walk_frame *frame)
{
    cunei_buffer_clear(&arguments->result);
    if (frame->tag == 0)
        return;
    cunei_buffer_clear(&arguments->items[frame->tag - 1]);
    arguments->unused[arguments->unused_count++] = frame->tag;
    frame->tag = 0;
}

static void put_json(struct cunei_buffer *out, const struct cunei_argument *argument,
                     size_t name_size, size_t size)
{
    cunei_buffer_append_text(out, out->size > 0 ? ",{\"name\":" : "{\"name\":");
    cunei_text_json(out, argument->text, name_size);
    cunei_buffer_append_text(out, ",\"value\":");
    if (name_size > 0 && name_size < size)
        name_size++; /* the value follows a `=` */
    cunei_text_json(out, argument->text + name_size, size - name_size);
    cunei_buffer_append_text(out, "}");
}

static void put_text(struct cunei_buffer *out, const struct cunei_argument *argument,
                     size_t size)
{
    cunei_buffer_append_text(out, out->size > 0 ? ", " : "");
    cunei_buffer_append(out, argument->text, size);
}

int cunei_replay_arguments_add(struct cunei_replay_arguments *arguments,
                               const struct cunei_walk_step *step)
{
    const struct cunei_argument *argument = (const void *)step->event;
    size_t size = strnlen(argument->text, argument->length);
    size_t name_size = argument->name_length < size ? argument->name_length : size;
    struct cunei_buffer *out = &arguments->result;

    if (step->depth == 0 || step->function != argument->function)
        return 0; /* its call is not known */
    if (cunei_record_phase(argument->record) == CUNEI_PHASE_ENTER) {
        struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
        if (frame->tag == 0)
            frame->tag = take_tag(arguments);
        if (frame->tag == 0)
            return -ENOMEM;
        out = &arguments->items[frame->tag - 1];
    } else
        cunei_buffer_clear(out);
    if (arguments->is_json && out != &arguments->result)
        put_json(out, argument, name_size, size);
    else
        put_text(out, argument, size);
    return out->failed ? -ENOMEM : 0;
}

const char *cunei_replay_arguments_text(const struct cunei_replay_arguments *arguments,
                                        const struct cunei_walk_frame *frame)
{
    const char *text = frame->tag > 0 ? arguments->items[frame->tag - 1].data : NULL;
    return text ? text : "";
}
