// SPDX-License-Identifier: MIT
#include "view/replay.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "model/walk.h"
#include "view/format.h"

#define NS_PER_S UINT64_C(1000000000)

/* Lines are indented up to here; deeper ones tell their depth instead. */
#define INDENT_MAX 60u
/* The columns before the names. */
#define TIME_WIDTH     14
#define DURATION_WIDTH 10
#define DEPTH_WIDTH    6
/* What names and places keep where a line is too long. */
#define NAME_MIN  16u
#define PLACE_MIN 12u

enum {
    DONE = 1 /* from a step: what follows is not wanted */
};

struct replay {
    const struct cunei_replay_options *options;
    const struct cunei_trace_process *process;
    FILE *out;
    uint64_t origin_ns; /* wall clock of the trace's first event */
    struct cunei_buffer line;
    struct cunei_buffer title; /* of the thread, until its first line */
    uint32_t tid;
    size_t column;  /* of the line: how much of it is taken */
    bool is_wanted; /* the thread that is being told */
    bool is_begun;  /* something was printed */
    bool is_cut;    /* until_ns is reached: nothing that comes behind is told */
    bool is_found;  /* a thread was wanted */
};

static uint64_t time_of(const struct replay *replay, uint64_t tick)
{
    uint64_t wall_ns = cunei_metadata_wall_ns(&replay->process->metadata, tick);
    return wall_ns > replay->origin_ns ? wall_ns - replay->origin_ns : 0;
}

static uint64_t duration_ns(const struct replay *replay, uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * NS_PER_S /
                      replay->process->metadata.frequency);
}

/* How long the frame that the step is about has been open; 0: that is not known. */
static uint64_t age_ns(const struct replay *replay, const struct cunei_walk_step *step)
{
    const struct cunei_walk_frame *frame = &step->frames[step->depth - 1];

    if (!frame->is_known)
        return 0;
    return replay->is_cut ? replay->options->until_ns - time_of(replay, frame->entered)
                          : duration_ns(replay, step->time - frame->entered);
}

static int put_line(struct replay *replay)
{
    struct cunei_buffer *line = &replay->line;
    int rc = line->failed || replay->title.failed ? -ENOMEM : 0;

    cunei_buffer_append_text(line, "\n");
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

static void put_word(struct replay *replay, enum cunei_ink ink, const char *word)
{
    cunei_style_put(&replay->options->style, &replay->line, ink, word);
    replay->column += cunei_format_width(word);
}

/* The columns that are left of the line; 0: fewer than `least`. */
static size_t room_for(const struct replay *replay, size_t least)
{
    unsigned width = replay->options->style.width;

    if (width == 0)
        return SIZE_MAX;
    return replay->column + least <= width ? width - replay->column : 0;
}

static void put_place(struct replay *replay, uint32_t function)
{
    const struct cunei_function *names =
        cunei_trace_function(replay->process, function);
    struct cunei_buffer place = {0};

    if (!names)
        return;
    cunei_format_place(&place, names, &replay->process->description);
    size_t room = room_for(replay, 2 + PLACE_MIN);
    if (room > 0) {
        put_word(replay, CUNEI_INK_PLAIN, "  ");
        cunei_style_begin(&replay->options->style, &replay->line, CUNEI_INK_DIM);
        cunei_format_path(&replay->line, place.data ? place.data : "", room - 2);
        cunei_style_end(&replay->options->style, &replay->line, CUNEI_INK_DIM);
    }
    replay->line.failed |= place.failed;
    cunei_buffer_fini(&place);
}

/* Time, duration (or none) and the place where the text of a depth begins. */
static void begin_line(struct replay *replay, uint64_t tick, const uint64_t *took_ns,
                       uint32_t depth)
{
    const struct cunei_style *style = &replay->options->style;
    struct cunei_buffer *line = &replay->line;
    struct cunei_buffer duration = {0};
    uint64_t ns = time_of(replay, tick);

    if (ns > replay->options->until_ns)
        ns = replay->options->until_ns;
    cunei_style_begin(style, line, CUNEI_INK_DIM);
    cunei_buffer_format(line, "%*" PRIu64 ".%09" PRIu64, TIME_WIDTH - 10, ns / NS_PER_S,
                        ns % NS_PER_S);
    cunei_style_end(style, line, CUNEI_INK_DIM);
    if (took_ns)
        cunei_format_duration(&duration, *took_ns);
    size_t width = duration.data ? cunei_format_width(duration.data) : 0;
    cunei_buffer_format(line, "%*s",
                        width < DURATION_WIDTH ? DURATION_WIDTH - (int)width : 0, "");
    if (took_ns)
        cunei_style_put(style, line,
                        *took_ns >= NS_PER_S / 10     ? CUNEI_INK_HOT
                        : *took_ns >= NS_PER_S / 1000 ? CUNEI_INK_WARM
                                                      : CUNEI_INK_PLAIN,
                        duration.data ? duration.data : "");
    uint32_t indent = 2 * depth < INDENT_MAX ? 2 * depth : INDENT_MAX;
    cunei_buffer_format(line, "  %*s", (int)indent, "");
    if (2 * depth > INDENT_MAX)
        cunei_buffer_format(line, "[%" PRIu32 "] ", depth);
    replay->column = TIME_WIDTH + DURATION_WIDTH + 2 + indent +
                     (2 * depth > INDENT_MAX ? DEPTH_WIDTH : 0);
    line->failed |= duration.failed;
    cunei_buffer_fini(&duration);
}

static void put_name(struct replay *replay, uint32_t function, enum cunei_ink ink)
{
    const struct cunei_function *names =
        cunei_trace_function(replay->process, function);
    size_t room = room_for(replay, NAME_MIN);
    struct cunei_buffer name = {0}, shown = {0};

    if (names)
        cunei_format_function(&name, names);
    cunei_format_text(&shown, name.data ? name.data : "?",
                      room < NAME_MIN ? NAME_MIN : room);
    put_word(replay, ink, shown.data ? shown.data : "");
    replay->line.failed |= name.failed || shown.failed;
    cunei_buffer_fini(&name);
    cunei_buffer_fini(&shown);
}

static bool is_shown(const struct replay *replay, uint32_t depth)
{
    return replay->options->depth == 0 || depth < replay->options->depth;
}

static int open_line(struct replay *replay, const struct cunei_walk_step *step,
                     uint32_t depth)
{
    struct cunei_walk_frame *frame = &step->frames[depth];

    frame->mark = true;
    if (!is_shown(replay, depth))
        return 0;
    begin_line(replay, frame->is_known ? frame->entered : step->time, NULL, depth);
    if (frame->is_resumed)
        put_word(replay, CUNEI_INK_DIM, "resume ");
    put_name(replay, frame->function, CUNEI_INK_STRONG);
    put_word(replay, CUNEI_INK_PLAIN, " {");
    put_place(replay, frame->function);
    if (!frame->is_known)
        put_word(replay, CUNEI_INK_DIM, "  was open already");
    return put_line(replay);
}

/* The lines of what is open and has none so far, up to a depth. */
static int open_lines(struct replay *replay, const struct cunei_walk_step *step,
                      uint32_t depth)
{
    int rc = 0;
    uint32_t first = depth;

    while (first > 0 && !step->frames[first - 1].mark)
        first--;
    for (uint32_t i = first; rc == 0 && i < depth; i++)
        rc = open_line(replay, step, i);
    return rc;
}

static void put_how(struct replay *replay, const struct cunei_walk_step *step)
{
    if (step->is_yield)
        put_word(replay, CUNEI_INK_DIM, " yield");
    if (step->is_raised)
        put_word(replay, CUNEI_INK_BAD, " ! raised");
    if (step->kind == CUNEI_WALK_MISSED)
        put_word(replay, CUNEI_INK_BAD, " its end is missing");
    if (step->kind == CUNEI_WALK_OPEN)
        put_word(replay, CUNEI_INK_WARM, replay->is_cut ? " … goes on" : " still open");
}

/* A call is over, or nothing more is known of it. */
static int close_frame(struct replay *replay, const struct cunei_walk_step *step)
{
    uint32_t depth = step->depth - 1;
    const struct cunei_walk_frame *frame = &step->frames[depth];
    uint64_t took_ns = age_ns(replay, step);
    int rc = 0;

    if (!frame->mark) {
        if (took_ns < replay->options->min_time_ns || !is_shown(replay, depth))
            return 0;
        rc = open_lines(replay, step, depth);
    }
    if (rc != 0 || !is_shown(replay, depth))
        return rc;
    begin_line(replay, frame->mark || !frame->is_known ? step->time : frame->entered,
               frame->is_known && !replay->is_cut ? &took_ns : NULL, depth);
    if (frame->mark)
        put_word(replay, CUNEI_INK_PLAIN, "} ");
    else if (frame->is_resumed)
        put_word(replay, CUNEI_INK_DIM, "resume ");
    put_name(replay, step->function, frame->mark ? CUNEI_INK_DIM : CUNEI_INK_STRONG);
    put_how(replay, step);
    if (!frame->mark)
        put_place(replay, step->function);
    return put_line(replay);
}

static int put_note(struct replay *replay, const struct cunei_walk_step *step,
                    const char *words)
{
    int rc = open_lines(replay, step, step->depth);
    if (rc != 0)
        return rc;
    begin_line(replay, step->time, NULL, step->depth);
    if (step->kind == CUNEI_WALK_ORPHAN)
        put_name(replay, step->function, CUNEI_INK_PLAIN);
    put_word(replay, CUNEI_INK_BAD, words);
    return put_line(replay);
}

static bool is_thread_wanted(const struct replay *replay,
                             const struct cunei_packet *packet)
{
    const char *wanted = replay->options->thread;
    char name[CUNEI_PACKET_THREAD_NAME + 1] = "";
    char tid[16];

    if (!wanted)
        return true;
    memcpy(name, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
    (void)snprintf(tid, sizeof(tid), "%" PRIu32, packet->vtid);
    return strcmp(wanted, tid) == 0 || fnmatch(wanted, name, 0) == 0;
}

/* The title waits for a line that it can stand above. */
static int begin_thread(struct replay *replay, const struct cunei_packet *packet)
{
    const struct cunei_style *style = &replay->options->style;
    char name[CUNEI_PACKET_THREAD_NAME + 1] = "";
    struct cunei_buffer text = {0};

    cunei_buffer_clear(&replay->title);
    replay->is_cut = false;
    replay->tid = packet->vtid;
    replay->is_wanted = is_thread_wanted(replay, packet);
    replay->is_found |= replay->is_wanted;
    if (!replay->is_wanted || replay->options->json)
        return 0;
    memcpy(name, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
    cunei_format_program(&text, &replay->process->description);
    cunei_buffer_format(&text, " · %s%s(process %" PRIu32 ", thread %" PRIu32 ")", name,
                        name[0] ? " " : "", packet->vpid, packet->vtid);
    cunei_style_begin(style, &replay->title, CUNEI_INK_HEAD);
    cunei_format_text(&replay->title, text.data ? text.data : "", SIZE_MAX);
    cunei_style_end(style, &replay->title, CUNEI_INK_HEAD);
    cunei_buffer_append_text(&replay->title, "\n");
    replay->title.failed |= text.failed;
    cunei_buffer_fini(&text);
    return 0;
}

static void put_text(struct cunei_buffer *out, const char *key, const char *text)
{
    cunei_buffer_format(out, ",\"%s\":", key);
    cunei_text_json(out, text, strlen(text));
}

/* One object: a call that ended, or will not be seen to end. */
static int put_json(struct replay *replay, const struct cunei_walk_step *step)
{
    static const char *const ends[] = {
        [CUNEI_WALK_MISSED] = "missing", [CUNEI_WALK_OPEN] = "open"};
    const struct cunei_walk_frame *frame = &step->frames[step->depth - 1];
    const struct cunei_function *names =
        cunei_trace_function(replay->process, step->function);
    struct cunei_buffer *line = &replay->line;
    uint64_t begin = frame->is_known ? frame->entered : step->time;
    uint64_t took_ns = age_ns(replay, step);

    if (took_ns < replay->options->min_time_ns || !is_shown(replay, step->depth - 1))
        return 0;
    cunei_buffer_format(
        line, "{\"pid\":%" PRIu32 ",\"thread\":%" PRIu32 ",\"depth\":%" PRIu32,
        replay->process->metadata.pid, replay->tid, step->depth - 1);
    if (frame->is_known)
        cunei_buffer_format(line, ",\"begin_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64,
                            time_of(replay, begin), took_ns);
    else
        cunei_buffer_append_text(line, ",\"begin_ns\":null,\"duration_ns\":null");
    put_text(line, "end",
             step->is_raised                  ? "raise"
             : step->is_yield                 ? "yield"
             : step->kind == CUNEI_WALK_LEAVE ? "return"
                                              : ends[step->kind]);
    cunei_buffer_format(line, ",\"resumed\":%s", frame->is_resumed ? "true" : "false");
    put_text(line, "module", names ? names->module : "");
    put_text(line, "qualname", names ? names->qualname : "");
    put_text(line, "file", names ? names->file : "");
    cunei_buffer_format(line, ",\"line\":%" PRIu32 "}", names ? names->line : 0);
    return put_line(replay);
}

static int tell(struct replay *replay, const struct cunei_walk_step *step)
{
    bool is_end = step->kind == CUNEI_WALK_LEAVE || step->kind == CUNEI_WALK_MISSED ||
                  step->kind == CUNEI_WALK_OPEN;

    if (replay->options->json)
        return is_end ? put_json(replay, step) : 0;
    if (is_end)
        return close_frame(replay, step);
    switch (step->kind) {
    case CUNEI_WALK_ENTER:
        /* What calls is no leaf; with a least time it waits for something to show. */
        return replay->options->min_time_ns > 0 || !is_shown(replay, step->depth - 1)
                   ? 0
                   : open_lines(replay, step, step->depth - 1);
    case CUNEI_WALK_ORPHAN:
        return put_note(replay, step, " is left, but was never entered");
    case CUNEI_WALK_LOST:
        return put_note(replay, step, "… events were lost here");
    default:
        return 0;
    }
}

/* The step is the first one behind the end of what is wanted: what was open then goes
 * on, and the step itself is not told. */
static int cut_off(struct replay *replay, const struct cunei_walk_step *step)
{
    struct cunei_walk_step open = *step;
    bool is_begin = step->kind == CUNEI_WALK_ENTER || step->kind == CUNEI_WALK_FOUND;
    int rc = 0;

    replay->is_cut = true;
    open.kind = CUNEI_WALK_OPEN;
    open.is_yield = open.is_raised = false;
    open.depth -= is_begin;
    for (; rc == 0 && open.depth > 0; open.depth--) {
        open.function = open.frames[open.depth - 1].function;
        rc = tell(replay, &open);
    }
    return rc == 0 ? DONE : rc;
}

static int step_replay(void *context, const struct cunei_walk_step *step)
{
    struct replay *replay = context;

    if (step->kind == CUNEI_WALK_THREAD)
        return begin_thread(replay, step->packet);
    uint64_t ns = time_of(replay, step->time);
    if (!replay->is_wanted || replay->is_cut || ns < replay->options->from_ns)
        return 0;
    return ns > replay->options->until_ns ? cut_off(replay, step) : tell(replay, step);
}

static int replay_stream(struct replay *replay, const struct cunei_trace_stream *stream,
                         struct cunei_trace_error *error)
{
    struct cunei_walk walk = {.step = step_replay, .context = replay};
    struct cunei_trace_reader reader;
    struct cunei_trace_packet packet;
    uint32_t done_thread = 0;
    bool is_done = false;

    int rc = cunei_trace_reader_open(&reader, replay->process, stream, 0, UINT64_MAX);
    if (rc < 0)
        return rc;
    while ((rc = cunei_trace_reader_next(&reader, &packet)) > 0) {
        if (is_done && packet.head->thread == done_thread)
            continue;
        rc = cunei_walk_packet(&walk, packet.head, packet.words, packet.word_count);
        is_done = rc == DONE;
        done_thread = packet.head->thread;
        if (rc < 0)
            break;
    }
    if (rc == -EBADMSG)
        *error = reader.error;
    if (rc == 0 || rc == -EBADMSG) {
        int end_rc = cunei_walk_end(&walk);
        rc = end_rc < 0 ? end_rc : rc;
    }
    cunei_trace_reader_close(&reader);
    cunei_walk_fini(&walk);
    return rc;
}

/* The wall clock of the first packet of a stream; UINT64_MAX: it has none. */
static uint64_t stream_begin_ns(const struct cunei_trace_process *process,
                                const struct cunei_trace_stream *stream)
{
    struct cunei_trace_reader reader;
    struct cunei_trace_packet packet;
    uint64_t begin_ns = UINT64_MAX;

    if (cunei_trace_reader_open(&reader, process, stream, 0, UINT64_MAX) < 0)
        return begin_ns;
    if (cunei_trace_reader_next(&reader, &packet) > 0 && packet.word_count > 0)
        begin_ns = cunei_metadata_wall_ns(
            &process->metadata,
            cunei_record_time(packet.words[0], packet.head->timestamp_begin));
    cunei_trace_reader_close(&reader);
    return begin_ns;
}

static uint64_t trace_begin_ns(const struct cunei_trace *trace)
{
    uint64_t begin_ns = UINT64_MAX;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        for (size_t j = 0; j < process->stream_count; j++) {
            if (process->streams[j].stream_class != CUNEI_STREAM_EVENTS)
                continue;
            uint64_t ns = stream_begin_ns(process, &process->streams[j]);
            begin_ns = ns < begin_ns ? ns : begin_ns;
        }
    }
    return begin_ns;
}

int cunei_replay_print(const struct cunei_trace *trace,
                       const struct cunei_replay_options *options, FILE *out,
                       struct cunei_trace_error *error)
{
    struct replay replay = {
        .options = options, .out = out, .origin_ns = trace_begin_ns(trace)};
    int rc = 0, damage = 0;

    for (size_t i = 0; rc == 0 && i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        if (!cunei_trace_is_chosen(process, &options->processes))
            continue;
        replay.process = process;
        for (size_t j = 0; rc == 0 && j < process->stream_count; j++) {
            if (process->streams[j].stream_class != CUNEI_STREAM_EVENTS)
                continue;
            rc = replay_stream(&replay, &process->streams[j], error);
            if (rc == -EBADMSG) {
                damage = rc;
                rc = 0;
            }
        }
    }
    cunei_buffer_fini(&replay.line);
    cunei_buffer_fini(&replay.title);
    if (rc == 0 && damage == 0 && !replay.is_found &&
        (options->processes.count > 0 || options->thread))
        rc = -ESRCH;
    return rc < 0 ? rc : damage;
}
