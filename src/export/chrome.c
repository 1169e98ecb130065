// SPDX-License-Identifier: MIT
/* The JSON of chrome://tracing, which Perfetto and others read, too. */
#include <inttypes.h>

#include "base/text.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/labels.h"
#include "export/put.h"
#include "export/tell.h"
#include "view/format.h"

struct state {
    uint32_t pid, tid;
    bool is_collecting; /* garbage */
};

/* Room for the head of an event. */
#define HEAD 160u

static void render(struct cunei_buffer *out, const struct cunei_function *function)
{
    cunei_buffer_append_text(out, ",\"name\":");
    cunei_text_json(out, function->qualname, strlen(function->qualname));
    cunei_buffer_append_text(out, ",\"cat\":");
    cunei_text_json(out, function->module, strlen(function->module));
    cunei_buffer_append_text(out, ",\"args\":{\"file\":");
    cunei_text_json(out, function->file, strlen(function->file));
    cunei_buffer_format(out, ",\"line\":%" PRIu32, function->line);
}

static void *prepare(const struct cunei_export *export,
                     const struct cunei_trace_process *process)
{
    (void)export;
    return cunei_labels_make(process, render);
}

/* {"ph":"B","pid":1,"tid":2,"ts":3.456 */
static char *put_head(const struct cunei_encoding *encoding, char *at, char phase,
                      uint64_t time)
{
    const struct state *state = encoding->state;
    uint64_t ns = cunei_wall_ns(encoding->wall, time);

    at = CUNEI_PUT(at, "{\"ph\":\"");
    *at++ = phase;
    at = CUNEI_PUT(at, "\",\"pid\":");
    at = cunei_put_number(at, state->pid);
    at = CUNEI_PUT(at, ",\"tid\":");
    at = cunei_put_number(at, state->tid);
    at = CUNEI_PUT(at, ",\"ts\":");
    return cunei_put_microseconds(at, ns - encoding->export->origin_ns);
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

    open_event(encoding, 'M', 0);
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
    cunei_format_command(&program, &encoding->process->description);
    (void)put_name(encoding, "process_name", program.data ? program.data : "",
                   program.size);
    cunei_buffer_fini(&program);
    return put_name(encoding, "thread_name", packet->thread_name,
                    strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct cunei_buffer *out = &encoding->out;
    size_t size = 0;
    const char *label = cunei_labels_find(encoding->labels, call->function, &size);
    char *at = cunei_buffer_room(out, HEAD + size);

    if (!at)
        return 0;
    at = put_head(encoding, at, 'B', call->time);
    at = cunei_put(at, label, size);
    if (call->how == CUNEI_BEGIN_RESUME)
        at = CUNEI_PUT(at, ",\"resumed\":true");
    cunei_buffer_grow(out, at);
    for (size_t i = 0; i < call->argument_count; i++) {
        const struct cunei_value *value = &call->arguments[i];
        cunei_buffer_append_text(out, ",");
        cunei_text_json(out, value->name, value->name_size);
        cunei_buffer_append_text(out, ":");
        cunei_text_json(out, value->text, value->size);
    }
    cunei_buffer_append_text(out, "}},\n");
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
    if (notes[call->how] || call->result) {
        cunei_buffer_append_text(out, ",\"args\":{");
        if (notes[call->how])
            cunei_buffer_format(out, "\"%s\":true", notes[call->how]);
        if (call->result) {
            cunei_buffer_append_text(out,
                                     notes[call->how] ? ",\"return\":" : "\"return\":");
            cunei_text_json(out, call->result->text, call->result->size);
        }
        cunei_buffer_append_text(out, "}");
    }
    cunei_buffer_append_text(out, "},\n");
    return 0;
}

static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    struct state *state = encoding->state;

    open_event(encoding, is_begin ? 'b' : 'e', time);
    cunei_buffer_format(&encoding->out,
                        ",\"cat\":\"task\",\"id\":\"%" PRIu32 ".%" PRIu64
                        "\",\"name\":\"task %" PRIu64 "\"},\n",
                        state->pid, task, task);
    return 0;
}

static void put_exception(struct cunei_encoding *encoding,
                          const struct cunei_exception *event, uint64_t time)
{
    struct cunei_buffer *out = &encoding->out;

    open_event(encoding, 'i', time);
    cunei_buffer_append_text(out, ",\"s\":\"t\",\"cat\":\"exception\"");
    put_key(out, "name");
    cunei_text_json(out, event->type, strnlen(event->type, event->length));
    cunei_buffer_format(out, ",\"args\":{\"line\":%" PRIu32 "}},\n", event->line);
}

static void put_collection(struct cunei_encoding *encoding,
                           const struct cunei_gc *event, uint64_t time)
{
    bool is_begin = cunei_record_phase(event->record) == CUNEI_PHASE_ENTER;

    open_event(encoding, is_begin ? 'B' : 'E', time);
    if (is_begin)
        cunei_buffer_format(&encoding->out,
                            ",\"name\":\"gc\",\"cat\":\"gc\",\"args\":{"
                            "\"generation\":%" PRIu32 "}},\n",
                            event->generation);
    else
        cunei_buffer_format(&encoding->out,
                            ",\"args\":{\"collected\":%" PRIu64
                            ",\"uncollectable\":%" PRIu32 "}},\n",
                            event->collected, event->uncollectable);
}

static int put_event(struct cunei_encoding *encoding, const uint64_t *event,
                     uint64_t time)
{
    const struct cunei_thread_name *name = (const void *)event;

    switch (cunei_record_class(event[0])) {
    case CUNEI_CLASS_EXCEPTION:
        if (cunei_record_phase(event[0]) == CUNEI_PHASE_ENTER)
            put_exception(encoding, (const void *)event, time);
        break;
    case CUNEI_CLASS_GC:
        put_collection(encoding, (const void *)event, time);
        break;
    case CUNEI_CLASS_THREAD_NAME:
        return put_name(encoding, "thread_name", name->name,
                        strnlen(name->name, name->length));
    default:
        break;
    }
    return 0;
}

static int put_lost(struct cunei_encoding *encoding, uint64_t time, uint64_t count)
{
    open_event(encoding, 'i', time);
    cunei_buffer_format(&encoding->out,
                        ",\"s\":\"t\",\"name\":\"events were lost\",\"cat\":\"lost\","
                        "\"args\":{\"count\":%" PRIu64 "}},\n",
                        count);
    return 0;
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .event = put_event,
    .lost = put_lost,
    .prepare = prepare,
    .dispose = cunei_labels_free,
    .state_size = sizeof(struct state),
};

int cunei_export_chrome(struct cunei_export *export)
{
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", export->out);
    int rc = cunei_tell(export, &encoder);
    /* The list is closed by an event that needs no comma behind it. */
    (void)fputs("{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"cunei\",\"args\":{"
                "\"version\":\"" CUNEI_VERSION "\"}}\n]}\n",
                export->out);
    return rc;
}
