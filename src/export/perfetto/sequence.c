// SPDX-License-Identifier: MIT
#include "export/perfetto/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "export/escaped_name.h"
#include "export/import_name.h"
#include "export/perfetto/fields.h"
#include "export/protobuf.h"
#include "trace/directory/trace.h"
#include "wire/user_event.h"

size_t cunei_perfetto_packet(struct cunei_encoding *encoding)
{
    size_t packet = cunei_proto_open(&encoding->out, TRACE_PACKET);

    cunei_proto_number(&encoding->out, PACKET_SEQUENCE,
                       cunei_perfetto_sequence(encoding));
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

/*
 * The sequence's clock begins at the wall clock `ns`.  By default the trace's clock is
 * the time since boot, which we do not know.
 */
static void set_clock(struct cunei_encoding *encoding, uint64_t ns)
{
    struct cunei_buffer *out = &encoding->out;
    struct cunei_perfetto_state *state = encoding->state;

    size_t packet = cunei_perfetto_packet(encoding);
    size_t snapshot = cunei_proto_open(out, PACKET_CLOCK_SNAPSHOT);
    put_clock(out, CLOCK_REALTIME, ns, false);
    put_clock(out, CLOCK_OWN, 0, true);
    cunei_proto_number(out, SNAPSHOT_PRIMARY, CLOCK_REALTIME);
    cunei_proto_close(out, snapshot);
    cunei_proto_close(out, packet);
    state->last_ns = ns;
}

static void put_item(struct cunei_buffer *out, uint32_t list, uint64_t id,
                     const char *name)
{
    size_t item = cunei_proto_open(out, list);

    cunei_proto_number(out, ITEM_ID, id);
    cunei_perfetto_name(out, ITEM_NAME, name, strlen(name));
    cunei_proto_close(out, item);
}

static void put_notes(struct cunei_buffer *out)
{
    static const char *const names[] = {
        [CUNEI_PERFETTO_RETURNED] = "returned",
        [CUNEI_PERFETTO_FOUND] = "begin is missing",
        [CUNEI_PERFETTO_YIELDED] = "yielded",
        [CUNEI_PERFETTO_RAISED] = "raised",
        [CUNEI_PERFETTO_SWITCHED] = "switched",
        [CUNEI_PERFETTO_UNSEEN] = "end is missing",
        [CUNEI_PERFETTO_OPEN] = "still open",
    };

    size_t interned = cunei_proto_open(out, PACKET_INTERNED);
    put_item(out, INTERNED_CATEGORIES, CUNEI_PERFETTO_RESUMED, "resumed");
    for (unsigned i = CUNEI_PERFETTO_PLAIN + 1; i <= CUNEI_PERFETTO_OPEN; i++)
        put_item(out, INTERNED_ANNOTATIONS, i, names[i]);
    cunei_proto_close(out, interned);
}

/* Events from here on are on the thread's track; only names of notes are interned. */
static void begin(struct cunei_encoding *encoding)
{
    struct cunei_buffer *out = &encoding->out;
    struct cunei_perfetto_state *state = encoding->state;

    size_t packet = cunei_perfetto_packet(encoding);
    cunei_proto_number(out, PACKET_FLAGS, STATE_CLEARED);
    size_t defaults = cunei_proto_open(out, PACKET_DEFAULTS);
    size_t event = cunei_proto_open(out, DEFAULTS_TRACK_EVENT);
    cunei_proto_number(out, DEFAULTS_TRACK, state->track);
    cunei_proto_close(out, event);
    cunei_proto_number(out, PACKET_CLOCK, CLOCK_OWN);
    cunei_proto_close(out, defaults);
    put_notes(out);
    cunei_proto_close(out, packet);
    free(state->interned);
    state->interned = NULL;
    state->has_begun = true;
}

struct cunei_perfetto_time cunei_perfetto_begin(struct cunei_encoding *encoding,
                                                uint64_t ns)
{
    struct cunei_perfetto_state *state = encoding->state;

    if (state->last_ns == 0)
        set_clock(encoding, ns);
    if (!state->has_begun)
        begin(encoding);
    /* Some events are written before or after their time: the clock must not be set
     * back for them. */
    if (ns < state->last_ns)
        return (struct cunei_perfetto_time){ns, true};
    uint64_t passed = ns - state->last_ns;
    state->last_ns = ns;
    return (struct cunei_perfetto_time){passed, false};
}

struct cunei_perfetto_event cunei_perfetto_open_at(struct cunei_encoding *encoding,
                                                   struct cunei_perfetto_time when,
                                                   unsigned type)
{
    struct cunei_buffer *out = &encoding->out;

    size_t packet = cunei_perfetto_packet(encoding);
    cunei_proto_number(out, PACKET_TIMESTAMP, when.ns);
    if (when.is_wall)
        cunei_proto_number(out, PACKET_CLOCK, CLOCK_REALTIME);
    cunei_proto_number(out, PACKET_FLAGS, STATE_NEEDED);
    size_t event = cunei_proto_open(out, PACKET_TRACK_EVENT);
    cunei_proto_number(out, EVENT_TYPE, type);
    return (struct cunei_perfetto_event){packet, event};
}

struct cunei_perfetto_event cunei_perfetto_open(struct cunei_encoding *encoding,
                                                uint64_t time, unsigned type)
{
    return cunei_perfetto_open_at(encoding, cunei_perfetto_pass(encoding, time), type);
}

void cunei_perfetto_close(struct cunei_encoding *encoding,
                          struct cunei_perfetto_event event)
{
    cunei_proto_close(&encoding->out, event.event);
    cunei_proto_close(&encoding->out, event.packet);
}

void cunei_perfetto_name(struct cunei_buffer *out, uint32_t field, const char *name,
                         size_t size)
{
    struct cunei_buffer text = {0};

    if (cunei_escaped_name_is_utf8(name, size)) {
        cunei_proto_text(out, field, name, size);
        return;
    }
    cunei_escaped_name_put_utf8(&text, name, size);
    cunei_proto_text(out, field, text.data, text.size);
    out->failed |= text.failed;
    cunei_buffer_fini(&text);
}

void cunei_perfetto_text(struct cunei_buffer *out, const char *name, size_t name_size,
                         const char *text, size_t size)
{
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_perfetto_name(out, ANNOTATION_NAME, name, name_size);
    cunei_perfetto_name(out, ANNOTATION_TEXT, text, size);
    cunei_proto_close(out, annotation);
}

void cunei_perfetto_number(struct cunei_buffer *out, const char *name, uint64_t number)
{
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_proto_text(out, ANNOTATION_NAME, name, strlen(name));
    cunei_proto_number(out, ANNOTATION_NUMBER, number);
    cunei_proto_close(out, annotation);
}

void cunei_perfetto_value(struct cunei_buffer *out, const char *name, size_t size,
                          const struct cunei_user_value *value)
{
    struct cunei_user_event_text text = cunei_user_event_text(value);
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_perfetto_name(out, ANNOTATION_NAME, name, size);
    if (value->kind == CUNEI_VALUE_INT)
        cunei_proto_number(out, ANNOTATION_WHOLE, value->value);
    else if (value->kind == CUNEI_VALUE_DOUBLE)
        cunei_proto_double(out, ANNOTATION_DOUBLE,
                           cunei_user_event_number(value->value, true));
    else
        cunei_perfetto_name(out, ANNOTATION_TEXT, text.data, text.size);
    cunei_proto_close(out, annotation);
}

void cunei_perfetto_detail(struct cunei_buffer *out, const struct cunei_detail *detail)
{
    size_t annotation = cunei_proto_open(out, EVENT_ANNOTATION);

    cunei_proto_text(out, ANNOTATION_NAME, detail->name, strlen(detail->name));
    if (detail->kind == CUNEI_DETAIL_UNSIGNED)
        cunei_proto_number(out, ANNOTATION_NUMBER, detail->bits);
    else if (detail->kind == CUNEI_DETAIL_INT)
        cunei_proto_number(out, ANNOTATION_WHOLE, detail->bits);
    else if (detail->kind == CUNEI_DETAIL_DOUBLE)
        cunei_proto_double(out, ANNOTATION_DOUBLE,
                           cunei_user_event_number(detail->bits, true));
    else
        cunei_perfetto_name(out, ANNOTATION_TEXT, detail->text, detail->size);
    cunei_proto_close(out, annotation);
}

char *cunei_perfetto_put_note(char *at, enum cunei_perfetto_note note)
{
    if (note == CUNEI_PERFETTO_PLAIN)
        return at;
    at = cunei_proto_put_tag(at, EVENT_ANNOTATION, CUNEI_PROTO_BYTES);
    *at++ = 4;
    at = cunei_proto_put_number(at, ANNOTATION_NAME_ID, note);
    return cunei_proto_put_number(at, ANNOTATION_BOOL, 1);
}

void cunei_perfetto_note(struct cunei_buffer *out, enum cunei_perfetto_note note)
{
    char *at = cunei_buffer_room(out, CUNEI_PERFETTO_NOTE_MAX);

    if (at)
        cunei_buffer_grow(out, cunei_perfetto_put_note(at, note));
}

bool cunei_perfetto_is_new(struct cunei_encoding *encoding, uint32_t index)
{
    struct cunei_perfetto_state *state = encoding->state;
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

void cunei_perfetto_intern(struct cunei_encoding *encoding, uint32_t function,
                           uint64_t id)
{
    static const struct cunei_function unknown = {
        .module = "?", .qualname = "?", .file = "?"};
    const struct cunei_function *names =
        cunei_trace_function(encoding->process, function);
    struct cunei_buffer *out = &encoding->out;
    struct cunei_buffer room = {0};

    names = names ? names : &unknown;
    size_t interned = cunei_proto_open(out, PACKET_INTERNED);
    put_item(out, INTERNED_CATEGORIES, id,
             cunei_id_kinds_is_region(&encoding->kinds, function) ? "region"
                                                                  : names->module);
    put_item(out, INTERNED_NAMES, id,
             cunei_import_name(encoding->export, names, &room));
    out->failed |= room.failed;
    cunei_buffer_fini(&room);
    size_t location = cunei_proto_open(out, INTERNED_LOCATIONS);
    cunei_proto_number(out, ITEM_ID, id);
    cunei_perfetto_name(out, LOCATION_FILE, names->file, strlen(names->file));
    cunei_perfetto_name(out, LOCATION_FUNCTION, names->qualname,
                        strlen(names->qualname));
    cunei_proto_number(out, LOCATION_LINE, names->line);
    cunei_proto_close(out, location);
    cunei_proto_close(out, interned);
}
