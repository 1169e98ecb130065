// SPDX-License-Identifier: MIT
/*
 * One page for any browser: flame graph, table, timeline (web/profile.html).
 *
 * The page holds the call tree, the functions and, of each thread, the calls that are
 * long enough to be seen: a page with millions of them would not open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/page.h"
#include "export/selection.h"
#include "export/tell.h"
#include "model/tree.h"
#include "survey/survey.h"
#include "view/format.h"

#define SLICES_MAX 150000u
#define FLUSH_SIZE ((size_t)64 << 10)

/* A call that is open. */
struct open_call {
    uint64_t time;
    uint32_t function;
};

struct page {
    struct cunei_export *export;
    struct cunei_survey survey;
    struct cunei_buffer out;
    uint64_t hidden_ns;      /* calls that took less are not drawn */
    size_t process;          /* index in the trace */
    uint32_t *indices;       /* owned: of its functions in the survey, plus one */
    struct open_call *calls; /* owned: of the thread that is being told */
    size_t depth, capacity;
    uint32_t fact_count; /* functions of the survey that have facts */
    bool has_thread, has_slice;
};

static int flush(struct page *page)
{
    struct cunei_buffer *out = &page->out;

    if (out->failed)
        return -ENOMEM;
    if (out->size > 0 &&
        fwrite(out->data, 1, out->size, page->export->out) != out->size)
        return errno ? -errno : -EIO;
    cunei_buffer_clear(out);
    return 0;
}

/* JSON that may stand in a script element. */
static void put_text(struct cunei_buffer *out, const char *text)
{
    struct cunei_buffer json = {0};
    const char *from, *next;

    cunei_text_json(&json, text, strlen(text));
    for (from = json.data ? json.data : "\"\""; (next = strchr(from, '<'));
         from = next + 1) {
        cunei_buffer_append(out, from, (size_t)(next - from));
        cunei_buffer_append_text(out, "\\u003c");
    }
    cunei_buffer_append_text(out, from);
    cunei_buffer_fini(&json);
}

/* The least duration of which there are few enough, from what is known of each
 * function's: to a sixteenth. */
static uint64_t find_hidden(const struct cunei_survey *survey)
{
    uint64_t counts[CUNEI_HISTOGRAM_BUCKETS] = {0}, count = 0;
    uint32_t bucket = CUNEI_HISTOGRAM_BUCKETS;

    for (uint32_t i = 0; i < survey->functions.count; i++) {
        const struct cunei_histogram *histogram = &survey->facts[i].histogram;
        for (uint32_t j = 0; j < histogram->span; j++)
            counts[histogram->first + j] += histogram->counts[j];
    }
    while (bucket > 0 && count + counts[bucket - 1] <= SLICES_MAX)
        count += counts[--bucket];
    return cunei_histogram_least(bucket);
}

static uint32_t index_of(struct page *page, uint32_t function)
{
    const struct cunei_trace_process *process =
        &page->export->trace->processes[page->process];
    uint32_t slot = function - CUNEI_FUNCTION_FIRST;

    if (slot >= process->function_count || !process->functions[slot].module)
        return 0;
    if (page->indices[slot] == 0) {
        int index =
            cunei_functions_add(&page->survey.functions, &process->functions[slot]);
        page->indices[slot] = index < 0 ? 0 : (uint32_t)index + 1;
    }
    return page->indices[slot] > 0 ? page->indices[slot] - 1 : 0;
}

static void end_thread(struct page *page)
{
    if (page->has_thread)
        cunei_buffer_append_text(&page->out, "]}");
}

static int put_thread(struct cunei_encoding *encoding,
                      const struct cunei_packet *packet, uint64_t time, bool is_begin)
{
    struct page *page = encoding->labels;
    char name[CUNEI_PACKET_THREAD_NAME + 1] = "";
    struct cunei_buffer program = {0};

    (void)time, (void)is_begin;
    end_thread(page);
    memcpy(name, packet->thread_name, CUNEI_PACKET_THREAD_NAME);
    cunei_format_command(&program, &encoding->process->description);
    cunei_buffer_format(&page->out,
                        "%s\n{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":",
                        page->has_thread ? "," : "", packet->vpid, packet->vtid);
    put_text(&page->out, name);
    cunei_buffer_append_text(&page->out, ",\"program\":");
    put_text(&page->out, program.data ? program.data : "");
    cunei_buffer_append_text(&page->out, ",\"slices\":[");
    cunei_buffer_fini(&program);
    page->has_thread = true;
    page->has_slice = false;
    page->depth = 0;
    return 0;
}

static int put_begin(struct cunei_encoding *encoding,
                     const struct cunei_call_begin *call)
{
    struct page *page = encoding->labels;

    if (page->depth == page->capacity) {
        size_t capacity = page->capacity ? 2 * page->capacity : 256;
        struct open_call *grown = realloc(page->calls, capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        page->calls = grown;
        page->capacity = capacity;
    }
    page->calls[page->depth++] = (struct open_call){call->time, call->function};
    return 0;
}

static int put_end(struct cunei_encoding *encoding, const struct cunei_call_end *call)
{
    struct page *page = encoding->labels;

    if (page->depth == 0)
        return 0;
    const struct open_call *begun = &page->calls[--page->depth];
    uint64_t begin_ns = cunei_wall_ns(encoding->wall, begun->time);
    uint64_t took_ns = cunei_wall_ns(encoding->wall, call->time) - begin_ns;
    if (took_ns < page->hidden_ns)
        return 0;
    cunei_buffer_format(&page->out, "%s%" PRIu64 ",%" PRIu64 ",%zu,%" PRIu32,
                        page->has_slice ? "," : "", begin_ns - page->export->origin_ns,
                        took_ns, page->depth, index_of(page, begun->function));
    page->has_slice = true;
    return page->out.size > FLUSH_SIZE ? flush(page) : 0;
}

static const struct cunei_encoder encoder = {
    .thread = put_thread,
    .begin = put_begin,
    .end = put_end,
};

static int put_process(struct page *page)
{
    const struct cunei_trace_process *process =
        &page->export->trace->processes[page->process];
    struct cunei_encoding encoding = {
        .export = page->export,
        .encoder = &encoder,
        .process = process,
        .wall = &page->export->selections[page->process].wall,
        .labels = page,
    };
    int rc = 0;

    free(page->indices);
    page->indices = calloc(process->function_count + (size_t)1, sizeof(uint32_t));
    if (!page->indices)
        return -ENOMEM;
    for (size_t i = 0; rc == 0 && i < process->stream_count; i++) {
        if (process->streams[i].stream_class == CUNEI_STREAM_EVENTS)
            rc = cunei_tell_stream(page->export, page->process, &process->streams[i],
                                   &encoding);
    }
    return rc;
}

static int put_threads(struct page *page)
{
    int rc = 0;

    cunei_buffer_append_text(&page->out, ",\n\"threads\":[");
    for (size_t i = 0; rc == 0 && i < page->export->trace->process_count; i++) {
        page->process = i;
        if (page->export->selections[i].is_wanted)
            rc = put_process(page);
    }
    end_thread(page);
    cunei_buffer_append_text(&page->out, "]");
    return rc;
}

static int put_functions(struct page *page)
{
    static const struct cunei_survey_function none = {0};
    const struct cunei_survey *survey = &page->survey;
    struct cunei_buffer *out = &page->out;
    int rc = 0;

    cunei_buffer_append_text(out, ",\n\"functions\":[");
    for (uint32_t i = 0; rc == 0 && i < survey->functions.count; i++) {
        const struct cunei_function *names = &survey->functions.items[i];
        const struct cunei_survey_function *facts =
            i < page->fact_count ? &survey->facts[i] : &none;
        cunei_buffer_append_text(out, i > 0 ? ",\n[" : "\n[");
        put_text(out, names->qualname);
        cunei_buffer_append_text(out, ",");
        put_text(out, names->module);
        cunei_buffer_append_text(out, ",");
        put_text(out, names->file);
        cunei_buffer_format(out,
                            ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                            ",%" PRIu64 "]",
                            names->line, facts->calls, facts->resumes, facts->self_ns,
                            facts->total_ns, facts->max_ns);
        if (out->size > FLUSH_SIZE)
            rc = flush(page);
    }
    cunei_buffer_append_text(out, "]");
    return rc;
}

enum column {
    COLUMN_PARENT,
    COLUMN_FUNCTION,
    COLUMN_SELF,
    COLUMN_CALLS,
};

static int put_column(struct page *page, const char *name, enum column column)
{
    const struct cunei_tree *tree = page->survey.tree;
    int rc = 0;

    cunei_buffer_format(&page->out, "%s\"%s\":[", column == COLUMN_PARENT ? "" : ",\n",
                        name);
    for (uint32_t i = 0; rc == 0 && i < tree->count; i++) {
        const struct cunei_node *node = &tree->nodes[i];
        uint64_t value = column == COLUMN_PARENT     ? node->parent
                         : column == COLUMN_FUNCTION ? (node->slot ? node->slot - 1 : 0)
                         : column == COLUMN_SELF     ? (i ? node->self : 0)
                                                     : node->calls;
        cunei_buffer_format(&page->out, "%s%" PRIu64, i > 0 ? "," : "", value);
        if (page->out.size > FLUSH_SIZE)
            rc = flush(page);
    }
    cunei_buffer_append_text(&page->out, "]");
    return rc;
}

static int put_tree(struct page *page)
{
    cunei_buffer_append_text(&page->out, ",\n\"tree\":{");
    int rc = put_column(page, "parent", COLUMN_PARENT);
    if (rc == 0)
        rc = put_column(page, "function", COLUMN_FUNCTION);
    if (rc == 0)
        rc = put_column(page, "self", COLUMN_SELF);
    if (rc == 0)
        rc = put_column(page, "calls", COLUMN_CALLS);
    cunei_buffer_append_text(&page->out, "}");
    return rc;
}

static void put_head(struct page *page)
{
    const struct cunei_survey *survey = &page->survey;
    struct cunei_buffer text = {0};

    if (survey->process_count > 0)
        cunei_format_program(&text, &survey->processes[0].process->description);
    cunei_buffer_append_text(&page->out, "{\"program\":");
    put_text(&page->out, text.data ? text.data : "");
    cunei_buffer_clear(&text);
    cunei_format_duration(&text, cunei_survey_duration_ns(survey));
    cunei_buffer_append_text(&text, " · ");
    cunei_format_several(&text, survey->calls, "call");
    cunei_buffer_append_text(&text, " · ");
    cunei_format_several(&text, survey->thread_count, "thread");
    if (survey->process_count > 1)
        cunei_buffer_format(&text, " · %zu processes", survey->process_count);
    if (survey->lost > 0) {
        cunei_buffer_append_text(&text, " · ");
        cunei_format_several(&text, survey->lost, "lost event");
    }
    cunei_buffer_append_text(&page->out, ",\"facts\":");
    put_text(&page->out, text.data);
    cunei_buffer_format(&page->out,
                        ",\"duration_ns\":%" PRIu64 ",\"hidden_ns\":%" PRIu64,
                        cunei_survey_duration_ns(survey), page->hidden_ns);
    cunei_buffer_fini(&text);
}

static int put_page(struct page *page)
{
    page->hidden_ns = find_hidden(&page->survey);
    page->fact_count = page->survey.functions.count;
    cunei_buffer_append(&page->out, page_begin, sizeof(page_begin));
    put_head(page);
    int rc = put_tree(page);
    if (rc == 0)
        rc = put_threads(page);
    if (rc == 0)
        rc = put_functions(page);
    cunei_buffer_append_text(&page->out, "}");
    cunei_buffer_append(&page->out, page_end, sizeof(page_end));
    return rc == 0 ? flush(page) : rc;
}

int cunei_export_html(struct cunei_export *export)
{
    struct page page = {.export = export};

    int rc = cunei_selection_survey(export, true, false, &page.survey);
    if (rc < 0)
        return rc;
    size_t damages = export->damage_count;
    rc = put_page(&page);
    export->damage_count = damages; /* the same ones, seen again */
    /* The facts are those of the first so many functions. */
    page.survey.functions.count = page.fact_count;
    cunei_buffer_fini(&page.out);
    free(page.indices);
    free(page.calls);
    cunei_survey_fini(&page.survey);
    return rc;
}
