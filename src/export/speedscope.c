// SPDX-License-Identifier: MIT
/*
 * The JSON of speedscope: a profile of events for each thread, all with the same
 * frames.
 *
 * https://www.speedscope.app/file-format-schema.json
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/encode_pieces.h"
#include "export/encoder.h"
#include "export/escaped_name.h"
#include "export/export.h"
#include "export/fast_put.h"
#include "export/import_name.h"
#include "export/selection.h"
#include "export/write_buffer.h"
#include "export/writers.h"
#include "text/names.h"

struct state {
    bool has_profile;  /* it began one, … */
    bool is_continued; /* … or continues that of the piece before it, … */
    bool is_first;     /* … and its first byte is the comma of an event of it */
    bool has_events;   /* the profile has; not known while it is continued */
    uint64_t last_ns;
};

/* Used by joins alone, which one thread makes. */
struct document {
    struct cunei_encoder encoder;
    bool *has_profiles; /* a profile was written before */
};

#define EVENT_ROOM 96u

/* Frames of a process follow those of the processes before it. */
static uint64_t first_frame(const struct cunei_export *export,
                            const struct cunei_trace_process *process)
{
    uint64_t frame = 0;

    for (size_t i = 0; &export->trace->processes[i] < process; i++)
        frame += export->selections[i].is_wanted
                     ? export->trace->processes[i].function_count + UINT64_C(1)
                     : 0;
    return frame;
}

static void *prepare(const struct cunei_export *export,
                     const struct cunei_trace_process *process)
{
    uint64_t *frame = malloc(sizeof(*frame));

    if (frame)
        *frame = first_frame(export, process);
    return frame;
}

static uint64_t ns_of(struct cunei_encoding *encoding, uint64_t time)
{
    struct state *state = encoding->state;

    state->last_ns =
        cunei_export_since(encoding->export, cunei_wall_clock_ns(encoding->wall, time));
    return state->last_ns;
}

static void put_event(struct cunei_encoding *encoding, char type, uint32_t function,
                      uint64_t time)
{
    struct state *state = encoding->state;
    uint32_t index = function - CUNEI_FUNCTION_FIRST;
    uint32_t count = encoding->process->function_count;
    const uint64_t *frame = encoding->shared;
    char *at = cunei_buffer_room(&encoding->out, EVENT_ROOM);

    if (!at)
        return;
    state->is_first |= state->is_continued && encoding->out.size == 0;
    *at++ = state->has_events || state->is_continued ? ',' : ' ';
    at = CUNEI_PUT(at, "\n{\"type\":\"");
    *at++ = type;
    at = CUNEI_PUT(at, "\",\"frame\":");
    at = cunei_put_number(at, *frame + (index < count ? index : count));
    at = CUNEI_PUT(at, ",\"at\":");
    at = cunei_put_number(at, ns_of(encoding, time));
    *at++ = '}';
    cunei_buffer_grow(&encoding->out, at);
    state->has_events = true;
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    put_event(encoding, 'O', call->function, call->time);
    return 0;
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    put_event(encoding, 'C', call->function, call->time);
    return 0;
}

static int end_profile(struct cunei_encoding *encoding)
{
    struct state *state = encoding->state;

    if (state->has_profile || state->is_continued)
        cunei_buffer_format(&encoding->out, "],\"endValue\":%" PRIu64 "}",
                            state->last_ns);
    state->has_profile = state->is_continued = state->has_events = false;
    return 0;
}

static void put_title(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet)
{
    struct cunei_buffer title = {0};

    cunei_format_process(&title, &encoding->process->description);
    cunei_buffer_format(&title, " (%" PRIu32 "), %.*s (%" PRIu32 ")", packet->vpid,
                        CUNEI_PACKET_THREAD_NAME, packet->thread_name, packet->vtid);
    cunei_text_json(&encoding->out, cunei_buffer_text(&title), title.size);
    cunei_buffer_fini(&title);
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    const struct document *document = (const void *)encoding->encoder;
    struct state *state = encoding->state;

    if (!is_begin) {
        state->is_continued |= !state->has_profile;
        if (state->is_continued)
            (void)ns_of(encoding, time);
        return 0;
    }
    /* In a piece, the profile that it continued stands before this one. */
    bool is_next = state->has_profile || state->is_continued || *document->has_profiles;
    if (!state->has_profile && !state->is_continued)
        *document->has_profiles = true;
    (void)end_profile(encoding);
    cunei_buffer_append_text(&encoding->out, is_next
                                                 ? ",\n{\"type\":\"evented\",\"name\":"
                                                 : "{\"type\":\"evented\",\"name\":");
    put_title(encoding, packet);
    cunei_buffer_format(&encoding->out,
                        ",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64
                        ",\"events\":[",
                        ns_of(encoding, time));
    state->has_profile = true;
    return 0;
}

/* Only a join knows whether the piece's first event is its profile's first. */
static int join(struct cunei_encoding *joined, struct cunei_encoding *piece)
{
    struct state *before = joined->state;
    const struct state *after = piece->state;

    if (!after->is_continued && !after->has_profile)
        return 0; /* nothing of the piece is selected */
    if (after->is_first && !before->has_events)
        piece->out.data[0] = ' ';
    before->has_events =
        after->has_events || (after->is_continued && before->has_events);
    before->last_ns = after->last_ns;
    return 0;
}

static void put_name(const struct cunei_export *export, struct cunei_buffer *text,
                     const struct cunei_function *function)
{
    struct cunei_buffer room = {0}, name = {0};
    const char *qualname = cunei_import_name(export, function, &room);

    if (qualname == function->qualname)
        cunei_buffer_format(&name, "%s:", cunei_escaped_name_module(function));
    cunei_buffer_append_text(&name, qualname);
    cunei_text_json(text, cunei_buffer_text(&name), name.size);
    text->failed |= name.failed || room.failed;
    cunei_buffer_fini(&name);
    cunei_buffer_fini(&room);
}

static int put_frames(struct cunei_export *export)
{
    static const struct cunei_function unknown = {
        .module = "?", .qualname = "?", .file = ""};
    struct cunei_buffer text = {0};
    const char *comma = "";
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < export->trace->process_count; i++) {
        const struct cunei_trace_process *process = &export->trace->processes[i];
        if (!export->selections[i].is_wanted)
            continue;
        for (uint32_t j = 0; rc == 0 && j <= process->function_count; j++) {
            const struct cunei_function *function = &process->functions[j];
            if (j == process->function_count || !function->module)
                function = &unknown;
            cunei_buffer_format(&text, "%s\n{\"name\":", comma);
            put_name(export, &text, function);
            cunei_buffer_append_text(&text, ",\"file\":");
            cunei_text_json(&text, function->file, strlen(function->file));
            cunei_buffer_format(&text, ",\"line\":%" PRIu32 "}", function->line);
            rc = cunei_write_buffer_if_full(&text, export->out);
            comma = ",";
        }
    }
    if (rc == 0)
        rc = cunei_write_buffer(&text, export->out);
    cunei_buffer_fini(&text);
    return rc;
}

int cunei_export_speedscope(struct cunei_export *export)
{
    bool has_profiles = false;
    const struct document document = {
        .encoder =
            {
                .thread = put_thread,
                .begin = put_begin,
                .end = put_end,
                .prepare = prepare,
                .dispose = free,
                .join = join,
                .close = end_profile,
                .state_size = sizeof(struct state),
            },
        .has_profiles = &has_profiles,
    };

    (void)fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                "\"exporter\":\"cunei@" CUNEI_VERSION "\",\n"
                "\"shared\":{\"frames\":[",
                export->out);
    int rc = put_frames(export);
    (void)fputs("]},\n\"profiles\":[", export->out);
    if (rc == 0)
        rc = cunei_encode(export, &document.encoder);
    (void)fputs("]}\n", export->out);
    return rc;
}
