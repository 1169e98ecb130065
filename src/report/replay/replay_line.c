// SPDX-License-Identifier: MIT
#include "report/replay/replay_line.h"

#include <errno.h>
#include <inttypes.h>

#include "base/units.h"
#include "model/facts/import_system.h"
#include "report/replay/replay_options.h"
#include "text/format.h"
#include "text/names.h"
#include "text/terminal_text.h"

/* Lines are indented up to here; deeper ones begin with their depth instead: [31]. */
#define INDENT_MAX 60u
/* The columns before the names. */
#define TIME_WIDTH     14
#define DURATION_WIDTH 10
#define DEPTH_WIDTH    6
/* The columns that texts keep where a line is too long. */
#define NAME_MIN      16u
#define PLACE_MIN     12u
#define ARGUMENTS_MIN 12u
#define RESULT_MIN    8u

void cunei_replay_line_fini(struct cunei_replay_line *replay)
{
    cunei_replay_arguments_fini(&replay->arguments);
    cunei_buffer_fini(&replay->line);
    cunei_buffer_fini(&replay->title);
    cunei_buffer_fini(&replay->label);
    cunei_tasks_fini(&replay->tasks);
}

uint64_t cunei_replay_line_time(const struct cunei_replay_line *replay, uint64_t tick)
{
    uint64_t wall_ns = cunei_metadata_wall_ns(&replay->process->metadata, tick);
    return wall_ns > replay->origin_ns ? wall_ns - replay->origin_ns : 0;
}

uint64_t cunei_replay_line_duration(const struct cunei_replay_line *replay,
                                    uint64_t ticks)
{
    return cunei_ticks_ns(ticks, replay->process->metadata.frequency);
}

uint64_t cunei_replay_line_age(const struct cunei_replay_line *replay,
                               const struct cunei_walk_step *step)
{
    const struct cunei_walk_frame *frame = &step->frames[step->depth - 1];

    if (!frame->is_known)
        return 0;
    if (replay->is_cut)
        return replay->options->until_ns -
               cunei_replay_line_time(replay, frame->entered) -
               cunei_replay_line_duration(replay, frame->suspended);
    return cunei_replay_line_duration(replay,
                                      step->time - frame->entered - frame->suspended);
}

bool cunei_replay_line_shows(const struct cunei_replay_line *replay, uint32_t depth)
{
    return replay->options->depth == 0 || depth < replay->options->depth;
}

bool cunei_replay_line_is_unrecorded(const struct cunei_walk_step *step)
{
    return step->kind == CUNEI_WALK_MISSED && step->is_correction && step->packet &&
           step->packet->flags & CUNEI_PACKET_RENEWED;
}

int cunei_replay_line_end(struct cunei_replay_line *replay)
{
    struct cunei_buffer *line = &replay->line;
    int rc = line->failed || replay->title.failed ? -ENOMEM : 0;

    cunei_buffer_append_text(line, "\n");
    if (replay->put) {
        if (rc == 0)
            replay->put(replay->put_context, line->data, line->size);
        cunei_buffer_clear(line);
        return rc;
    }
    if (replay->title.size > 0)
        (void)fprintf(replay->out, "%s%s", replay->is_begun ? "\n" : "",
                      replay->title.data);
    replay->is_begun = true;
    cunei_buffer_clear(&replay->title);
    if (rc == 0 && fwrite(line->data, 1, line->size, replay->out) != line->size)
        rc = errno ? -errno : -EIO;
    cunei_buffer_clear(line);
    return rc;
}

void cunei_replay_line_word(struct cunei_replay_line *replay, enum cunei_ink ink,
                            const char *word)
{
    cunei_style_put(&replay->options->style, &replay->line, ink, word);
    replay->column += cunei_terminal_width(word);
}

/* The columns that are left of the line; 0: fewer than `least`. */
static size_t room_for(const struct cunei_replay_line *replay, size_t least)
{
    unsigned width = replay->options->style.width;

    if (width == 0)
        return SIZE_MAX;
    return replay->column + least <= width ? width - replay->column : 0;
}

void cunei_replay_line_text(struct cunei_replay_line *replay, enum cunei_ink ink,
                            const char *text, size_t least)
{
    size_t room = room_for(replay, least);
    struct cunei_buffer shown = {0};

    cunei_terminal_text(&shown, text, room < least ? least : room);
    cunei_replay_line_word(replay, ink, cunei_buffer_text(&shown));
    replay->line.failed |= shown.failed;
    cunei_buffer_fini(&shown);
}

void cunei_replay_line_name(struct cunei_replay_line *replay, uint32_t function,
                            enum cunei_ink ink)
{
    const struct cunei_function *names =
        cunei_trace_function(replay->process, function);
    struct cunei_buffer name = {0};

    if (names && !replay->options->no_fold && cunei_is_imported_module(names))
        cunei_buffer_format(&name, "import %s", names->module);
    else if (names)
        cunei_format_function(&name, names);
    cunei_replay_line_text(replay, ink, name.data ? name.data : "?", NAME_MIN);
    replay->line.failed |= name.failed;
    cunei_buffer_fini(&name);
}

void cunei_replay_line_place(struct cunei_replay_line *replay, uint32_t function,
                             uint32_t line)
{
    const struct cunei_function *names =
        cunei_trace_function(replay->process, function);
    struct cunei_buffer place = {0};

    if (!names)
        return;
    struct cunei_function at = *names;
    at.line = line > 0 ? line : at.line;
    cunei_format_place(&place, &at, &replay->process->description);
    size_t room = room_for(replay, 2 + PLACE_MIN);
    if (room > 0) {
        cunei_replay_line_word(replay, CUNEI_INK_PLAIN, "  ");
        cunei_style_begin(&replay->options->style, &replay->line, CUNEI_INK_DIM);
        cunei_terminal_path(&replay->line, cunei_buffer_text(&place), room - 2);
        cunei_style_end(&replay->options->style, &replay->line, CUNEI_INK_DIM);
    }
    replay->line.failed |= place.failed;
    cunei_buffer_fini(&place);
}

void cunei_replay_line_put_arguments(struct cunei_replay_line *replay,
                                     const struct cunei_walk_frame *frame)
{
    if (frame->tag == 0)
        return;
    cunei_replay_line_word(replay, CUNEI_INK_PLAIN, "(");
    replay->column += 2; /* for the closing bracket */
    cunei_replay_line_text(replay, CUNEI_INK_PLAIN,
                           cunei_replay_arguments_text(&replay->arguments, frame),
                           ARGUMENTS_MIN);
    replay->column -= 2;
    cunei_replay_line_word(replay, CUNEI_INK_PLAIN, ")");
}

void cunei_replay_line_put_result(struct cunei_replay_line *replay)
{
    if (replay->arguments.result.size == 0)
        return;
    cunei_replay_line_word(replay, CUNEI_INK_DIM, " → ");
    cunei_replay_line_text(replay, CUNEI_INK_PLAIN, replay->arguments.result.data,
                           RESULT_MIN);
}

static void put_duration(struct cunei_replay_line *replay, const uint64_t *took_ns)
{
    struct cunei_buffer duration = {0};

    if (took_ns)
        cunei_format_duration(&duration, *took_ns);
    size_t width = duration.data ? cunei_terminal_width(duration.data) : 0;
    cunei_buffer_format(&replay->line, "%*s",
                        width < DURATION_WIDTH ? DURATION_WIDTH - (int)width : 0, "");
    if (took_ns)
        cunei_style_put(&replay->options->style, &replay->line,
                        *took_ns >= CUNEI_NS_PER_S / 10     ? CUNEI_INK_HOT
                        : *took_ns >= CUNEI_NS_PER_S / 1000 ? CUNEI_INK_WARM
                                                            : CUNEI_INK_PLAIN,
                        cunei_buffer_text(&duration));
    replay->line.failed |= duration.failed;
    cunei_buffer_fini(&duration);
}

void cunei_replay_line_begin(struct cunei_replay_line *replay, uint64_t tick,
                             const uint64_t *took_ns, uint32_t depth)
{
    const struct cunei_style *style = &replay->options->style;
    struct cunei_buffer *line = &replay->line;
    uint64_t ns = cunei_replay_line_time(replay, tick);

    if (ns > replay->options->until_ns)
        ns = replay->options->until_ns;
    const char *label = cunei_buffer_text(&replay->label);
    cunei_style_begin(style, line, CUNEI_INK_DIM);
    cunei_buffer_append_text(line, label);
    cunei_buffer_format(line, "%*" PRIu64 ".%09" PRIu64, TIME_WIDTH - 10,
                        ns / CUNEI_NS_PER_S, ns % CUNEI_NS_PER_S);
    cunei_style_end(style, line, CUNEI_INK_DIM);
    put_duration(replay, took_ns);
    uint32_t indent = 2 * depth < INDENT_MAX ? 2 * depth : INDENT_MAX;
    cunei_buffer_format(line, "  %*s", (int)indent, "");
    if (2 * depth > INDENT_MAX)
        cunei_buffer_format(line, "[%" PRIu32 "] ", depth);
    replay->column = cunei_terminal_width(label) + TIME_WIDTH + DURATION_WIDTH + 2 +
                     indent + (2 * depth > INDENT_MAX ? DEPTH_WIDTH : 0);
}

static int open_line(struct cunei_replay_line *replay,
                     const struct cunei_walk_step *step, uint32_t depth)
{
    struct cunei_walk_frame *frame = &step->frames[depth];

    frame->mark = true;
    if (!cunei_replay_line_shows(replay, depth))
        return 0;
    /* With --min-time it is printed late, and the calls inside it follow. */
    cunei_replay_line_begin(replay, frame->entered, NULL, depth);
    if (frame->is_resumed)
        cunei_replay_line_word(replay, CUNEI_INK_DIM, "resume ");
    cunei_replay_line_name(replay, frame->function, CUNEI_INK_STRONG);
    cunei_replay_line_put_arguments(replay, frame);
    cunei_replay_line_word(replay, CUNEI_INK_PLAIN, " {");
    cunei_replay_line_place(replay, frame->function, 0);
    if (!frame->is_known)
        cunei_replay_line_word(replay, CUNEI_INK_DIM, "  was already running");
    return cunei_replay_line_end(replay);
}

int cunei_replay_line_open(struct cunei_replay_line *replay,
                           const struct cunei_walk_step *step, uint32_t depth)
{
    int rc = 0;
    uint32_t first = depth;

    while (first > 0 && !step->frames[first - 1].mark)
        first--;
    for (uint32_t i = first; rc == 0 && i < depth; i++)
        rc = open_line(replay, step, i);
    return rc;
}
