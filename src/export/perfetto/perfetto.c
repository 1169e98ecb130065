// SPDX-License-Identifier: MIT
/*
 * Perfetto's own format: track events, as ui.perfetto.dev and trace_processor read
 * them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/encode_pieces.h"
#include "export/encoder.h"
#include "export/export.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/sequence.h"
#include "export/perfetto/tracks.h"
#include "export/protobuf.h"
#include "export/writers.h"
#include "wire/user_event.h"

/* Room for an event without text. */
#define EVENT_ROOM 96u

/* A slice begins without annotations, as most do. */
static void begin_plain(struct cunei_encoding *encoding, uint64_t passed, uint64_t id,
                        enum cunei_span_begin how)
{
    char *at = cunei_buffer_room(&encoding->out, EVENT_ROOM);

    if (!at)
        return;
    at = cunei_proto_put_tag(at, TRACE_PACKET, CUNEI_PROTO_BYTES);
    char *packet = ++at; /* short: the length is one byte */
    at = cunei_proto_put_number(at, PACKET_TIMESTAMP, passed);
    at = cunei_proto_put_number(at, PACKET_SEQUENCE, cunei_perfetto_sequence(encoding));
    at = cunei_proto_put_tag(at, PACKET_TRACK_EVENT, CUNEI_PROTO_BYTES);
    char *event = ++at;
    at = cunei_proto_put_number(at, EVENT_TYPE, TYPE_BEGIN);
    at = cunei_proto_put_number(at, EVENT_NAME_ID, id);
    at = cunei_proto_put_number(at, EVENT_CATEGORY, id);
    if (how == CUNEI_BEGIN_RESUME)
        at = cunei_proto_put_number(at, EVENT_CATEGORY, CUNEI_PERFETTO_RESUMED);
    at = cunei_proto_put_number(at, EVENT_LOCATION, id);
    at = cunei_perfetto_put_note(at, how == CUNEI_BEGIN_FOUND ? CUNEI_PERFETTO_FOUND
                                                              : CUNEI_PERFETTO_PLAIN);
    event[-1] = (char)(at - event);
    at = cunei_proto_put_number(at, PACKET_FLAGS, STATE_NEEDED);
    packet[-1] = (char)(at - packet);
    cunei_buffer_grow(&encoding->out, at);
}

static void end_plain(struct cunei_encoding *encoding, uint64_t passed,
                      enum cunei_perfetto_note note)
{
    char *at = cunei_buffer_room(&encoding->out, EVENT_ROOM);

    if (!at)
        return;
    at = cunei_proto_put_tag(at, TRACE_PACKET, CUNEI_PROTO_BYTES);
    char *packet = ++at;
    at = cunei_proto_put_number(at, PACKET_TIMESTAMP, passed);
    at = cunei_proto_put_number(at, PACKET_SEQUENCE, cunei_perfetto_sequence(encoding));
    at = cunei_proto_put_tag(at, PACKET_TRACK_EVENT, CUNEI_PROTO_BYTES);
    char *event = ++at;
    at = cunei_proto_put_number(at, EVENT_TYPE, TYPE_END);
    at = cunei_perfetto_put_note(at, note);
    event[-1] = (char)(at - event);
    at = cunei_proto_put_number(at, PACKET_FLAGS, STATE_NEEDED);
    packet[-1] = (char)(at - packet);
    cunei_buffer_grow(&encoding->out, at);
}

/* Remember that a call began, and whether it was resumed. */
static void push(struct cunei_encoding *encoding, bool is_resumed)
{
    struct cunei_perfetto_state *state = encoding->state;

    if (CUNEI_VECTOR_RESERVE(state->resumed, state->capacity, state->depth + 1))
        state->resumed[state->depth++] = is_resumed;
    else
        encoding->out.failed = true;
}

/*
 * Most resumed calls yield and most other calls return: only the others are annotated.
 * Of calls that began in another piece, both ends are.
 */
static enum cunei_perfetto_note pop(struct cunei_encoding *encoding,
                                    enum cunei_span_end how)
{
    static const enum cunei_perfetto_note notes[] = {
        [CUNEI_END_RETURN] = CUNEI_PERFETTO_RETURNED,
        [CUNEI_END_YIELD] = CUNEI_PERFETTO_YIELDED,
        [CUNEI_END_RAISE] = CUNEI_PERFETTO_RAISED,
        [CUNEI_END_SWITCH] = CUNEI_PERFETTO_SWITCHED,
        [CUNEI_END_UNSEEN] = CUNEI_PERFETTO_UNSEEN,
        [CUNEI_END_OPEN] = CUNEI_PERFETTO_OPEN,
    };
    struct cunei_perfetto_state *state = encoding->state;

    if (state->depth == 0)
        return notes[how];
    bool is_resumed = state->resumed[--state->depth];
    return how == (is_resumed ? CUNEI_END_YIELD : CUNEI_END_RETURN)
               ? CUNEI_PERFETTO_PLAIN
               : notes[how];
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct cunei_buffer *out = &encoding->out;
    uint32_t index = call->function - CUNEI_FUNCTION_FIRST;
    uint32_t count = encoding->process->function_count;

    index = index < count ? index : count;
    uint64_t id = (uint64_t)index + CUNEI_PERFETTO_FIRST;
    struct cunei_perfetto_time when = cunei_perfetto_pass(encoding, call->time);
    bool has_names = cunei_perfetto_is_new(encoding, index);
    push(encoding, call->how == CUNEI_BEGIN_RESUME);
    if (!has_names && call->argument_count == 0 && !when.is_wall) {
        begin_plain(encoding, when.ns, id, call->how);
        return 0;
    }
    struct cunei_perfetto_event event =
        cunei_perfetto_open_at(encoding, when, TYPE_BEGIN);
    cunei_proto_number(out, EVENT_NAME_ID, id);
    cunei_proto_number(out, EVENT_CATEGORY, id);
    if (call->how == CUNEI_BEGIN_RESUME)
        cunei_proto_number(out, EVENT_CATEGORY, CUNEI_PERFETTO_RESUMED);
    cunei_proto_number(out, EVENT_LOCATION, id);
    if (call->how == CUNEI_BEGIN_FOUND)
        cunei_perfetto_note(out, CUNEI_PERFETTO_FOUND);
    for (size_t i = 0; i < call->argument_count; i++)
        cunei_perfetto_text(out, call->arguments[i].name, call->arguments[i].name_size,
                            call->arguments[i].text, call->arguments[i].size);
    cunei_proto_close(out, event.event);
    if (has_names)
        cunei_perfetto_intern(encoding, call->function, id);
    cunei_proto_close(out, event.packet);
    return 0;
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    struct cunei_buffer *out = &encoding->out;
    struct cunei_perfetto_time when = cunei_perfetto_pass(encoding, call->time);
    enum cunei_perfetto_note note = pop(encoding, call->how);

    if (!call->result && call->late_count == 0 && !when.is_wall) {
        end_plain(encoding, when.ns, note);
        return 0;
    }
    struct cunei_perfetto_event event =
        cunei_perfetto_open_at(encoding, when, TYPE_END);
    cunei_perfetto_note(out, note);
    if (call->result)
        cunei_perfetto_text(out, "return", 6, call->result->text, call->result->size);
    for (size_t i = 0; i < call->late_count; i++) {
        struct cunei_user_event_text name =
            cunei_user_event_name(call->late_parameters[i]);
        cunei_perfetto_value(out, name.data, name.size, call->late_parameters[i]);
    }
    cunei_perfetto_close(encoding, event);
    return 0;
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct cunei_perfetto_state *state = encoding->state;
    uint64_t track = cunei_perfetto_thread_track(encoding, packet->thread);

    (void)time;
    if (state->track != track)
        state->depth = 0;
    state->has_begun &= state->track == track;
    state->track = track;
    state->pid = packet->vpid;
    state->tid = packet->vtid;
    if (!is_begin)
        return 0;
    cunei_perfetto_define_process(encoding);
    cunei_perfetto_define_thread(
        encoding, packet->thread_name,
        strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    return 0;
}

/* An event with a name and a category of its own. */
static struct cunei_perfetto_event open_named(struct cunei_encoding *encoding,
                                              uint64_t time, unsigned type,
                                              const char *name, size_t size,
                                              const char *category)
{
    struct cunei_perfetto_event event = cunei_perfetto_open(encoding, time, type);

    cunei_perfetto_name(&encoding->out, EVENT_NAME, name, size);
    cunei_proto_text(&encoding->out, EVENT_CATEGORY_NAME, category, strlen(category));
    return event;
}

static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    struct cunei_perfetto_event event =
        open_named(encoding, time, is_begin ? TYPE_BEGIN : TYPE_END, "step", 4, "task");

    cunei_proto_number(&encoding->out, EVENT_TRACK,
                       cunei_perfetto_task_track(encoding, task));
    cunei_perfetto_close(encoding, event);
    return 0;
}

/* Written when it is over, because both of its ends are known then. */
static int put_pause(struct cunei_encoding *encoding,
                     const struct cunei_gc_pause *pause)
{
    struct cunei_perfetto_event event =
        open_named(encoding, pause->begin, TYPE_BEGIN, "gc", 2, "gc");

    cunei_perfetto_number(&encoding->out, "generation", pause->generation);
    cunei_perfetto_number(&encoding->out, "collected", pause->collected);
    cunei_perfetto_number(&encoding->out, "uncollectable", pause->uncollectable);
    cunei_perfetto_close(encoding, event);
    cunei_perfetto_close(encoding, cunei_perfetto_open(encoding, pause->end, TYPE_END));
    return 0;
}

static int put_counter(struct cunei_encoding *encoding,
                       const struct cunei_counter *counter, uint64_t time)
{
    bool is_double = counter->kind & CUNEI_COUNTER_TOTAL_DOUBLE;
    double number = cunei_user_event_number(counter->total, is_double);
    uint32_t index = counter->counter - CUNEI_FUNCTION_FIRST;
    struct cunei_perfetto_time when = cunei_perfetto_pass(encoding, time);

    /* A track cannot show NaN. */
    if (isnan(number) || index >= encoding->process->function_count)
        return 0;
    if (cunei_perfetto_is_new(encoding, index))
        cunei_perfetto_define_counter(encoding, counter->counter);
    struct cunei_perfetto_event event =
        cunei_perfetto_open_at(encoding, when, TYPE_COUNTER);
    cunei_proto_number(&encoding->out, EVENT_TRACK,
                       cunei_perfetto_counter_track(encoding, counter->counter));
    if (is_double)
        cunei_proto_double(&encoding->out, EVENT_COUNTER_DOUBLE, number);
    else
        cunei_proto_number(&encoding->out, EVENT_COUNTER, counter->total);
    cunei_perfetto_close(encoding, event);
    return 0;
}

static int put_instant(struct cunei_encoding *encoding,
                       const struct cunei_instant *instant, uint64_t time)
{
    struct cunei_perfetto_event event =
        open_named(encoding, time, TYPE_INSTANT, instant->name, instant->name_size,
                   instant->category);

    for (unsigned i = 0; i < instant->detail_count; i++) {
        /* An exception that C code raised has no line. */
        if (instant->class != CUNEI_CLASS_EXCEPTION || instant->details[i].bits > 0)
            cunei_perfetto_detail(&encoding->out, &instant->details[i]);
    }
    cunei_perfetto_close(encoding, event);
    return 0;
}

static int put_thread_name(struct cunei_encoding *encoding, const char *name,
                           size_t size, uint64_t time)
{
    (void)time;
    cunei_perfetto_define_thread(encoding, name, size);
    return 0;
}

static int put_task_name(struct cunei_encoding *encoding, uint64_t task,
                         const char *name, size_t size, uint64_t time)
{
    (void)time;
    cunei_perfetto_define_task(encoding, task, name, size);
    return 0;
}

/* A join continues under another number, which is another sequence. */
static int finish(struct cunei_encoding *encoding)
{
    struct cunei_perfetto_state *state = encoding->state;

    state->has_begun = false;
    state->last_ns = 0;
    state->depth = 0;
    return 0;
}

static void release(struct cunei_encoding *encoding)
{
    struct cunei_perfetto_state *state = encoding->state;

    free(state->interned);
    free(state->resumed);
    *state = (struct cunei_perfetto_state){0};
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .thread_name = put_thread_name,
    .task_name = put_task_name,
    .counter = put_counter,
    .instant = put_instant,
    .pause = put_pause,
    .has_late_parameters = true,
    .finish = finish,
    .release = release,
    .state_size = sizeof(struct cunei_perfetto_state),
};

int cunei_export_perfetto(struct cunei_export *export)
{
    return cunei_encode(export, &encoder);
}
