// SPDX-License-Identifier: MIT
/*
 * The source of functions: of those whose lines were recorded, of those that took the
 * most time, and of the program's own.
 *
 * A trace names files, and may come from others: only files that are Python source get
 * into the page.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_stamp.h"
#include "base/pattern.h"
#include "base/units.h"
#include "export/export.h"
#include "export/html/html.h"
#include "text/redact.h"
#include "trace/source_code/recorded_source.h"
#include "trace/source_code/source_file.h"

#define FUNCTIONS_MAX 400u
#define COSTLY_MAX    100u /* of them, whatever file they are in */
#define LINES_MAX     1000u
#define BYTES_MAX     (768u << 10)
#define CONTEXT       2u /* lines before and after */

/* Why the source of a function is in the page; the later ones come first. */
enum reason {
    REASON_NONE,
    REASON_OWN, /* it is the program's own */
    REASON_COSTLY,
    REASON_LINES, /* its lines were recorded */
};

struct wanted {
    const struct cunei_function *function;
    uint32_t index;
    enum reason reason;
    bool is_own;
    uint64_t self_ns;
    uint32_t first, last; /* its lines; 0: they are not known */
};

struct sources {
    struct cunei_html *html;
    const struct cunei_process *home;
    struct cunei_file_stamps stamps;
    struct wanted *items; /* owned */
    uint32_t count, file_count, block_count;
    size_t bytes;
    struct cunei_buffer blocks;
};

static int compare_costs(const void *a, const void *b)
{
    const struct wanted *one = a, *two = b;

    if (one->reason != two->reason)
        return one->reason > two->reason ? -1 : 1;
    if (one->self_ns != two->self_ns)
        return one->self_ns > two->self_ns ? -1 : 1;
    return one->index < two->index ? -1 : one->index > two->index;
}

static int compare_places(const void *a, const void *b)
{
    const struct wanted *one = a, *two = b;
    int order = strcmp(one->function->file, two->function->file);

    if (order != 0)
        return order;
    if (one->function->line != two->function->line)
        return one->function->line < two->function->line ? -1 : 1;
    return one->index < two->index ? -1 : one->index > two->index;
}

static bool is_module(const struct cunei_function *function)
{
    return strcmp(function->qualname, "<module>") == 0;
}

/* The code of a library's modules only defines what is in them. */
static bool may_have_source(const struct wanted *item)
{
    const struct cunei_function *function = item->function;

    return function->file[0] && function->file[0] != '<' && function->line > 0 &&
           (item->is_own || !is_module(function));
}

/* All functions that may have source. */
static int collect(struct sources *sources)
{
    const struct cunei_analysis *analysis = &sources->html->analysis;
    struct cunei_patterns project = {.project = cunei_analysis_project(analysis)};

    sources->items =
        calloc((size_t)analysis->functions.count + 1, sizeof(*sources->items));
    int rc = sources->items
                 ? cunei_patterns_add(&project, true, CUNEI_PATTERN_PROJECT, NULL, 0)
                 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < analysis->functions.count; i++) {
        const struct cunei_function *function = &analysis->functions.items[i];
        struct wanted *item = &sources->items[sources->count];
        *item = (struct wanted){
            .function = function,
            .index = i,
            .is_own = cunei_patterns_include(&project, function->module,
                                             function->qualname, function->file),
            .self_ns = analysis->facts[i].self_ns,
        };
        sources->count += may_have_source(item) && analysis->facts[i].total_ns > 0;
    }
    cunei_patterns_fini(&project);
    return rc;
}

/* Keep those that there is a reason for, up to the limit, in the order of files. */
static int choose(struct sources *sources)
{
    const struct cunei_analysis *analysis = &sources->html->analysis;
    bool *has_lines = calloc((size_t)analysis->functions.count + 1, sizeof(*has_lines));
    if (!has_lines)
        return -ENOMEM;

    for (uint32_t i = 1; i < analysis->lines.count; i++)
        has_lines[analysis->lines.items[i].function] = true;
    qsort(sources->items, sources->count, sizeof(*sources->items), compare_costs);
    for (uint32_t i = 0; i < sources->count; i++) {
        struct wanted *item = &sources->items[i];
        item->reason = has_lines[item->index + 1] ? REASON_LINES
                       : i < COSTLY_MAX           ? REASON_COSTLY
                       : item->is_own             ? REASON_OWN
                                                  : REASON_NONE;
    }
    qsort(sources->items, sources->count, sizeof(*sources->items), compare_costs);
    if (sources->count > FUNCTIONS_MAX)
        sources->count = FUNCTIONS_MAX;
    while (sources->count > 0 &&
           sources->items[sources->count - 1].reason == REASON_NONE)
        sources->count--;
    qsort(sources->items, sources->count, sizeof(*sources->items), compare_places);
    free(has_lines);
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), length = strlen(end);

    return size >= length && strcmp(text + size - length, end) == 0;
}

/* A script without a suffix begins with #!/usr/bin/python. */
static bool is_python(const char *path, const struct cunei_source_file *source)
{
    size_t size = 0;
    const char *line = cunei_source_file_line(source, 1, &size);
    const char *word = line ? strstr(line, "python") : NULL;

    return ends_with(path, ".py") || ends_with(path, ".pyw") ||
           (word && strncmp(line, "#!", 2) == 0 && word < line + size);
}

/* Read a file without its secrets. */
static int read_file(struct cunei_source_file *source, const char *path)
{
    struct cunei_buffer text = {0};

    int rc = cunei_source_file_read(source, path);
    if (rc < 0)
        return rc;
    if (is_python(path, source) && source->count > 0)
        cunei_redact_source(&text, source->text, source->begins[source->count]);
    else
        rc = -ENOENT;
    cunei_source_file_fini(source);
    cunei_buffer_append(&text, "", 1);
    if (rc == 0 && !text.failed)
        return cunei_source_file_take(source, text.data, text.size - 1);
    cunei_buffer_fini(&text);
    return rc < 0 ? rc : -ENOMEM;
}

/* Whether a file is another one than was recorded: by the stamp that a function has
 * whose lines were recorded, else by its time. */
static bool has_changed(struct sources *sources, const struct wanted *items,
                        uint32_t count, const char *path)
{
    uint32_t stamped = 0;
    struct stat status;

    while (stamped + 1 < count && items[stamped].function->source == 0)
        stamped++;
    enum cunei_source_state state = cunei_recorded_source_state(
        items[stamped].function, sources->home, &sources->stamps);

    if (state != CUNEI_SOURCE_UNKNOWN || stat(path, &status) < 0)
        return state == CUNEI_SOURCE_CHANGED;
    uint64_t changed_ns = (uint64_t)status.st_mtim.tv_sec * CUNEI_NS_PER_S +
                          (uint64_t)status.st_mtim.tv_nsec;
    return changed_ns > sources->html->analysis.end_ns;
}

/* Find the lines of a function; none if they are too many. */
static void find_lines(struct wanted *item, const struct cunei_source_file *source)
{
    uint32_t first = is_module(item->function) ? 1 : item->function->line;
    uint32_t last = is_module(item->function) ? source->count
                                              : cunei_source_file_block(source, first);

    if (first > source->count)
        return;
    item->first = first;
    item->last = last - first < LINES_MAX ? last : first + LINES_MAX;
}

/* Lines as one text; their line breaks are \n. */
static void put_lines(struct sources *sources, const struct cunei_source_file *source,
                      uint32_t first, uint32_t last)
{
    struct cunei_buffer text = {0};

    for (uint32_t line = first; line <= last; line++) {
        size_t size = 0;
        const char *from = cunei_source_file_line(source, line, &size);
        cunei_buffer_append_text(&text, line > first ? "\n" : "");
        cunei_buffer_append(&text, from, size);
    }
    cunei_page_text(&sources->html->page.text, cunei_buffer_text(&text), text.size);
    sources->html->page.text.failed |= text.failed;
    sources->bytes += text.size;
    cunei_buffer_fini(&text);
}

/* [[first line, text],…] of the lines of these functions, each line once. */
static void put_parts(struct sources *sources, const struct cunei_source_file *source,
                      const struct wanted *items, uint32_t count)
{
    struct cunei_buffer *out = &sources->html->page.text;
    uint32_t next = 1; /* the first line that is not there yet */

    cunei_buffer_append_text(out, "[");
    for (uint32_t i = 0; i < count && items[i].first > 0;) {
        uint32_t first = items[i].first > CONTEXT ? items[i].first - CONTEXT : 1;
        uint32_t last = items[i].last;
        while (++i < count && items[i].first > 0 &&
               items[i].first <= last + 2 * CONTEXT)
            last = items[i].last > last ? items[i].last : last;
        last = last + CONTEXT < source->count ? last + CONTEXT : source->count;
        cunei_buffer_format(out, "%s[%" PRIu32 ",", next > 1 ? "," : "", first);
        put_lines(sources, source, first, last);
        cunei_buffer_append_text(out, "]");
        next = last + 1;
    }
    cunei_buffer_append_text(out, "]");
}

/* [file, whether it has changed, parts], and the functions' blocks. */
static void put_file(struct sources *sources, const struct cunei_source_file *source,
                     struct wanted *items, uint32_t count, const char *path)
{
    struct cunei_buffer *out = &sources->html->page.text;

    cunei_buffer_append_text(out, sources->file_count > 0 ? ",\n[" : "\n[");
    cunei_page_text(out, items->function->file, strlen(items->function->file));
    cunei_buffer_format(out, ",%d,", has_changed(sources, items, count, path));
    for (uint32_t i = 0; i < count; i++) {
        find_lines(&items[i], source);
        if (items[i].first > 0)
            cunei_buffer_format(&sources->blocks,
                                "%s%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32,
                                sources->block_count++ > 0 ? "," : "", items[i].index,
                                sources->file_count, items[i].first, items[i].last);
    }
    put_parts(sources, source, items, count);
    cunei_buffer_append_text(out, "]");
    sources->file_count++;
}

/* The functions of one file, from `at` on; returns how many. */
static uint32_t put_functions(struct sources *sources, uint32_t at)
{
    struct wanted *items = &sources->items[at];
    struct cunei_source_file source;
    struct cunei_buffer path = {0};
    uint32_t count = 1;

    while (at + count < sources->count &&
           strcmp(items[count].function->file, items->function->file) == 0)
        count++;
    cunei_recorded_source_path(&path, items->function, sources->home);
    if (!path.failed && sources->bytes < BYTES_MAX &&
        read_file(&source, path.data) == 0) {
        put_file(sources, &source, items, count, path.data);
        cunei_source_file_fini(&source);
    }
    sources->html->page.text.failed |= path.failed;
    cunei_buffer_fini(&path);
    return count;
}

/* [function, line, hits, time, …] */
static int put_hits(struct cunei_html *html)
{
    const struct cunei_lines *lines = &html->analysis.lines;
    struct cunei_buffer *out = &html->page.text;
    const char *comma = "";
    int rc = 0;

    cunei_buffer_append_text(out, ",\n\"lines\":[");
    for (uint32_t i = 1; rc == 0 && i < lines->count; i++) {
        const struct cunei_line_facts *line = &lines->items[i];
        if (line->function == 0)
            continue;
        cunei_buffer_format(out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64,
                            comma, line->function - 1, line->line, line->hits,
                            line->time);
        comma = ",";
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(out, "]");
    return rc;
}

int cunei_html_put_sources(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    struct cunei_buffer *out = &html->page.text;
    struct sources sources = {.html = html};
    int rc = 0;

    if (analysis->process_count > 0)
        sources.home = &analysis->processes[0].process->description;
    if (!html->export->options->hide_source)
        rc = collect(&sources);
    if (rc == 0 && sources.count > 0)
        rc = choose(&sources);
    cunei_buffer_append_text(out, ",\n\"sources\":[");
    for (uint32_t i = 0; rc == 0 && i < sources.count;) {
        i += put_functions(&sources, i);
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(out, "],\n\"blocks\":[");
    cunei_buffer_append(out, sources.blocks.data, sources.blocks.size);
    cunei_buffer_append_text(out, "]");
    out->failed |= sources.blocks.failed;
    cunei_buffer_fini(&sources.blocks);
    free(sources.items);
    return rc == 0 ? put_hits(html) : rc;
}
