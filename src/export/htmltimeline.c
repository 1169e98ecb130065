// SPDX-License-Identifier: MIT
/* What each thread did when: its longer calls, steps of tasks, collections, raises. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/html.h"
#include "export/selection.h"
#include "export/tell.h"

/* Marks of a kind that a thread has at most, and all threads about. */
#define MARKS_MAX       20000u
#define MARKS_MAX_ALL   100000u
#define MARKS_MIN       100u
#define TYPES_MAX       1000u
#define STEPS_MAX       64u   /* that are inside of each other */
#define SHORT_LEVELS    40u   /* as deep as short calls are drawn */
#define SHORT_ROOM_GOOD 4096u /* of a level: about one for each pixel */

/* A call that is open. */
struct open_call {
    uint64_t time;
    uint32_t function;
};

/* Numbers of a thread that come one by one, for a list each. */
enum list {
    LIST_SLICES, /* start, duration, depth, function */
    LIST_STEPS,  /* start, duration, task */
    LIST_GC,     /* start, duration, generation */
    LIST_RAISES, /* time, type, depth */
    LIST_LOST,   /* time, count */
    LIST_COUNT,
};

static const char *const list_names[] = {"slices", "steps", "gc", "raises", "lost"};

/* Lets so many through: half of them as they come, the other half evenly over time. */
struct sieve {
    uint32_t count;
    uint64_t last; /* the part of the time that the last one was in */
};

struct timeline {
    struct cunei_html *html;
    size_t process;          /* index in the trace */
    uint32_t *indices;       /* owned: of its functions in the survey, plus one */
    struct open_call *calls; /* owned: of the thread that is being told */
    size_t depth, capacity;
    struct cunei_buffer lists[LIST_COUNT];
    bool has_thread, is_open;
    uint64_t gc_begin;
    uint64_t steps[STEPS_MAX]; /* when those that are open began */
    uint32_t step_depth;
    char **types; /* owned, as each: exceptions' names */
    uint32_t type_count;
    struct sieve marks[LIST_COUNT];
    uint32_t mark_room; /* of each kind and thread */
    uint64_t left_out;  /* marks of the thread that found none */
    struct sieve shorts[SHORT_LEVELS];
    uint32_t short_room; /* of each of so many levels of a thread */
    uint32_t short_levels;
};

static uint32_t index_of(struct timeline *timeline, uint32_t function)
{
    struct cunei_html *html = timeline->html;
    const struct cunei_trace_process *process =
        &html->export->trace->processes[timeline->process];
    uint32_t slot = function - CUNEI_FUNCTION_FIRST;

    if (slot >= process->function_count || !process->functions[slot].module)
        return 0;
    if (timeline->indices[slot] == 0) {
        int index =
            cunei_functions_add(&html->survey.functions, &process->functions[slot]);
        timeline->indices[slot] = index < 0 ? 0 : (uint32_t)index + 1;
    }
    return timeline->indices[slot] > 0 ? timeline->indices[slot] - 1 : 0;
}

static uint64_t since_origin(const struct cunei_encoding *encoding, uint64_t time)
{
    return cunei_export_since(encoding->export, cunei_wall_ns(encoding->wall, time));
}

static bool passes(const struct timeline *timeline, struct sieve *sieve, uint32_t room,
                   uint64_t time_ns)
{
    uint32_t half = room / 2 > 0 ? room / 2 : 1;
    uint64_t part =
        time_ns / (cunei_survey_duration_ns(&timeline->html->survey) / half + 1);

    if (sieve->count >= half && part == sieve->last)
        return false;
    sieve->count++;
    sieve->last = part;
    return true;
}

static bool has_room(struct timeline *timeline, enum list list, uint64_t time_ns)
{
    if (passes(timeline, &timeline->marks[list], timeline->mark_room, time_ns))
        return true;
    timeline->left_out++;
    return false;
}

static void put_numbers(struct timeline *timeline, enum list list, uint64_t one,
                        uint64_t two, uint64_t three)
{
    struct cunei_buffer *out = &timeline->lists[list];

    cunei_buffer_format(out, "%s%" PRIu64 ",%" PRIu64, out->size > 0 ? "," : "", one,
                        two);
    if (list != LIST_LOST)
        cunei_buffer_format(out, ",%" PRIu64, three);
}

static int end_thread(struct timeline *timeline)
{
    struct cunei_buffer *out = &timeline->html->page.text;

    if (!timeline->is_open)
        return 0;
    for (unsigned i = 0; i < LIST_COUNT; i++) {
        struct cunei_buffer *list = &timeline->lists[i];
        if (list->failed)
            return -ENOMEM;
        cunei_buffer_format(out, ",\"%s\":[", list_names[i]);
        cunei_buffer_append(out, list->data, list->size);
        cunei_buffer_append_text(out, "]");
        cunei_buffer_clear(list);
    }
    cunei_buffer_format(out, ",\"left_out\":%" PRIu64 "}", timeline->left_out);
    timeline->is_open = false;
    return cunei_page_flow(&timeline->html->page);
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct timeline *timeline = encoding->labels;
    struct cunei_buffer *out = &timeline->html->page.text;

    (void)time, (void)is_begin;
    int rc = end_thread(timeline);
    cunei_buffer_format(out, "%s\n{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":",
                        timeline->has_thread ? "," : "", packet->vpid, packet->vtid);
    cunei_page_text(out, packet->thread_name,
                    strnlen(packet->thread_name, CUNEI_PACKET_THREAD_NAME));
    cunei_buffer_append_text(out, ",\"program\":");
    cunei_html_put_command(timeline->html, &encoding->process->description);
    timeline->has_thread = true;
    timeline->is_open = true;
    timeline->depth = 0;
    timeline->step_depth = 0;
    timeline->gc_begin = 0;
    timeline->left_out = 0;
    memset(timeline->marks, 0, sizeof(timeline->marks));
    memset(timeline->shorts, 0, sizeof(timeline->shorts));
    return rc;
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct timeline *timeline = encoding->labels;

    if (timeline->depth == timeline->capacity) {
        size_t capacity = timeline->capacity ? 2 * timeline->capacity : 256;
        struct open_call *grown = realloc(timeline->calls, capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        timeline->calls = grown;
        timeline->capacity = capacity;
    }
    timeline->calls[timeline->depth++] = (struct open_call){call->time, call->function};
    return 0;
}

/* Without them, what consists of short calls alone would be empty. */
static bool is_drawn(struct timeline *timeline, uint64_t begin_ns, uint64_t took_ns)
{
    size_t level = timeline->depth;

    return took_ns >= timeline->html->hidden_ns ||
           (level < timeline->short_levels &&
            passes(timeline, &timeline->shorts[level], timeline->short_room, begin_ns));
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    struct timeline *timeline = encoding->labels;
    struct cunei_buffer *out = &timeline->lists[LIST_SLICES];

    if (timeline->depth == 0)
        return 0;
    const struct open_call *begun = &timeline->calls[--timeline->depth];
    uint64_t begin_ns = since_origin(encoding, begun->time);
    uint64_t took_ns = since_origin(encoding, call->time) - begin_ns;
    if (!is_drawn(timeline, begin_ns, took_ns))
        return 0;
    cunei_buffer_format(out, "%s%" PRIu64 ",%" PRIu64 ",%zu,%" PRIu32,
                        out->size > 0 ? "," : "", begin_ns, took_ns, timeline->depth,
                        index_of(timeline, begun->function));
    return 0;
}

static int put_step(struct cunei_encoding *encoding, uint64_t task, uint64_t time,
                    bool is_begin)
{
    struct timeline *timeline = encoding->labels;
    uint64_t now_ns = since_origin(encoding, time);

    if (is_begin) {
        if (timeline->step_depth < STEPS_MAX)
            timeline->steps[timeline->step_depth] = now_ns;
        timeline->step_depth++;
    } else if (timeline->step_depth > 0 && --timeline->step_depth < STEPS_MAX) {
        uint64_t begin_ns = timeline->steps[timeline->step_depth];
        if (has_room(timeline, LIST_STEPS, begin_ns))
            put_numbers(timeline, LIST_STEPS, begin_ns, now_ns - begin_ns, task);
    } else {
        timeline->left_out++;
    }
    return 0;
}

/* The number of a name; those that are too many share one. */
static uint32_t type_of(struct timeline *timeline, const struct cunei_exception *event)
{
    size_t size = strnlen(event->type, event->length);

    for (uint32_t i = 0; i < timeline->type_count; i++) {
        if (strlen(timeline->types[i]) == size &&
            memcmp(timeline->types[i], event->type, size) == 0)
            return i;
    }
    if (timeline->type_count == TYPES_MAX)
        return TYPES_MAX - 1;
    bool is_last = timeline->type_count == TYPES_MAX - 1;
    char *type = is_last ? strdup("others") : strndup(event->type, size);
    if (!type)
        return TYPES_MAX; /* it has no name, but it is there */
    timeline->types[timeline->type_count] = type;
    return timeline->type_count++;
}

static int put_event(struct cunei_encoding *encoding, const uint64_t *event,
                     uint64_t time)
{
    struct timeline *timeline = encoding->labels;
    bool is_begin = cunei_record_phase(event[0]) == CUNEI_PHASE_ENTER;
    uint64_t now_ns = since_origin(encoding, time);

    switch (cunei_record_class(event[0])) {
    case CUNEI_CLASS_EXCEPTION:
        if (is_begin && has_room(timeline, LIST_RAISES, now_ns))
            put_numbers(timeline, LIST_RAISES, now_ns,
                        type_of(timeline, (const void *)event), timeline->depth);
        break;
    case CUNEI_CLASS_GC:
        if (is_begin)
            timeline->gc_begin = now_ns;
        else if (timeline->gc_begin > 0 &&
                 has_room(timeline, LIST_GC, timeline->gc_begin))
            put_numbers(timeline, LIST_GC, timeline->gc_begin,
                        now_ns - timeline->gc_begin,
                        ((const struct cunei_gc *)(const void *)event)->generation);
        break;
    default:
        break;
    }
    return 0;
}

static int put_lost(struct cunei_encoding *encoding, uint64_t time, uint64_t count)
{
    uint64_t now_ns = since_origin(encoding, time);

    if (has_room(encoding->labels, LIST_LOST, now_ns))
        put_numbers(encoding->labels, LIST_LOST, now_ns, count, 0);
    return 0;
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
    .step = put_step,
    .event = put_event,
    .lost = put_lost,
};

static int put_process(struct timeline *timeline)
{
    struct cunei_export *export = timeline->html->export;
    const struct cunei_trace_process *process =
        &export->trace->processes[timeline->process];
    struct cunei_encoding encoding = {
        .export = export,
        .encoder = &encoder,
        .process = process,
        .wall = &export->selections[timeline->process].wall,
        .labels = timeline,
    };
    int rc = 0;

    free(timeline->indices);
    timeline->indices = calloc(process->function_count + (size_t)1, sizeof(uint32_t));
    if (!timeline->indices)
        return -ENOMEM;
    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            rc = cunei_tell_stream(export, timeline->process, &process->streams[i],
                                   &encoding);
    }
    free(encoding.pending.values);
    return rc;
}

static void put_types(struct timeline *timeline)
{
    struct cunei_buffer *out = &timeline->html->page.text;

    cunei_buffer_append_text(out, ",\n\"types\":[");
    for (uint32_t i = 0; i < timeline->type_count; i++) {
        cunei_buffer_append_text(out, i > 0 ? "," : "");
        cunei_page_text(out, timeline->types[i], strlen(timeline->types[i]));
        free(timeline->types[i]);
    }
    cunei_buffer_append_text(out, "]");
}

/* No thread takes what others need. */
static void share_room(struct timeline *timeline)
{
    const struct cunei_html *html = timeline->html;
    uint32_t threads =
        html->survey.thread_count > 0 ? (uint32_t)html->survey.thread_count : 1;
    uint32_t marks = MARKS_MAX_ALL / threads, shorts = html->hidden_room / threads;
    uint32_t levels = shorts / SHORT_ROOM_GOOD;

    timeline->mark_room = marks < MARKS_MIN   ? MARKS_MIN
                          : marks > MARKS_MAX ? MARKS_MAX
                                              : marks;
    timeline->short_levels = levels < 1              ? 1
                             : levels > SHORT_LEVELS ? SHORT_LEVELS
                                                     : levels;
    timeline->short_room = shorts / timeline->short_levels;
}

int cunei_html_put_threads(struct cunei_html *html)
{
    struct timeline timeline = {.html = html,
                                .types = calloc(TYPES_MAX, sizeof(char *))};
    int rc = timeline.types ? 0 : -ENOMEM;

    share_room(&timeline);
    cunei_buffer_append_text(&html->page.text, ",\n\"threads\":[");
    for (size_t i = 0; rc == 0 && i < html->export->trace->process_count; i++) {
        timeline.process = i;
        if (html->export->selections[i].is_wanted)
            rc = put_process(&timeline);
    }
    if (rc == 0)
        rc = end_thread(&timeline);
    cunei_buffer_append_text(&html->page.text, "]");
    put_types(&timeline);
    for (unsigned i = 0; i < LIST_COUNT; i++)
        cunei_buffer_fini(&timeline.lists[i]);
    free(timeline.types);
    free(timeline.indices);
    free(timeline.calls);
    return rc;
}
