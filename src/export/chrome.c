// SPDX-License-Identifier: MIT
/*
 * The JSON of chrome://tracing, which Perfetto and speedscope also read.
 *
 * Each call is two events, which repeat its name.  File and line would be most of the
 * bytes: only the first call of a function in a piece of a stream has them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/encode_pieces.h"
#include "export/encoder.h"
#include "export/export.h"
#include "export/fast_put.h"
#include "export/function_labels.h"
#include "export/selection.h"
#include "export/task_names.h"
#include "export/writers.h"
#include "text/names.h"
#include "text/typed_value.h"
#include "wire/user_event.h"

struct state {
    uint32_t pid, tid;
    uint8_t *placed; /* owned: functions whose file and line are written */
};

/* Room for the head of an event, in bytes. */
#define HEAD 160u

static void render(struct cunei_buffer *out, const struct cunei_function *function)
{
    cunei_buffer_append_text(out, ",\"name\":");
    cunei_text_json(out, function->qualname, strlen(function->qualname));
    cunei_buffer_append_text(out, ",\"cat\":");
    if (cunei_definition_of(function) == CUNEI_DEFINITION_REGION)
        cunei_buffer_append_text(out, "\"region\"");
    else
        cunei_text_json(out, function->module, strlen(function->module));
}

static void *prepare(const struct cunei_export *export,
                     const struct cunei_trace_process *process)
{
    return cunei_function_labels_make(export, process, render);
}

/* {"ph":"B","pid":1,"tid":2 */
static char *put_who(const struct cunei_encoding *encoding, char *at, char phase)
{
    const struct state *state = encoding->state;

    at = CUNEI_PUT(at, "{\"ph\":\"");
    *at++ = phase;
    at = CUNEI_PUT(at, "\",\"pid\":");
    at = cunei_put_number(at, state->pid);
    at = CUNEI_PUT(at, ",\"tid\":");
    return cunei_put_number(at, state->tid);
}

/* The same and ,"ts":3.456 */
static char *put_head(const struct cunei_encoding *encoding, char *at, char phase,
                      uint64_t time)
{
    uint64_t ns = cunei_wall_clock_ns(encoding->wall, time);

    at = put_who(encoding, at, phase);
    at = CUNEI_PUT(at, ",\"ts\":");
    return cunei_put_microseconds(at, cunei_export_since(encoding->export, ns));
}

static void open_event(struct cunei_encoding *encoding, char phase, uint64_t time)
{
    char *at = cunei_buffer_room(&encoding->out, HEAD);

    if (at)
        cunei_buffer_grow(&encoding->out, put_head(encoding, at, phase, time));
}

static void put_key(struct cunei_buffer *out, const char *key)
{
    cunei_buffer_append_text(out, ",\"");
    cunei_buffer_append_text(out, key);
    cunei_buffer_append_text(out, "\":");
}

static int put_name(struct cunei_encoding *encoding, const char *what, const char *name,
                    size_t size)
{
    struct cunei_buffer *out = &encoding->out;
    char *at = cunei_buffer_room(out, HEAD);

    if (at)
        cunei_buffer_grow(out, put_who(encoding, at, 'M'));
    cunei_buffer_append_text(out, ",\"name\":\"");
    cunei_buffer_append_text(out, what);
    cunei_buffer_append_text(out, "\",\"args\":{\"name\":");
    cunei_text_json(out, name, size);
    cunei_buffer_append_text(out, "}},\n");
    return 0;
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct state *state = encoding->state;
    struct cunei_buffer program = {0};

    (void)time;
    state->pid = packet->vpid;
    state->tid = packet->vtid;
    if (!is_begin)
        return 0;
    cunei_format_process(&program, &encoding->process->description);
    (void)put_name(encoding, "process_name", cunei_buffer_text(&program), program.size);
    cunei_buffer_fini(&program);
    return put_name(encoding, "thread_name", packet->thread_name,
                    strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
}

/* Whether file and line of a function are not written yet; marks them as written. */
static bool is_first_call(struct cunei_encoding *encoding, uint32_t function)
{
    struct state *state = encoding->state;
    uint32_t index = function - CUNEI_FUNCTION_FIRST;
    uint32_t count = encoding->process->function_count;

    if (!state->placed)
        state->placed = calloc(count + (size_t)1, 1);
    if (!state->placed || index >= count || state->placed[index])
        return false;
    state->placed[index] = 1;
    return true;
}

static void put_place(struct cunei_encoding *encoding, uint32_t function)
{
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, function);

    if (!names)
        return;
    put_key(&encoding->out, "file");
    cunei_text_json(&encoding->out, names->file, strlen(names->file));
    put_key(&encoding->out, "line");
    cunei_buffer_format(&encoding->out, "%" PRIu32, names->line);
}

static void put_flag(struct cunei_buffer *out, const char *name)
{
    put_key(out, name);
    cunei_buffer_append_text(out, "true");
}

/* Everything but the name of a call, each with a comma before it. */
static void put_begin_args(struct cunei_encoding *encoding,
                           const struct cunei_call_begin *call)
{
    struct cunei_buffer *out = &encoding->out;

    if (is_first_call(encoding, call->function))
        put_place(encoding, call->function);
    if (call->how == CUNEI_BEGIN_RESUME)
        put_flag(out, "resumed");
    if (call->how == CUNEI_BEGIN_FOUND)
        put_flag(out, "begin_is_missing");
    /* In an object of their own: an argument may be called `file`. */
    for (size_t i = 0; i < call->argument_count; i++) {
        const struct cunei_value *value = &call->arguments[i];
        cunei_buffer_append_text(out, i == 0 ? ",\"arguments\":{" : ",");
        cunei_text_json(out, value->name, value->name_size);
        cunei_buffer_append_text(out, ":");
        cunei_text_json(out, value->text, value->size);
    }
    if (call->argument_count > 0)
        cunei_buffer_append_text(out, "}");
}

static const char args_key[] = ",\"args\":{";

/* Close the object that was opened at `begin`, or remove it if it is empty. */
static void close_args(struct cunei_buffer *out, size_t begin)
{
    size_t size = sizeof(args_key) - 1;

    if (out->failed)
        return;
    if (out->size == begin + size) {
        out->size = begin;
        return;
    }
    /* The first key must not have a comma before it. */
    memmove(out->data + begin + size, out->data + begin + size + 1,
            out->size - begin - size - 1);
    out->data[out->size - 1] = '}';
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct cunei_buffer *out = &encoding->out;
    size_t size = 0;
    const char *label =
        cunei_function_labels_find(encoding->shared, call->function, &size);
    char *at = cunei_buffer_room(out, HEAD + size);

    if (!at)
        return 0;
    at = put_head(encoding, at, 'B', call->time);
    at = cunei_put(at, label, size);
    cunei_buffer_grow(out, at);
    size_t begin = out->size;
    cunei_buffer_append(out, args_key, sizeof(args_key) - 1);
    put_begin_args(encoding, call);
    close_args(out, begin);
    cunei_buffer_append_text(out, "},\n");
    return 0;
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    static const char *const notes[] = {
        [CUNEI_END_YIELD] = "yielded",   [CUNEI_END_RAISE] = "raised",
        [CUNEI_END_SWITCH] = "switched", [CUNEI_END_UNSEEN] = "end_is_missing",
        [CUNEI_END_OPEN] = "still_open",
    };
    struct cunei_buffer *out = &encoding->out;

    open_event(encoding, 'E', call->time);
    size_t begin = out->size;
    cunei_buffer_append(out, args_key, sizeof(args_key) - 1);
    if (notes[call->how])
        put_flag(out, notes[call->how]);
    if (call->result) {
        put_key(out, "return");
        cunei_text_json(out, call->result->text, call->result->size);
    }
    /* Under a key that no begin has, because viewers merge the keys of both ends. */
    for (size_t i = 0; i < call->late_count; i++) {
        struct cunei_user_event_text name =
            cunei_user_event_name(call->late_parameters[i]);
        cunei_buffer_append_text(out, i == 0 ? ",\"parameters\":{" : ",");
        cunei_text_json(out, name.data, name.size);
        cunei_buffer_append_text(out, ":");
        cunei_typed_value_format_event(call->late_parameters[i], true, out);
    }
    if (call->late_count > 0)
        cunei_buffer_append_text(out, "}");
    close_args(out, begin);
    cunei_buffer_append_text(out, "},\n");
    return 0;
}

/* Viewers show tasks on rows of their own, by this id. */
static void put_task_id(struct cunei_encoding *encoding, uint64_t task)
{
    const struct state *state = encoding->state;

    cunei_buffer_format(&encoding->out,
                        ",\"cat\":\"task\",\"id\":\"%" PRIu32 ".%" PRIu64 "\"",
                        state->pid, task);
}

/* Viewers make a row for each name, so all steps of a task have the same name. */
static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    struct cunei_buffer *out = &encoding->out;
    const char *name = NULL;
    int rc = cunei_task_names_find(encoding->export, encoding->process, task, &name);

    open_event(encoding, is_begin ? 'b' : 'e', time);
    put_task_id(encoding, task);
    put_key(out, "name");
    if (name)
        cunei_text_json(out, name, strlen(name));
    else
        cunei_buffer_format(out, "\"task %" PRIu64 "\"", task);
    cunei_buffer_append_text(out, "},\n");
    return rc;
}

/* An event with a duration nests by its time, wherever it stands in the file. */
static int put_pause(struct cunei_encoding *encoding,
                     const struct cunei_gc_pause *pause)
{
    struct cunei_buffer *out = &encoding->out;
    uint64_t begin_ns = cunei_wall_clock_ns(encoding->wall, pause->begin);
    uint64_t end_ns = cunei_wall_clock_ns(encoding->wall, pause->end);

    open_event(encoding, 'X', pause->begin);
    put_key(out, "dur");
    char *at = cunei_buffer_room(out, HEAD);
    if (at)
        cunei_buffer_grow(out, cunei_put_microseconds(at, end_ns - begin_ns));
    cunei_buffer_format(out,
                        ",\"name\":\"gc\",\"cat\":\"gc\",\"args\":{"
                        "\"generation\":%" PRIu32 ",\"collected\":%" PRIu64
                        ",\"uncollectable\":%" PRIu32 "}},\n",
                        pause->generation, pause->collected, pause->uncollectable);
    return 0;
}

/* A track of its own, which cannot show infinities and NaN. */
static int put_counter(struct cunei_encoding *encoding,
                       const struct cunei_counter *counter, uint64_t time)
{
    bool is_double = counter->kind & CUNEI_COUNTER_TOTAL_DOUBLE;
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, counter->counter);
    struct cunei_buffer *out = &encoding->out;

    if (!names || !isfinite(cunei_user_event_number(counter->total, is_double)))
        return 0;
    open_event(encoding, 'C', time);
    put_key(out, "name");
    cunei_text_json(out, names->qualname, strlen(names->qualname));
    cunei_buffer_append_text(out, ",\"cat\":\"counter\",\"args\":{\"value\":");
    cunei_typed_value_format_number(counter->total, is_double, true, out);
    cunei_buffer_append_text(out, "}},\n");
    return 0;
}

static int put_instant(struct cunei_encoding *encoding,
                       const struct cunei_instant *instant, uint64_t time)
{
    struct cunei_buffer *out = &encoding->out;

    open_event(encoding, 'i', time);
    cunei_buffer_format(out, ",\"s\":\"t\",\"cat\":\"%s\"", instant->category);
    put_key(out, "name");
    cunei_text_json(out, instant->name, instant->name_size);
    if (instant->detail_count > 0)
        put_key(out, "args");
    cunei_instant_put_json(instant, out);
    cunei_buffer_append_text(out, "},\n");
    return 0;
}

static int put_thread_name(struct cunei_encoding *encoding, const char *name,
                           size_t size, uint64_t time)
{
    (void)time;
    return put_name(encoding, "thread_name", name, size);
}

static void release(struct cunei_encoding *encoding)
{
    struct state *state = encoding->state;

    free(state->placed);
    state->placed = NULL;
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .thread_name = put_thread_name,
    .counter = put_counter,
    .instant = put_instant,
    .pause = put_pause,
    .has_late_parameters = true,
    .prepare = prepare,
    .dispose = cunei_function_labels_free,
    .release = release,
    .state_size = sizeof(struct state),
};

int cunei_export_chrome(struct cunei_export *export)
{
    size_t first = 0;

    while (first + 1 < export->trace->process_count &&
           !export->selections[first].is_wanted)
        first++;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", export->out);
    int rc = cunei_encode(export, &encoder);
    /* The last event of the list has no comma behind it: a label of the first process,
     * which all viewers accept. */
    (void)fprintf(export->out,
                  "{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"name\":\"process_labels\","
                  "\"args\":{\"labels\":\"cunei " CUNEI_VERSION "\"}}\n],"
                  "\"otherData\":{\"version\":\"cunei " CUNEI_VERSION "\"}}\n",
                  export->trace->process_count > 0
                      ? export->trace->processes[first].metadata.pid
                      : 0);
    return rc;
}
