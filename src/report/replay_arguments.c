// SPDX-License-Identifier: MIT
/* The part of a replay that knows what calls were given and what they returned. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/replay_line.h"

/* What a line keeps of them where it is too long. */
#define ARGUMENTS_MIN 12u
#define RESULT_MIN    8u

void cunei_replay_line_fini(struct cunei_replay_line *telling)
{
    struct cunei_arguments *arguments = &telling->arguments;

    for (uint32_t i = 0; i < arguments->count; i++)
        cunei_buffer_fini(&arguments->items[i]);
    free(arguments->items);
    free(arguments->unused);
    cunei_buffer_fini(&telling->line);
    cunei_buffer_fini(&telling->title);
    cunei_buffer_fini(&telling->result);
    cunei_tasks_fini(&telling->tasks);
}

static int grow(struct cunei_arguments *arguments)
{
    uint32_t capacity = arguments->capacity ? 2 * arguments->capacity : 16;
    struct cunei_buffer *items = realloc(arguments->items, capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    arguments->items = items;
    uint32_t *unused = realloc(arguments->unused, capacity * sizeof(*unused));
    if (!unused)
        return -ENOMEM;
    arguments->unused = unused;
    arguments->capacity = capacity;
    return 0;
}

/* A tag for a frame's arguments; 0: no memory. */
static uint32_t take_tag(struct cunei_arguments *arguments)
{
    if (arguments->unused_count > 0)
        return arguments->unused[--arguments->unused_count];
    if (arguments->count == arguments->capacity && grow(arguments) < 0)
        return 0;
    arguments->items[arguments->count++] = (struct cunei_buffer){0};
    return arguments->count;
}

void cunei_replay_line_forget(struct cunei_replay_line *telling,
                              struct cunei_walk_frame *frame)
{
    struct cunei_arguments *arguments = &telling->arguments;

    cunei_buffer_clear(&telling->result);
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
        name_size++; /* the value stands behind a `=` */
    cunei_text_json(out, argument->text + name_size, size - name_size);
    cunei_buffer_append_text(out, "}");
}

static void put_text(struct cunei_buffer *out, const struct cunei_argument *argument,
                     size_t size)
{
    cunei_buffer_append_text(out, out->size > 0 ? ", " : "");
    cunei_buffer_append(out, argument->text, size);
}

int cunei_replay_line_take(struct cunei_replay_line *telling,
                           const struct cunei_walk_step *step)
{
    const struct cunei_argument *argument = (const void *)step->event;
    size_t size = strnlen(argument->text, argument->length);
    size_t name_size = argument->name_length < size ? argument->name_length : size;
    struct cunei_buffer *out = &telling->result;

    if (step->depth == 0 || step->function != argument->function)
        return 0; /* its call is not known */
    if (cunei_record_phase(argument->record) == CUNEI_PHASE_ENTER) {
        struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
        if (frame->tag == 0)
            frame->tag = take_tag(&telling->arguments);
        if (frame->tag == 0)
            return -ENOMEM;
        out = &telling->arguments.items[frame->tag - 1];
    } else
        cunei_buffer_clear(out);
    if (telling->options->json && out != &telling->result)
        put_json(out, argument, name_size, size);
    else
        put_text(out, argument, size);
    return out->failed ? -ENOMEM : 0;
}

const char *cunei_replay_line_arguments(const struct cunei_replay_line *telling,
                                        const struct cunei_walk_frame *frame)
{
    const char *text =
        frame->tag > 0 ? telling->arguments.items[frame->tag - 1].data : NULL;
    return text ? text : "";
}

void cunei_replay_line_put_arguments(struct cunei_replay_line *telling,
                                     const struct cunei_walk_frame *frame)
{
    if (frame->tag == 0)
        return;
    cunei_replay_line_word(telling, CUNEI_INK_PLAIN, "(");
    telling->column += 2; /* for what stands behind them */
    cunei_replay_line_text(telling, CUNEI_INK_PLAIN,
                           cunei_replay_line_arguments(telling, frame), ARGUMENTS_MIN);
    telling->column -= 2;
    cunei_replay_line_word(telling, CUNEI_INK_PLAIN, ")");
}

void cunei_replay_line_put_result(struct cunei_replay_line *telling)
{
    if (telling->result.size == 0)
        return;
    cunei_replay_line_word(telling, CUNEI_INK_DIM, " → ");
    cunei_replay_line_text(telling, CUNEI_INK_PLAIN, telling->result.data, RESULT_MIN);
}
