// SPDX-License-Identifier: MIT
#include "export/html/timeline_notes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/encoder.h"
#include "export/export.h"
#include "text/redact.h"
#include "text/secret_name.h"
#include "text/typed_value.h"
#include "wire/user_event.h"

#define MARK_TEXT_MAX 200u /* bytes shown of a name or a value */
#define CALL_TEXT_MAX 400u /* about as many bytes of all values of a call */
#define RESULT_SIGN   "→ "

/* A call that is open. */
struct open_call {
    uint64_t time;
    char *values; /* owned: its arguments and parameters so far; NULL: none */
    uint32_t function;
};

/* The end of one that another piece began. */
struct open_end {
    uint64_t time;
    char *values; /* owned: of its arguments and result in this piece */
};

struct state {
    struct open_call *calls; /* owned */
    uint32_t count, capacity;
    uint32_t adopted;      /* how many of them began in another piece */
    struct open_end *ends; /* owned: of calls that began in another piece */
    uint32_t end_count, end_capacity;
    struct cunei_sieve shorts[CUNEI_NOTES_LEVELS];
};

bool cunei_sieve_passes(struct cunei_sieve *sieve, uint32_t room, uint64_t duration_ns,
                        uint64_t time_ns)
{
    uint32_t half = room / 2 > 0 ? room / 2 : 1;
    uint64_t part = time_ns / (duration_ns / half + 1);

    if (sieve->count >= half && part == sieve->last)
        return false;
    sieve->count++;
    sieve->last = part;
    return true;
}

/* Without short calls, threads that have no others would be empty. */
bool cunei_thinning_passes(const struct cunei_thinning *thinning,
                           struct cunei_sieve *levels, const struct cunei_note *call)
{
    return call->value >= thinning->least_ns ||
           (call->depth < thinning->short_levels &&
            cunei_sieve_passes(&levels[call->depth], thinning->short_room,
                               thinning->duration_ns, call->time_ns));
}

static uint64_t since_origin(const struct cunei_encoding *encoding, uint64_t time)
{
    return cunei_export_since(encoding->export,
                              cunei_wall_clock_ns(encoding->wall, time));
}

static void put(struct cunei_encoding *encoding, struct cunei_note note,
                const char *text)
{
    static const char padding[sizeof(uint64_t)] = {0};
    size_t rest = note.text_size % sizeof(uint64_t);

    cunei_buffer_append(&encoding->out, &note, sizeof(note));
    if (note.text_size > 0)
        cunei_buffer_append(&encoding->out, text, note.text_size);
    if (rest > 0)
        cunei_buffer_append(&encoding->out, padding, sizeof(uint64_t) - rest);
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct state *state = encoding->state;

    if (!is_begin)
        return 0;
    memset(state->shorts, 0, sizeof(state->shorts));
    put(encoding,
        (struct cunei_note){.kind = CUNEI_NOTE_THREAD,
                            .text_size = (uint32_t)strnlen(packet->thread_name,
                                                           CUNEI_PACKET_THREAD_NAME),
                            .time_ns = since_origin(encoding, time),
                            .depth = packet->vpid,
                            .number = packet->vtid},
        packet->thread_name);
    return 0;
}

static int push(struct state *state, struct open_call call)
{
    if (!CUNEI_VECTOR_RESERVE(state->calls, state->capacity, state->count + 1))
        return -ENOMEM;
    state->calls[state->count++] = call;
    return 0;
}

/* The begin of such a call is in another piece; the join of both knows it. */
static int adopt(struct cunei_encoding *encoding, uint32_t function)
{
    struct state *state = encoding->state;

    state->adopted++;
    return push(state, (struct open_call){.function = function});
}

/* The number of bytes that are shown: whole characters. */
static size_t cut(const char *text, size_t size)
{
    if (size <= MARK_TEXT_MAX)
        return size;
    size = MARK_TEXT_MAX;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static void append_cut(struct cunei_buffer *out, const char *text, size_t size)
{
    size_t shown = cut(text, size);

    cunei_buffer_append(out, text, shown);
    cunei_buffer_append_text(out, shown < size ? "…" : "");
}

static void append_redacted(struct cunei_buffer *out, const struct cunei_value *value)
{
    struct cunei_buffer text = {0};

    cunei_redact_value(&text, value->name, value->name_size, value->text, value->size);
    append_cut(out, cunei_buffer_text(&text), text.size);
    out->failed |= text.failed;
    cunei_buffer_fini(&text);
}

static bool ends_cut(const char *text, size_t size)
{
    return size >= strlen("…") && strcmp(text + size - strlen("…"), "…") == 0;
}

/* Add to the values of a call: `before` if it has some, `sign`, the value. */
static int add_value(struct open_call *call, const char *before, const char *sign,
                     const struct cunei_value *value)
{
    static const struct cunei_value more = {.text = "…", .size = sizeof("…") - 1};
    struct cunei_buffer text = {0};
    size_t size = call->values ? strlen(call->values) : 0;

    if (size >= CALL_TEXT_MAX) {
        if (ends_cut(call->values, size))
            return 0;
        value = &more;
    }
    cunei_buffer_append_text(&text, call->values ? call->values : "");
    cunei_buffer_append_text(&text, size > 0 ? before : "");
    cunei_buffer_append_text(&text, sign);
    if (value->name_size > 0) {
        append_cut(&text, value->name, value->name_size);
        cunei_buffer_append_text(&text, "=");
    }
    append_redacted(&text, value);
    if (text.failed) {
        cunei_buffer_fini(&text);
        return -ENOMEM;
    }
    free(call->values);
    call->values = text.data;
    return 0;
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct open_call open = {.time = call->time, .function = call->function};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < call->argument_count; i++)
        rc = add_value(&open, ", ", "", &call->arguments[i]);
    if (rc == 0)
        rc = push(encoding->state, open);
    if (rc < 0)
        free(open.values);
    return rc;
}

/* The innermost call ends. */
static void pop(struct cunei_encoding *encoding, uint64_t time)
{
    struct state *state = encoding->state;
    struct open_call *call = &state->calls[--state->count];
    uint64_t begin_ns = since_origin(encoding, call->time);
    const struct cunei_note note = {
        .kind = CUNEI_NOTE_CALL,
        .text_size = call->values ? (uint32_t)strlen(call->values) : 0,
        .time_ns = begin_ns,
        .value = since_origin(encoding, time) - begin_ns,
        .depth = state->count,
        .number = call->function,
    };

    if (cunei_thinning_passes(encoding->encoder->context, state->shorts, &note))
        put(encoding, note, call->values);
    free(call->values);
    call->values = NULL;
}

/* The innermost call ends, which began in another piece. */
static int leave_end(struct state *state, uint64_t time)
{
    if (!CUNEI_VECTOR_RESERVE(state->ends, state->end_capacity, state->end_count + 1))
        return -ENOMEM;
    state->adopted--;
    state->ends[state->end_count++] =
        (struct open_end){time, state->calls[--state->count].values};
    return 0;
}

/* What get_password() returns is as secret as an argument of that name. */
static int add_result(const struct cunei_encoding *encoding, struct open_call *call,
                      const struct cunei_value *result)
{
    static const struct cunei_value hidden = {.text = CUNEI_REDACTED,
                                              .size = sizeof(CUNEI_REDACTED) - 1};
    const struct cunei_function *function =
        cunei_trace_function(encoding->process, call->function);
    const char *name = function ? function->qualname : "";
    const char *dot = strrchr(name, '.');
    name = dot ? dot + 1 : name;
    bool is_secret = cunei_is_secret_name(name, strlen(name));

    return add_value(call, " ", RESULT_SIGN, is_secret ? &hidden : result);
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    struct state *state = encoding->state;
    int rc = 0;

    if (state->count == 0)
        return 0;
    if (call->result)
        rc = add_result(encoding, &state->calls[state->count - 1], call->result);
    if (rc < 0)
        return rc;
    if (state->count <= state->adopted)
        return leave_end(state, call->time);
    pop(encoding, call->time);
    return 0;
}

/* Add the values that another piece has of a call. */
static int take_values(struct open_call *call, char **values)
{
    bool is_result = *values && strncmp(*values, RESULT_SIGN, strlen(RESULT_SIGN)) == 0;
    int rc = 0;

    if (!call->values)
        call->values = *values;
    else if (*values) {
        rc = add_value(call, is_result ? " " : ", ", "",
                       &(struct cunei_value){.text = *values, .size = strlen(*values)});
        free(*values);
    }
    *values = NULL;
    return rc;
}

/* Add what a piece knows of the calls that are open in the join, and its own. */
static int join(struct cunei_encoding *joined, struct cunei_encoding *piece)
{
    struct state *before = joined->state, *after = piece->state;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < after->end_count && before->count > 0; i++) {
        rc = take_values(&before->calls[before->count - 1], &after->ends[i].values);
        if (rc == 0)
            pop(joined, after->ends[i].time);
    }
    for (uint32_t i = 0; rc == 0 && i < after->adopted && i < before->count; i++)
        rc = take_values(&before->calls[i], &after->calls[i].values);
    for (uint32_t i = after->adopted; rc == 0 && i < after->count; i++) {
        rc = push(before, after->calls[i]);
        if (rc == 0)
            after->calls[i].values = NULL;
    }
    return rc;
}

static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    put(encoding,
        (struct cunei_note){.kind = is_begin ? CUNEI_NOTE_BEGIN : CUNEI_NOTE_END,
                            .time_ns = since_origin(encoding, time),
                            .value = task},
        NULL);
    return 0;
}

static int put_mark(struct cunei_encoding *encoding,
                    const struct cunei_user_value *value, uint64_t time)
{
    struct cunei_user_event_text name = cunei_user_event_name(value);
    struct cunei_buffer text = {0}, worth = {0}, shown = {0};

    cunei_redact_text(&text, name.data, name.size);
    text.size = cut(cunei_buffer_text(&text), text.size);
    size_t size = text.size;
    cunei_typed_value_format_event(value, false, &worth);
    cunei_redact_value(&shown, name.data, name.size, cunei_buffer_text(&worth),
                       worth.size);
    if (shown.size > 0)
        cunei_buffer_append(&text, shown.data, cut(shown.data, shown.size));
    const struct cunei_note note = {.kind = CUNEI_NOTE_MARK,
                                    .text_size = (uint32_t)text.size,
                                    .time_ns = since_origin(encoding, time),
                                    .value = value->kind == CUNEI_VALUE_ERROR,
                                    .depth = value->kind != CUNEI_VALUE_NONE,
                                    .number = (uint32_t)size};
    int rc = text.failed || worth.failed || shown.failed ? -ENOMEM : 0;
    if (rc == 0)
        put(encoding, note, text.data);
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&worth);
    cunei_buffer_fini(&shown);
    return rc;
}

/* A chart cannot show infinities and NaN. */
static int put_counter(struct cunei_encoding *encoding,
                       const struct cunei_counter *counter, uint64_t time)
{
    double number = cunei_user_event_number(counter->total,
                                            counter->kind & CUNEI_COUNTER_TOTAL_DOUBLE);
    struct cunei_note note = {.kind = CUNEI_NOTE_COUNTER,
                              .time_ns = since_origin(encoding, time),
                              .number = counter->counter};

    memcpy(&note.value, &number, sizeof(number));
    if (isfinite(number))
        put(encoding, note, NULL);
    return 0;
}

static void put_tag(struct cunei_encoding *encoding,
                    const struct cunei_user_value *value)
{
    struct cunei_user_event_text name = cunei_user_event_name(value);

    put(encoding,
        (struct cunei_note){.kind = CUNEI_NOTE_TAG,
                            .text_size = (uint32_t)cut(name.data, name.size),
                            .number = value->target},
        name.data);
}

/* A parameter that came after other events in its call. */
static int take_parameter(struct state *state, const struct cunei_user_value *value)
{
    struct cunei_user_event_text name = cunei_user_event_name(value);
    struct cunei_buffer worth = {0};
    uint32_t at = state->count;

    while (at > 0 && state->calls[at - 1].function != value->target)
        at--;
    if (at == 0)
        return 0;
    cunei_typed_value_format_event(value, false, &worth);
    const struct cunei_value parameter = {name.data, name.size,
                                          cunei_buffer_text(&worth), worth.size};
    int rc =
        worth.failed ? -ENOMEM : add_value(&state->calls[at - 1], ", ", "", &parameter);
    cunei_buffer_fini(&worth);
    return rc;
}

static int put_instant(struct cunei_encoding *encoding,
                       const struct cunei_instant *instant, uint64_t time)
{
    const struct state *state = encoding->state;

    switch (instant->class) {
    case CUNEI_CLASS_MARK:
        return put_mark(encoding, instant->value, time);
    case CUNEI_CLASS_TAG:
        put_tag(encoding, instant->value);
        return 0;
    case CUNEI_CLASS_PARAMETER:
        return take_parameter(encoding->state, instant->value);
    case CUNEI_CLASS_EXCEPTION:
        put(encoding,
            (struct cunei_note){.kind = CUNEI_NOTE_RAISE,
                                .text_size = (uint32_t)instant->name_size,
                                .time_ns = since_origin(encoding, time),
                                .depth = state->count},
            instant->name);
        return 0;
    default:
        return 0;
    }
}

static int put_pause(struct cunei_encoding *encoding,
                     const struct cunei_gc_pause *pause)
{
    uint64_t begin_ns = since_origin(encoding, pause->begin);

    put(encoding,
        (struct cunei_note){.kind = CUNEI_NOTE_GC,
                            .time_ns = begin_ns,
                            .value = since_origin(encoding, pause->end) - begin_ns,
                            .number = pause->generation},
        NULL);
    return 0;
}

static int put_lost(struct cunei_encoding *encoding, const struct cunei_loss *loss)
{
    uint64_t begin_ns = since_origin(encoding, loss->begin);

    put(encoding,
        (struct cunei_note){.kind = CUNEI_NOTE_LOST,
                            .time_ns = begin_ns,
                            .value = since_origin(encoding, loss->end) - begin_ns,
                            .number = loss->count < UINT32_MAX ? (uint32_t)loss->count
                                                               : UINT32_MAX},
        NULL);
    return 0;
}

static void release(struct cunei_encoding *encoding)
{
    struct state *state = encoding->state;

    for (uint32_t i = 0; i < state->count; i++)
        free(state->calls[i].values);
    for (uint32_t i = 0; i < state->end_count; i++)
        free(state->ends[i].values);
    free(state->calls);
    free(state->ends);
    *state = (struct state){0};
}

const struct cunei_encoder cunei_notes_encoder = {
    .thread = put_thread,
    .adopt = adopt,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .counter = put_counter,
    .instant = put_instant,
    .pause = put_pause,
    .lost = put_lost,
    .join = join,
    .release = release,
    .state_size = sizeof(struct state),
};

const struct cunei_note *cunei_notes_next(const struct cunei_buffer *notes,
                                          size_t *offset)
{
    if (*offset >= notes->size)
        return NULL;
    const struct cunei_note *note = (const void *)(notes->data + *offset);
    size_t words = (note->text_size + sizeof(uint64_t) - 1) / sizeof(uint64_t);

    *offset += sizeof(*note) + words * sizeof(uint64_t);
    return note;
}
