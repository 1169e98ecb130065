// SPDX-License-Identifier: MIT
/* The timeline of each thread: its longer calls, task steps, garbage collections,
 * exceptions, marks, and the counters of its process. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/encode_pieces.h"
#include "export/encoder.h"
#include "export/html/counter_tracks.h"
#include "export/html/html.h"
#include "export/html/timeline_notes.h"
#include "model/facts/text_set.h"

/* Marks of a kind that a thread has at most, and all threads about. */
#define MARKS_MAX       20000u
#define MARKS_MAX_ALL   100000u
#define MARKS_MIN       100u
#define TYPES_MAX       1000u
#define TEXTS_MAX       50000u     /* different names and values of marks … */
#define TEXT_BYTES_MAX  (8u << 20) /* … and values of calls */
#define STEPS_MAX       64u        /* that are inside of each other */
#define SHORT_ROOM_GOOD 4096u      /* of a level: about one for each pixel */

/* Numbers of a thread that come one by one, for a list each. */
enum list {
    LIST_SLICES,     /* start since that before, duration, depth, function */
    LIST_STEPS,      /* start, duration, task */
    LIST_GC,         /* start, duration, generation */
    LIST_RAISES,     /* time, type, depth */
    LIST_LOST,       /* time, count */
    LIST_USER_MARKS, /* time, name, value or 0, whether it is an error: texts from 1 on
                      */
    LIST_VALUES,     /* the number of a slice, and the text of its values */
    LIST_COUNT,
};

static const char *const list_names[] = {"slices", "steps",      "gc",    "raises",
                                         "lost",   "user_marks", "values"};

struct timeline {
    struct cunei_thinning thinning; /* the first, as the encoder wants it */
    struct cunei_html *html;
    const struct cunei_trace_process *process; /* whose notes come at the moment */
    uint32_t *indices; /* owned: of its functions in the analysis, plus one */
    struct cunei_buffer lists[LIST_COUNT];
    bool has_thread, is_open;
    uint64_t steps[STEPS_MAX]; /* when those that are open began */
    uint32_t step_depth;
    char **types; /* owned, as each: exceptions' names */
    uint32_t type_count;
    struct cunei_text_set texts;
    struct cunei_counter_tracks tracks;
    struct cunei_buffer tags; /* [function,name],… */
    uint32_t slice_count;     /* of the thread … */
    uint64_t start_ns;        /* … and when its last one began */
    struct cunei_sieve marks[LIST_COUNT];
    uint32_t mark_room; /* of each kind and thread */
    uint64_t left_out;  /* marks of the thread that found none */
    struct cunei_sieve shorts[CUNEI_NOTES_LEVELS];
};

static uint32_t index_of(struct timeline *timeline, uint32_t function)
{
    const struct cunei_trace_process *process = timeline->process;
    uint32_t slot = function - CUNEI_FUNCTION_FIRST;

    if (slot >= process->function_count || !process->functions[slot].module)
        return 0;
    if (timeline->indices[slot] == 0) {
        int index = cunei_functions_add(&timeline->html->analysis.functions,
                                        &process->functions[slot]);
        timeline->indices[slot] = index < 0 ? 0 : (uint32_t)index + 1;
    }
    return timeline->indices[slot] > 0 ? timeline->indices[slot] - 1 : 0;
}

static bool has_room(struct timeline *timeline, enum list list, uint64_t time_ns)
{
    if (cunei_sieve_passes(&timeline->marks[list], timeline->mark_room,
                           timeline->thinning.duration_ns, time_ns))
        return true;
    timeline->left_out++;
    return false;
}

static void put_numbers(struct timeline *timeline, enum list list, uint64_t one,
                        uint64_t two, uint64_t three)
{
    struct cunei_buffer *out = &timeline->lists[list];

    cunei_buffer_format(out, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                        out->size > 0 ? "," : "", one, two, three);
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

static int begin_thread(struct timeline *timeline, const struct cunei_note *note)
{
    struct cunei_buffer *out = &timeline->html->page.text;
    int rc = end_thread(timeline);

    cunei_buffer_format(
        out,
        "%s\n{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"start\":%" PRIu64 ",\"name\":",
        timeline->has_thread ? "," : "", note->depth, note->number, note->time_ns);
    cunei_page_redacted(out, cunei_note_text(note), note->text_size);
    cunei_buffer_append_text(out, ",\"program\":");
    cunei_html_put_command(timeline->html, &timeline->process->description);
    timeline->has_thread = true;
    timeline->is_open = true;
    timeline->step_depth = 0;
    timeline->left_out = 0;
    timeline->slice_count = 0;
    timeline->start_ns = 0;
    memset(timeline->marks, 0, sizeof(timeline->marks));
    memset(timeline->shorts, 0, sizeof(timeline->shorts));
    return rc;
}

/* The number of a text, from 1 on; texts beyond the limit share one. */
static uint64_t text_of(struct timeline *timeline, const char *text, size_t size)
{
    int64_t index = timeline->texts.count < TEXTS_MAX
                        ? cunei_text_set_add(&timeline->texts, text, size)
                        : cunei_text_set_add(&timeline->texts, "…", strlen("…"));

    return index < 0 ? 0 : (uint64_t)index + 1;
}

static void put_call(struct timeline *timeline, const struct cunei_note *note)
{
    struct cunei_buffer *out = &timeline->lists[LIST_SLICES];
    struct cunei_buffer *texts = &timeline->lists[LIST_VALUES];

    if (!cunei_thinning_passes(&timeline->thinning, timeline->shorts, note))
        return;
    cunei_buffer_format(out, "%s%" PRId64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32,
                        out->size > 0 ? "," : "",
                        (int64_t)(note->time_ns - timeline->start_ns), note->value,
                        note->depth, index_of(timeline, note->number));
    timeline->start_ns = note->time_ns;
    if (note->text_size > 0)
        cunei_buffer_format(texts, "%s%" PRIu32 ",%" PRIu64, texts->size > 0 ? "," : "",
                            timeline->slice_count,
                            text_of(timeline, cunei_note_text(note), note->text_size));
    timeline->slice_count++;
}

static void begin_step(struct timeline *timeline, const struct cunei_note *note)
{
    if (timeline->step_depth < STEPS_MAX)
        timeline->steps[timeline->step_depth] = note->time_ns;
    timeline->step_depth++;
}

static void end_step(struct timeline *timeline, const struct cunei_note *note)
{
    if (timeline->step_depth == 0 || --timeline->step_depth >= STEPS_MAX) {
        timeline->left_out++;
        return;
    }
    uint64_t begin_ns = timeline->steps[timeline->step_depth];
    if (has_room(timeline, LIST_STEPS, begin_ns))
        put_numbers(timeline, LIST_STEPS, begin_ns, note->time_ns - begin_ns,
                    note->value);
}

static void put_mark(struct timeline *timeline, const struct cunei_note *note)
{
    struct cunei_buffer *out = &timeline->lists[LIST_USER_MARKS];
    const char *text = cunei_note_text(note);

    if (!has_room(timeline, LIST_USER_MARKS, note->time_ns))
        return;
    uint64_t name = text_of(timeline, text, note->number);
    uint64_t value = note->depth > 0 ? text_of(timeline, text + note->number,
                                               note->text_size - note->number)
                                     : 0;
    cunei_buffer_format(out, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                        out->size > 0 ? "," : "", note->time_ns, name, value,
                        note->value);
}

static int put_counter(struct timeline *timeline, const struct cunei_note *note)
{
    double number;

    memcpy(&number, &note->value, sizeof(number));
    return cunei_counter_tracks_add(&timeline->tracks, note->number, note->time_ns,
                                    number);
}

static void put_tag(struct timeline *timeline, const struct cunei_note *note)
{
    struct cunei_buffer *out = &timeline->tags;

    if (!cunei_trace_function(timeline->process, note->number))
        return;
    cunei_buffer_format(out, "%s[%" PRIu32 ",", out->size > 0 ? "," : "",
                        index_of(timeline, note->number));
    cunei_page_redacted(out, cunei_note_text(note), note->text_size);
    cunei_buffer_append_text(out, "]");
}

/* The number of a name; names beyond the limit share one. */
static uint32_t type_of(struct timeline *timeline, const char *name, size_t size)
{
    for (uint32_t i = 0; i < timeline->type_count; i++) {
        if (strlen(timeline->types[i]) == size &&
            memcmp(timeline->types[i], name, size) == 0)
            return i;
    }
    if (timeline->type_count == TYPES_MAX)
        return TYPES_MAX - 1;
    bool is_last = timeline->type_count == TYPES_MAX - 1;
    char *type = is_last ? strdup("others") : strndup(name, size);
    if (!type)
        return TYPES_MAX; /* shown without a name */
    timeline->types[timeline->type_count] = type;
    return timeline->type_count++;
}

static int take_note(struct timeline *timeline, const struct cunei_note *note)
{
    switch (note->kind) {
    case CUNEI_NOTE_THREAD:
        return begin_thread(timeline, note);
    case CUNEI_NOTE_CALL:
        put_call(timeline, note);
        break;
    case CUNEI_NOTE_BEGIN:
        begin_step(timeline, note);
        break;
    case CUNEI_NOTE_END:
        end_step(timeline, note);
        break;
    case CUNEI_NOTE_GC:
        if (has_room(timeline, LIST_GC, note->time_ns))
            put_numbers(timeline, LIST_GC, note->time_ns, note->value, note->number);
        break;
    case CUNEI_NOTE_RAISE:
        if (has_room(timeline, LIST_RAISES, note->time_ns))
            put_numbers(timeline, LIST_RAISES, note->time_ns,
                        type_of(timeline, cunei_note_text(note), note->text_size),
                        note->depth);
        break;
    case CUNEI_NOTE_LOST:
        if (has_room(timeline, LIST_LOST, note->time_ns))
            put_numbers(timeline, LIST_LOST, note->time_ns, note->value, note->number);
        break;
    case CUNEI_NOTE_MARK:
        put_mark(timeline, note);
        break;
    case CUNEI_NOTE_COUNTER:
        return put_counter(timeline, note);
    case CUNEI_NOTE_TAG:
        put_tag(timeline, note);
        break;
    default:
        break;
    }
    return 0;
}

static int begin_process(struct timeline *timeline,
                         const struct cunei_trace_process *process)
{
    int rc = timeline->process
                 ? cunei_counter_tracks_end(&timeline->tracks, timeline->process)
                 : 0;

    if (rc < 0)
        return rc;
    free(timeline->indices);
    timeline->indices = calloc(process->function_count + (size_t)1, sizeof(uint32_t));
    timeline->process = process;
    return timeline->indices ? 0 : -ENOMEM;
}

static int take_notes(struct cunei_encoding *encoding)
{
    struct timeline *timeline = encoding->encoder->context;
    const struct cunei_note *note;
    size_t offset = 0;
    int rc = 0;

    if (timeline->process != encoding->process)
        rc = begin_process(timeline, encoding->process);
    while (rc == 0 && (note = cunei_notes_next(&encoding->out, &offset)))
        rc = take_note(timeline, note);
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

/* Texts, tags and counters, behind the threads. */
static int put_texts(struct timeline *timeline)
{
    struct cunei_buffer *out = &timeline->html->page.text;
    int rc = timeline->process
                 ? cunei_counter_tracks_end(&timeline->tracks, timeline->process)
                 : 0;

    cunei_buffer_append_text(out, ",\n\"texts\":[");
    for (uint32_t i = 0; i < timeline->texts.count; i++) {
        cunei_buffer_append_text(out, i > 0 ? "," : "");
        cunei_page_text(out, timeline->texts.items[i], timeline->texts.sizes[i]);
    }
    cunei_buffer_append_text(out, "],\n\"tags\":[");
    cunei_buffer_append(out, timeline->tags.data, timeline->tags.size);
    cunei_buffer_append_text(out, "],\n\"counters\":[");
    cunei_buffer_append(out, timeline->tracks.text.data, timeline->tracks.text.size);
    cunei_buffer_format(out, "],\"uncharted\":%" PRIu64, timeline->tracks.left_out);
    return rc == 0 && timeline->tags.failed ? -ENOMEM : rc;
}

/* Every thread gets an equal share. */
static void share_room(struct timeline *timeline)
{
    const struct cunei_html *html = timeline->html;
    struct cunei_thinning *thinning = &timeline->thinning;
    uint32_t threads =
        html->analysis.thread_count > 0 ? (uint32_t)html->analysis.thread_count : 1;
    uint32_t marks = MARKS_MAX_ALL / threads, shorts = html->hidden_room / threads;
    uint32_t levels = shorts / SHORT_ROOM_GOOD;

    timeline->mark_room = marks < MARKS_MIN   ? MARKS_MIN
                          : marks > MARKS_MAX ? MARKS_MAX
                                              : marks;
    timeline->tracks.duration_ns = cunei_analysis_duration_ns(&html->analysis);
    thinning->duration_ns = cunei_analysis_duration_ns(&html->analysis);
    thinning->least_ns = html->hidden_ns;
    thinning->short_levels = levels < 1                    ? 1
                             : levels > CUNEI_NOTES_LEVELS ? CUNEI_NOTES_LEVELS
                                                           : levels;
    thinning->short_room = shorts / thinning->short_levels;
}

int cunei_html_put_threads(struct cunei_html *html)
{
    struct timeline timeline = {
        .html = html,
        .types = calloc(TYPES_MAX, sizeof(char *)),
        .texts = {.max = TEXTS_MAX + 1, .max_bytes = TEXT_BYTES_MAX}};
    struct cunei_encoder encoder = cunei_notes_encoder;
    int rc = timeline.types ? 0 : -ENOMEM;

    encoder.write = take_notes;
    encoder.context = &timeline;
    share_room(&timeline);
    cunei_buffer_append_text(&html->page.text, ",\n\"threads\":[");
    if (rc == 0)
        rc = cunei_encode(html->export, &encoder);
    if (rc == 0)
        rc = end_thread(&timeline);
    cunei_buffer_append_text(&html->page.text, "]");
    put_types(&timeline);
    if (rc == 0)
        rc = put_texts(&timeline);
    for (unsigned i = 0; i < LIST_COUNT; i++)
        cunei_buffer_fini(&timeline.lists[i]);
    cunei_text_set_fini(&timeline.texts);
    cunei_counter_tracks_fini(&timeline.tracks);
    cunei_buffer_fini(&timeline.tags);
    free(timeline.types);
    free(timeline.indices);
    return rc;
}
