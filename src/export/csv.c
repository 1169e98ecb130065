// SPDX-License-Identifier: MIT
/*
 * A table with a row for each span (model/spans/spans.h), and for each event of the
 * program's own, for pandas, DuckDB and Spark.
 *
 * A row is written when its span ends.  If that began in an earlier piece, the piece in
 * which it ends keeps what it knows, and the join of the two writes the row.  Both ends
 * of a span are rounded to nanoseconds, so that a duration is exactly the self time
 * plus the durations of the spans directly inside.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "export/encode_pieces.h"
#include "export/encoder.h"
#include "export/escaped_name.h"
#include "export/export.h"
#include "export/fast_put.h"
#include "export/function_labels.h"
#include "export/writers.h"
#include "wire/user_event.h"

struct row {
    uint32_t function;
    enum cunei_span_begin how;
    uint64_t start_ns;
    uint64_t other_ns; /* in the spans inside, or in a loss of events */
    size_t text;       /* where its arguments begin in `texts` */
};

/* A span that began in another piece and ended here. */
struct remainder {
    uint64_t other_ns;
    uint64_t end_ns;
    enum cunei_span_end how;
    size_t text; /* its result in `results`, … */
    size_t size; /* … so long */
};

struct state {
    uint32_t pid, tid;
    uint64_t last_ns;
    struct row *rows; /* owned: the open spans */
    uint32_t count, capacity;
    uint32_t adopted;             /* how many of them began in another piece */
    struct remainder *remainders; /* owned */
    uint32_t remainder_count, remainder_capacity;
    struct cunei_buffer texts; /* of the spans that are open */
    struct cunei_buffer results;
};

/* Room for all of a row but for texts. */
#define ROW_ROOM 160u

/* A field, quoted where it must be. */
static void put_field(struct cunei_buffer *out, const char *text, size_t size)
{
    bool is_plain = true;

    for (size_t i = 0; is_plain && i < size; i++)
        is_plain = !strchr("\",\n\r", text[i]);
    if (is_plain) {
        cunei_buffer_append(out, text, size);
        return;
    }
    cunei_buffer_append_text(out, "\"");
    for (size_t i = 0; i < size; i++)
        cunei_buffer_append(out, text[i] == '"' ? "\"\"" : text + i,
                            text[i] == '"' ? 2 : 1);
    cunei_buffer_append_text(out, "\"");
}

/* Spreadsheets take a field that begins with any of these for a formula, and run it. */
static bool is_formula(const struct cunei_buffer *name)
{
    /* In some languages also the full-width forms: U+FF0B, U+FF0D, U+FF1D, U+FF20. */
    static const char *const full_width[] = {"\xef\xbc\x8b", "\xef\xbc\x8d",
                                             "\xef\xbc\x9d", "\xef\xbc\xa0"};
    bool is_wide = false;

    for (size_t i = 0; i < sizeof(full_width) / sizeof(full_width[0]); i++)
        is_wide |= name->size >= 3 && memcmp(name->data, full_width[i], 3) == 0;
    return is_wide || (name->size > 0 && strchr("=+-@", name->data[0]));
}

/* A field whose text the program chose.  An apostrophe keeps it a text. */
static void put_name(struct cunei_buffer *out, const struct cunei_buffer *name,
                     bool is_raw)
{
    struct cunei_buffer text = {0};

    if (!is_raw && is_formula(name))
        cunei_buffer_append_text(&text, "'");
    cunei_buffer_append(&text, cunei_buffer_text(name), name->size);
    put_field(out, cunei_buffer_text(&text), text.size);
    out->failed |= name->failed || text.failed;
    cunei_buffer_fini(&text);
}

static void render_as(struct cunei_buffer *out, const struct cunei_function *function,
                      bool is_raw)
{
    struct cunei_buffer name = {0};

    cunei_escaped_name_put_function(&name, function, '\0');
    put_name(out, &name, is_raw);
    cunei_buffer_fini(&name);
}

static void render(struct cunei_buffer *out, const struct cunei_function *function)
{
    render_as(out, function, false);
}

static void render_raw(struct cunei_buffer *out, const struct cunei_function *function)
{
    render_as(out, function, true);
}

static void *prepare(const struct cunei_export *export,
                     const struct cunei_trace_process *process)
{
    return cunei_function_labels_make(export, process,
                                      export->options->raw_cells ? render_raw : render);
}

static uint64_t ns_of(struct cunei_encoding *encoding, uint64_t time)
{
    struct state *state = encoding->state;

    state->last_ns =
        cunei_export_since(encoding->export, cunei_wall_clock_ns(encoding->wall, time));
    return state->last_ns;
}

static int push(struct state *state, struct row row)
{
    if (!CUNEI_VECTOR_RESERVE(state->rows, state->capacity, state->count + 1))
        return -ENOMEM;
    state->rows[state->count++] = row;
    return 0;
}

/* The values of a call as a JSON object, quoted. */
static void put_values(struct cunei_buffer *out, const char *text, size_t size,
                       const char *result, size_t result_size)
{
    struct cunei_buffer json = {0};

    if (size + result_size == 0)
        return;
    cunei_buffer_append_text(&json, "{");
    cunei_buffer_append(&json, text, size);
    if (result_size > 0) {
        cunei_buffer_append_text(&json, size > 0 ? ",\"return\":" : "\"return\":");
        cunei_buffer_append(&json, result, result_size);
    }
    cunei_buffer_append_text(&json, "}");
    put_field(out, cunei_buffer_text(&json), json.size);
    out->failed |= json.failed;
    cunei_buffer_fini(&json);
}

/* An empty buffer has no memory. */
static const char *text_at(const struct cunei_buffer *texts, size_t offset)
{
    return texts->data ? texts->data + offset : "";
}

/* The innermost span ends: write its row, and add it to the span around it. */
static void put_row(struct cunei_encoding *encoding, uint64_t end_ns,
                    enum cunei_span_end how, const char *result, size_t result_size)
{
    static const char *const kinds[] = {
        [CUNEI_BEGIN_CALL] = "call",
        [CUNEI_BEGIN_RESUME] = "resume",
        [CUNEI_BEGIN_SWITCH] = "switch",
        [CUNEI_BEGIN_FOUND] = "found",
    };
    static const char *const outcomes[] = {
        [CUNEI_END_RETURN] = "return", [CUNEI_END_YIELD] = "yield",
        [CUNEI_END_RAISE] = "raise",   [CUNEI_END_SWITCH] = "switch",
        [CUNEI_END_UNSEEN] = "unseen", [CUNEI_END_OPEN] = "open",
    };
    struct state *state = encoding->state;
    struct row row = state->rows[--state->count];
    struct row *parent = state->count > 0 ? &state->rows[state->count - 1] : NULL;
    uint64_t duration_ns = end_ns - row.start_ns;
    size_t size = 0, parent_size = 0;
    const char *name =
        cunei_function_labels_find(encoding->shared, row.function, &size);
    const char *parent_name =
        parent ? cunei_function_labels_find(encoding->shared, parent->function,
                                            &parent_size)
               : "";
    char *at = cunei_buffer_room(&encoding->out, ROW_ROOM + size + parent_size);

    if (parent)
        parent->other_ns += duration_ns;
    if (!at)
        return;
    at = cunei_put_number(at, state->pid);
    *at++ = ',';
    at = cunei_put_number(at, state->tid);
    *at++ = ',';
    at = cunei_put(at, name, size);
    *at++ = ',';
    at = cunei_put_number(at, row.start_ns);
    *at++ = ',';
    at = cunei_put_number(at, duration_ns);
    *at++ = ',';
    at = cunei_put_number(at, duration_ns - row.other_ns);
    *at++ = ',';
    at = cunei_put_number(at, state->count);
    *at++ = ',';
    at = cunei_put(at, parent_name, parent_size);
    *at++ = ',';
    at = cunei_put(at, kinds[row.how], strlen(kinds[row.how]));
    *at++ = ',';
    at = cunei_put(at, outcomes[how], strlen(outcomes[how]));
    *at++ = ',';
    cunei_buffer_grow(&encoding->out, at);
    put_values(&encoding->out, text_at(&state->texts, row.text),
               state->texts.size - row.text, result, result_size);
    state->texts.size = row.text;
    cunei_buffer_append(&encoding->out, "\n", 1);
}

static int begin_thread(struct cunei_encoding *encoding,
                        const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct state *state = encoding->state;

    state->pid = packet->vpid;
    state->tid = packet->vtid;
    if (is_begin || state->last_ns == 0)
        (void)ns_of(encoding, time);
    return 0;
}

static int adopt(struct cunei_encoding *encoding, uint32_t function)
{
    struct state *state = encoding->state;

    state->adopted++;
    return push(state, (struct row){.function = function});
}

static int begin_row(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct state *state = encoding->state;
    struct cunei_buffer *texts = &state->texts;
    struct row row = {.function = call->function,
                      .how = call->how,
                      .start_ns = ns_of(encoding, call->time),
                      .text = texts->size};

    for (size_t i = 0; i < call->argument_count; i++) {
        const struct cunei_value *value = &call->arguments[i];
        if (i > 0)
            cunei_buffer_append_text(texts, ",");
        cunei_text_json(texts, value->name, value->name_size);
        cunei_buffer_append_text(texts, ":");
        cunei_text_json(texts, value->text, value->size);
    }
    return texts->failed ? -ENOMEM : push(state, row);
}

/* Keep what is known of a span that began elsewhere. */
static int add_remainder(struct state *state, struct remainder remainder)
{
    if (!CUNEI_VECTOR_RESERVE(state->remainders, state->remainder_capacity,
                              state->remainder_count + 1))
        return -ENOMEM;
    state->remainders[state->remainder_count++] = remainder;
    return 0;
}

static int end_row(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    struct state *state = encoding->state;
    struct cunei_buffer *results = &state->results;
    uint64_t end_ns = ns_of(encoding, call->time);
    size_t text = results->size;

    if (call->result)
        cunei_text_json(results, call->result->text, call->result->size);
    size_t size = results->size - text;
    if (results->failed)
        return -ENOMEM;
    if (state->count > state->adopted) {
        put_row(encoding, end_ns, call->how, text_at(results, text), size);
        results->size = text;
        return 0;
    }
    state->adopted--;
    return add_remainder(
        state, (struct remainder){.other_ns = state->rows[--state->count].other_ns,
                                  .end_ns = end_ns,
                                  .how = call->how,
                                  .text = text,
                                  .size = size});
}

/* Time without events is not self time of any span. */
static int pass_loss(struct cunei_encoding *encoding, const struct cunei_loss *loss)
{
    struct state *state = encoding->state;
    uint64_t before_ns = state->last_ns;

    uint64_t gap_ns = ns_of(encoding, loss->end) - before_ns;
    if (state->count > 0)
        state->rows[state->count - 1].other_ns += gap_ns;
    return 0;
}

/* A row of an instant: it takes no time, and belongs to the innermost span. */
static void put_instant_row(struct cunei_encoding *encoding,
                            const struct cunei_instant *instant)
{
    struct state *state = encoding->state;
    struct row *parent = state->count > 0 ? &state->rows[state->count - 1] : NULL;
    struct cunei_buffer *out = &encoding->out, json = {0}, name = {0};
    size_t parent_size = 0;
    const char *parent_name =
        parent ? cunei_function_labels_find(encoding->shared, parent->function,
                                            &parent_size)
               : "";

    cunei_instant_put_json(instant, &json);
    cunei_buffer_format(out, "%" PRIu32 ",%" PRIu32 ",", state->pid, state->tid);
    cunei_escaped_name_put(&name, instant->name, instant->name_size, '\0');
    put_name(out, &name, encoding->export->options->raw_cells);
    cunei_buffer_format(out, ",%" PRIu64 ",0,0,%" PRIu32 ",", state->last_ns,
                        state->count);
    cunei_buffer_append(out, parent_name, parent_size);
    cunei_buffer_format(out, ",%s,,", instant->category);
    put_field(out, cunei_buffer_text(&json), json.size);
    cunei_buffer_append_text(out, "\n");
    out->failed |= json.failed;
    cunei_buffer_fini(&json);
    cunei_buffer_fini(&name);
}

/* An exception has no row: it is the outcome of the spans that it ends. */
static int put_instant(struct cunei_encoding *encoding,
                       const struct cunei_instant *instant, uint64_t time)
{
    struct cunei_instant row = *instant;

    (void)ns_of(encoding, time);
    if (instant->class == CUNEI_CLASS_EXCEPTION)
        return 0;
    if (instant->class == CUNEI_CLASS_TAG) /* functions have their module here */
        row.details[0].text = cunei_function_labels_find(
            encoding->shared, instant->value->target, &row.details[0].size);
    put_instant_row(encoding, &row);
    return 0;
}

static int pass_event(struct cunei_encoding *encoding, const uint64_t *event,
                      uint64_t time)
{
    (void)event;
    (void)ns_of(encoding, time);
    return 0;
}

/* Add what a piece knows of the spans that are open in the join, and its own. */
static int join(struct cunei_encoding *joined, struct cunei_encoding *piece)
{
    struct state *before = joined->state;
    const struct state *after = piece->state;
    int rc = 0;

    for (uint32_t i = 0; i < after->remainder_count && before->count > 0; i++) {
        const struct remainder *remainder = &after->remainders[i];
        before->rows[before->count - 1].other_ns += remainder->other_ns;
        put_row(joined, remainder->end_ns, remainder->how,
                text_at(&after->results, remainder->text), remainder->size);
    }
    for (uint32_t i = 0; i < after->adopted && i < before->count; i++)
        before->rows[i].other_ns += after->rows[i].other_ns;
    for (uint32_t i = after->adopted; rc == 0 && i < after->count; i++) {
        struct row row = after->rows[i];
        size_t end = i + 1 < after->count ? after->rows[i + 1].text : after->texts.size;
        row.text = before->texts.size;
        cunei_buffer_append(&before->texts, text_at(&after->texts, after->rows[i].text),
                            end - after->rows[i].text);
        rc = before->texts.failed ? -ENOMEM : push(before, row);
    }
    if (after->last_ns > 0)
        before->last_ns = after->last_ns;
    return rc;
}

static void release(struct cunei_encoding *encoding)
{
    struct state *state = encoding->state;

    free(state->rows);
    free(state->remainders);
    cunei_buffer_fini(&state->texts);
    cunei_buffer_fini(&state->results);
    *state = (struct state){0};
}

static const struct cunei_encoder encoder = {
    .thread = begin_thread,
    .adopt = adopt,
    .begin = begin_row,
    .end = end_row,
    .instant = put_instant,
    .event = pass_event,
    .lost = pass_loss,
    .prepare = prepare,
    .dispose = cunei_function_labels_free,
    .join = join,
    .release = release,
    .state_size = sizeof(struct state),
};

int cunei_export_csv(struct cunei_export *export)
{
    /* Quoted: readers that look at the first rows alone, as DuckDB does at 20 480,
     * would else take a quote that comes later for a letter. */
    (void)fputs("\"process\",\"thread\",\"function\",\"start\",\"duration\",\"self\","
                "\"depth\",\"parent\",\"kind\",\"outcome\",\"arguments\"\n",
                export->out);
    return cunei_encode(export, &encoder);
}
