// SPDX-License-Identifier: MIT
/*
 * Perfetto's own format: track events, as ui.perfetto.dev and trace_processor read
 * them.
 *
 * Each encoding is a packet sequence of its own: its names are interned in it, its
 * clock counts from its first event.  The numbers of the fields are those of Perfetto's
 * perfetto_trace.proto.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export/export.h"
#include "export/formats.h"
#include "export/proto.h"
#include "export/tell.h"
#include "view/format.h"

enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_CLOCK = 58,
    PACKET_TRACK = 60,

    SNAPSHOT_CLOCKS = 1,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_INCREMENTAL = 3,

    DEFAULTS_TRACK_EVENT = 11,
    DEFAULTS_TRACK = 11,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    PROCESS_PID = 1,
    PROCESS_CMDLINE = 2,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,

    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY_NAME = 22,
    EVENT_NAME = 23,
    EVENT_LOCATION = 34,

    INTERNED_NAMES = 2,
    INTERNED_CATEGORIES = 1,
    INTERNED_LOCATIONS = 4,
    ITEM_ID = 1,
    ITEM_NAME = 2,
    LOCATION_FILE = 2,
    LOCATION_FUNCTION = 3,
    LOCATION_LINE = 4,

    ANNOTATION_BOOL = 2,
    ANNOTATION_NUMBER = 3,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
};

enum {
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
};

enum {
    STATE_CLEARED = 1,
    STATE_NEEDED = 2,
};

/* Perfetto's for the wall clock, and the first that is a sequence's own. */
enum {
    CLOCK_REALTIME = 1,
    CLOCK_OWN = 64,
};

/* Room for an event without text. */
#define EVENT_ROOM 96u

struct state {
    uint64_t track;
    uint64_t last_ns;  /* of the sequence's clock */
    uint8_t *interned; /* owned: which functions are */
    uint32_t pid, tid;
    bool has_begun; /* the sequence */
};

/* A number that no other track has: of a process, one of its threads or tasks. */
static uint64_t track_of(const struct cunei_encoding *encoding, unsigned kind,
                         uint64_t number)
{
    size_t process = (size_t)(encoding->process - encoding->export->trace->processes);
    return (uint64_t)(process + 1) << 40 | (uint64_t)kind << 36 |
           (number & ((UINT64_C(1) << 36) - 1));
}

enum {
    TRACK_OF_PROCESS,
    TRACK_OF_THREAD,
    TRACK_OF_TASK,
};

static uint64_t sequence_of(const struct cunei_encoding *encoding)
{
    return encoding->number + 1;
}

static size_t open_packet(struct cunei_encoding *encoding)
{
    size_t packet = cunei_proto_open(&encoding->out, TRACE_PACKET);

    cunei_proto_number(&encoding->out, PACKET_SEQUENCE, sequence_of(encoding));
    return packet;
}

static void put_clock(struct cunei_buffer *out, uint64_t id, uint64_t ns,
                      bool is_incremental)
{
    size_t clock = cunei_proto_open(out, SNAPSHOT_CLOCKS);

    cunei_proto_number(out, CLOCK_ID, id);
    cunei_proto_number(out, CLOCK_TIMESTAMP, ns);
    if (is_incremental)
        cunei_proto_number(out, CLOCK_INCREMENTAL, 1);
    cunei_proto_close(out, clock);
}

/* The sequence's clock begins, or begins anew, at the wall clock `ns`. */
static void set_clock(struct cunei_encoding *encoding, uint64_t ns)
{
    struct cunei_buffer *out = &encoding->out;
    struct state *state = encoding->state;

    size_t packet = open_packet(encoding);
    size_t snapshot = cunei_proto_open(out, PACKET_CLOCK_SNAPSHOT);
    put_clock(out, CLOCK_REALTIME, ns, false);
    put_clock(out, CLOCK_OWN, 0, true);
    cunei_proto_close(out, snapshot);
    cunei_proto_close(out, packet);
    state->last_ns = ns;
}

/* From here on events are of the thread's track, and no names are interned. */
static void begin_sequence(struct cunei_encoding *encoding)
{
    struct cunei_buffer *out = &encoding->out;
    struct state *state = encoding->state;

    size_t packet = open_packet(encoding);
    cunei_proto_number(out, PACKET_FLAGS, STATE_CLEARED);
    size_t defaults = cunei_proto_open(out, PACKET_DEFAULTS);
    size_t event = cunei_proto_open(out, DEFAULTS_TRACK_EVENT);
    cunei_proto_number(out, DEFAULTS_TRACK, state->track);
    cunei_proto_close(out, event);
    cunei_proto_number(out, PACKET_CLOCK, CLOCK_OWN);
    cunei_proto_close(out, defaults);
    cunei_proto_close(out, packet);
    free(state->interned);
    state->interned = NULL;
    state->has_begun = true;
}

/* How long after the sequence's last event; it has begun then. */
static uint64_t pass(struct cunei_encoding *encoding, uint64_t time)
{
    struct state *state = encoding->state;
    uint64_t ns = cunei_wall_ns(encoding->wall, time);

    /* The end of a task's step may be told before its time comes. */
    if (!state->has_begun || ns < state->last_ns)
        set_clock(encoding, ns);
    if (!state->has_begun)
        begin_sequence(encoding);
    uint64_t passed = ns - state->last_ns;
    state->last_ns = ns;
    return passed;
}

static size_t open_event(struct cunei_encoding *encoding, uint64_t passed,
                         unsigned type, size_t *packet)
{
    *packet = open_packet(encoding);
    cunei_proto_number(&encoding->out, PACKET_TIMESTAMP, passed);
    cunei_proto_number(&encoding->out, PACKET_FLAGS, STATE_NEEDED);
    size_t event = cunei_proto_open(&encoding->out, PACKET_TRACK_EVENT);
    cunei_proto_number(&encoding->out, EVENT_TYPE, type);
    return event;
}

static void close_event(struct cunei_encoding *encoding, size_t event, size_t packet)
{
    cunei_proto_close(&encoding->out, event);
    cunei_proto_close(&encoding->out, packet);
}

static void annotate_text(struct cunei_buffer *out, const char *name, size_t name_size,
                          const char *text, size_t size)
{
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_proto_text(out, ANNOTATION_NAME, name, name_size);
    cunei_proto_text(out, ANNOTATION_TEXT, text, size);
    cunei_proto_close(out, annotation);
}

static void annotate_number(struct cunei_buffer *out, const char *name, uint64_t number)
{
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_proto_text(out, ANNOTATION_NAME, name, strlen(name));
    cunei_proto_number(out, ANNOTATION_NUMBER, number);
    cunei_proto_close(out, annotation);
}

static void annotate_flag(struct cunei_buffer *out, const char *name)
{
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_proto_text(out, ANNOTATION_NAME, name, strlen(name));
    cunei_proto_number(out, ANNOTATION_BOOL, 1);
    cunei_proto_close(out, annotation);
}

static void put_text(struct cunei_buffer *out, uint32_t field, const char *text)
{
    cunei_proto_text(out, field, text, strlen(text));
}

/* The names of a function, in the packet of the first event that needs them. */
static void intern(struct cunei_encoding *encoding, uint32_t function, uint64_t id)
{
    static const struct cunei_function unknown = {
        .module = "?", .qualname = "?", .file = "?"};
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, function);
    struct cunei_buffer *out = &encoding->out;
    struct {
        uint32_t list, field;
        const char *text;
    } items[] = {{INTERNED_CATEGORIES, ITEM_NAME, names ? names->module : "?"},
                 {INTERNED_NAMES, ITEM_NAME, names ? names->qualname : "?"}};

    names = names ? names : &unknown;
    size_t interned = cunei_proto_open(out, PACKET_INTERNED);
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        size_t item = cunei_proto_open(out, items[i].list);
        cunei_proto_number(out, ITEM_ID, id);
        put_text(out, items[i].field, items[i].text);
        cunei_proto_close(out, item);
    }
    size_t location = cunei_proto_open(out, INTERNED_LOCATIONS);
    cunei_proto_number(out, ITEM_ID, id);
    put_text(out, LOCATION_FILE, names->file);
    put_text(out, LOCATION_FUNCTION, names->qualname);
    cunei_proto_number(out, LOCATION_LINE, names->line);
    cunei_proto_close(out, location);
    cunei_proto_close(out, interned);
}

/* Whether a function's names are new to the sequence. */
static bool is_new(struct cunei_encoding *encoding, uint32_t index)
{
    struct state *state = encoding->state;
    uint32_t count = encoding->process->function_count;

    if (!state->interned)
        state->interned = calloc(count + (size_t)1, 1);
    if (!state->interned || index > count) {
        encoding->out.failed |= !state->interned;
        return false;
    }
    bool is_first = !state->interned[index];
    state->interned[index] = 1;
    return is_first;
}

/* The slice of a function begins, without anything more to say: most do. */
static void begin_plain(struct cunei_encoding *encoding, uint64_t passed, uint64_t id)
{
    char *begin = cunei_buffer_room(&encoding->out, EVENT_ROOM);
    char *at = begin;

    if (!at)
        return;
    at = cunei_proto_put_tag(at, TRACE_PACKET, CUNEI_PROTO_BYTES);
    char *packet = ++at; /* short: the length is one byte */
    at = cunei_proto_put_number(at, PACKET_TIMESTAMP, passed);
    at = cunei_proto_put_number(at, PACKET_SEQUENCE, sequence_of(encoding));
    at = cunei_proto_put_tag(at, PACKET_TRACK_EVENT, CUNEI_PROTO_BYTES);
    char *event = ++at;
    at = cunei_proto_put_number(at, EVENT_TYPE, TYPE_BEGIN);
    at = cunei_proto_put_number(at, EVENT_NAME_ID, id);
    at = cunei_proto_put_number(at, EVENT_CATEGORY, id);
    at = cunei_proto_put_number(at, EVENT_LOCATION, id);
    event[-1] = (char)(at - event);
    at = cunei_proto_put_number(at, PACKET_FLAGS, STATE_NEEDED);
    packet[-1] = (char)(at - packet);
    cunei_buffer_grow(&encoding->out, at);
}

static void end_plain(struct cunei_encoding *encoding, uint64_t passed)
{
    char *at = cunei_buffer_room(&encoding->out, EVENT_ROOM);

    if (!at)
        return;
    at = cunei_proto_put_tag(at, TRACE_PACKET, CUNEI_PROTO_BYTES);
    char *packet = ++at;
    at = cunei_proto_put_number(at, PACKET_TIMESTAMP, passed);
    at = cunei_proto_put_number(at, PACKET_SEQUENCE, sequence_of(encoding));
    at = cunei_proto_put_tag(at, PACKET_TRACK_EVENT, CUNEI_PROTO_BYTES);
    *at++ = 2;
    at = cunei_proto_put_number(at, EVENT_TYPE, TYPE_END);
    at = cunei_proto_put_number(at, PACKET_FLAGS, STATE_NEEDED);
    packet[-1] = (char)(at - packet);
    cunei_buffer_grow(&encoding->out, at);
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct cunei_buffer *out = &encoding->out;
    uint32_t index = call->function - CUNEI_FUNCTION_FIRST;
    uint32_t count = encoding->process->function_count;
    size_t packet;

    index = index < count ? index : count;
    uint64_t id = (uint64_t)index + 1;
    uint64_t passed = pass(encoding, call->time);
    bool has_names = is_new(encoding, index);
    if (!has_names && call->argument_count == 0 && call->how != CUNEI_BEGIN_RESUME) {
        begin_plain(encoding, passed, id);
        return 0;
    }
    size_t event = open_event(encoding, passed, TYPE_BEGIN, &packet);
    cunei_proto_number(out, EVENT_NAME_ID, id);
    cunei_proto_number(out, EVENT_CATEGORY, id);
    cunei_proto_number(out, EVENT_LOCATION, id);
    if (call->how == CUNEI_BEGIN_RESUME)
        annotate_flag(out, "resumed");
    for (size_t i = 0; i < call->argument_count; i++)
        annotate_text(out, call->arguments[i].name, call->arguments[i].name_size,
                      call->arguments[i].text, call->arguments[i].size);
    cunei_proto_close(out, event);
    if (has_names)
        intern(encoding, call->function, id);
    cunei_proto_close(out, packet);
    return 0;
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    static const char *const notes[] = {
        [CUNEI_END_YIELD] = "yielded",   [CUNEI_END_RAISE] = "raised",
        [CUNEI_END_SWITCH] = "switched", [CUNEI_END_UNSEEN] = "end is missing",
        [CUNEI_END_OPEN] = "still open",
    };
    struct cunei_buffer *out = &encoding->out;
    size_t packet;

    if (!notes[call->how] && !call->result) {
        end_plain(encoding, pass(encoding, call->time));
        return 0;
    }
    size_t event = open_event(encoding, pass(encoding, call->time), TYPE_END, &packet);
    if (notes[call->how])
        annotate_flag(out, notes[call->how]);
    if (call->result)
        annotate_text(out, "return", 6, call->result->text, call->result->size);
    close_event(encoding, event, packet);
    return 0;
}

static void put_process(struct cunei_encoding *encoding)
{
    const struct cunei_process *told = &encoding->process->description;
    const struct state *state = encoding->state;
    struct cunei_buffer *out = &encoding->out;
    struct cunei_buffer name = {0};

    cunei_format_command(&name, told);
    size_t packet = open_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID, track_of(encoding, TRACK_OF_PROCESS, 0));
    size_t process = cunei_proto_open(out, TRACK_PROCESS);
    cunei_proto_number(out, PROCESS_PID, state->pid);
    for (size_t i = 0; i < told->argument_count; i++)
        put_text(out, PROCESS_CMDLINE, told->arguments[i]);
    if (name.data)
        put_text(out, PROCESS_NAME, name.data);
    cunei_proto_close(out, process);
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
    cunei_buffer_fini(&name);
}

static void name_thread(struct cunei_encoding *encoding, const char *name, size_t size)
{
    const struct state *state = encoding->state;
    struct cunei_buffer *out = &encoding->out;

    size_t packet = open_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID, state->track);
    cunei_proto_number(out, TRACK_PARENT, track_of(encoding, TRACK_OF_PROCESS, 0));
    size_t thread = cunei_proto_open(out, TRACK_THREAD);
    cunei_proto_number(out, THREAD_PID, state->pid);
    cunei_proto_number(out, THREAD_TID, state->tid);
    cunei_proto_text(out, THREAD_NAME, name, size);
    cunei_proto_close(out, thread);
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
}

static void name_task(struct cunei_encoding *encoding, const struct cunei_task *task)
{
    struct cunei_buffer *out = &encoding->out;

    if (task->length == 0)
        return;
    size_t packet = open_packet(encoding);
    size_t track = cunei_proto_open(out, PACKET_TRACK);
    cunei_proto_number(out, TRACK_UUID, track_of(encoding, TRACK_OF_TASK, task->task));
    cunei_proto_number(out, TRACK_PARENT, track_of(encoding, TRACK_OF_PROCESS, 0));
    cunei_proto_text(out, TRACK_NAME, task->name, strnlen(task->name, task->length));
    cunei_proto_close(out, track);
    cunei_proto_close(out, packet);
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct state *state = encoding->state;
    uint64_t track = track_of(encoding, TRACK_OF_THREAD, packet->thread);

    (void)time;
    state->has_begun &= state->track == track;
    state->track = track;
    state->pid = packet->vpid;
    state->tid = packet->vtid;
    if (!is_begin)
        return 0;
    put_process(encoding);
    name_thread(encoding, packet->thread_name,
                strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    return 0;
}

/* An event with a name and a category of its own. */
static size_t open_named(struct cunei_encoding *encoding, uint64_t time, unsigned type,
                         const char *name, size_t size, const char *category,
                         size_t *packet)
{
    size_t event = open_event(encoding, pass(encoding, time), type, packet);

    cunei_proto_text(&encoding->out, EVENT_NAME, name, size);
    put_text(&encoding->out, EVENT_CATEGORY_NAME, category);
    return event;
}

static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    size_t packet;
    size_t event = open_named(encoding, time, is_begin ? TYPE_BEGIN : TYPE_END, "step",
                              4, "task", &packet);

    cunei_proto_number(&encoding->out, EVENT_TRACK,
                       track_of(encoding, TRACK_OF_TASK, task));
    close_event(encoding, event, packet);
    return 0;
}

static void put_exception(struct cunei_encoding *encoding,
                          const struct cunei_exception *exception, uint64_t time)
{
    size_t packet;
    size_t event =
        open_named(encoding, time, TYPE_INSTANT, exception->type,
                   strnlen(exception->type, exception->length), "exception", &packet);

    if (exception->line > 0)
        annotate_number(&encoding->out, "line", exception->line);
    close_event(encoding, event, packet);
}

static void put_collection(struct cunei_encoding *encoding,
                           const struct cunei_gc *collection, uint64_t time)
{
    bool is_begin = cunei_record_phase(collection->record) == CUNEI_PHASE_ENTER;
    size_t packet;
    size_t event = open_named(encoding, time, is_begin ? TYPE_BEGIN : TYPE_END, "gc", 2,
                              "gc", &packet);

    if (is_begin) {
        annotate_number(&encoding->out, "generation", collection->generation);
    } else {
        annotate_number(&encoding->out, "collected", collection->collected);
        annotate_number(&encoding->out, "uncollectable", collection->uncollectable);
    }
    close_event(encoding, event, packet);
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
    case CUNEI_CLASS_TASK:
        name_task(encoding, (const void *)event);
        break;
    case CUNEI_CLASS_THREAD_NAME:
        name_thread(encoding, name->name, strnlen(name->name, name->length));
        break;
    default:
        break;
    }
    return 0;
}

static int put_lost(struct cunei_encoding *encoding, uint64_t time, uint64_t count)
{
    size_t packet;
    size_t event = open_named(encoding, time, TYPE_INSTANT, "events were lost", 16,
                              "lost", &packet);

    if (count > 0)
        annotate_number(&encoding->out, "count", count);
    close_event(encoding, event, packet);
    return 0;
}

/* A seam goes on under another number: what it begins with is another sequence. */
static int finish(struct cunei_encoding *encoding)
{
    struct state *state = encoding->state;

    state->has_begun = false;
    return 0;
}

static void release(struct cunei_encoding *encoding)
{
    struct state *state = encoding->state;

    free(state->interned);
    state->interned = NULL;
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .event = put_event,
    .lost = put_lost,
    .finish = finish,
    .release = release,
    .state_size = sizeof(struct state),
};

int cunei_export_perfetto(struct cunei_export *export)
{
    return cunei_tell(export, &encoder);
}
