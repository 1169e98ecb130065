// SPDX-License-Identifier: MIT
/* Tables besides calls: processes, tasks, exceptions, garbage collections. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/export.h"
#include "export/html/html.h"
#include "export/selection.h"
#include "text/names.h"
#include "text/redact.h"
#include "text/secret_name.h"
#include "trace/process/exit_words.h"

#define HANDLERS_MAX 4u

/* Text of src/text, as JSON. */
static void put_words(struct cunei_html *html, struct cunei_buffer *words)
{
    cunei_page_text(&html->page.text, cunei_buffer_text(words), words->size);
    cunei_buffer_fini(words);
}

/* Whether the next word of a command line is the value of a secret. */
static bool is_secret_option(const char *word)
{
    return word[0] == '-' && !strchr(word, '=') &&
           cunei_is_secret_name(word, strlen(word));
}

/* A copy of the words of a command line, without secrets. */
static int redact_words(struct cunei_process *copy, const struct cunei_process *process)
{
    bool is_value = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < process->argument_count; i++) {
        const char *word = process->arguments[i];
        struct cunei_buffer text = {0};
        if (is_value && word[0] != '-')
            cunei_buffer_append_text(&text, CUNEI_REDACTED);
        else
            cunei_redact_text(&text, word, strlen(word));
        is_value = is_secret_option(word);
        rc = text.failed ? -ENOMEM
                         : cunei_process_add(&copy->arguments, &copy->argument_count,
                                             cunei_buffer_text(&text));
        cunei_buffer_fini(&text);
    }
    return rc;
}

void cunei_html_put_command(struct cunei_html *html,
                            const struct cunei_process *process)
{
    struct cunei_process copy = *process;
    struct cunei_buffer command = {0};

    copy.arguments = NULL;
    copy.argument_count = 0;
    if (redact_words(&copy, process) == 0)
        cunei_format_process(&command, &copy);
    else
        html->page.text.failed = true;
    cunei_page_redacted(&html->page.text, cunei_buffer_text(&command), command.size);
    html->page.text.failed |= command.failed;
    cunei_buffer_fini(&command);
    for (size_t i = 0; i < copy.argument_count; i++)
        free(copy.arguments[i]);
    free(copy.arguments);
}

bool cunei_html_has_process(const struct cunei_html *html, size_t index)
{
    const struct cunei_export *export = html->export;
    const struct cunei_analysis_process *process = &html->analysis.processes[index];
    size_t number = (size_t)(process->process - export->trace->processes);

    return process->thread_count > 0 || export->selections[number].is_whole;
}

int64_t cunei_html_process_row(const struct cunei_html *html, size_t index)
{
    int64_t row = 0;

    if (index >= html->analysis.process_count || index >= CUNEI_HTML_ROWS_MAX ||
        !cunei_html_has_process(html, index))
        return -1;
    for (size_t i = 0; i < index; i++)
        row += cunei_html_has_process(html, i);
    return row;
}

/* [pid, parent or -1, program, begin, end, how it ended, CPU or -1, threads, gc] */
static void put_processes(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    struct cunei_buffer *out = &html->page.text;
    const char *comma = "";

    cunei_buffer_append_text(out, ",\n\"processes\":[");
    for (size_t i = 0; i < analysis->process_count && i < CUNEI_HTML_ROWS_MAX; i++) {
        const struct cunei_analysis_process *process = &analysis->processes[i];
        struct cunei_buffer ended = {0};
        if (!cunei_html_has_process(html, i))
            continue;
        cunei_exit_words_format(process->process, &ended);
        cunei_buffer_format(out, "%s\n[%" PRIu64 ",%" PRId64 ",", comma,
                            process->process->description.pid,
                            cunei_html_process_row(html, process->parent));
        comma = ",";
        cunei_html_put_command(html, &process->process->description);
        cunei_buffer_format(out, ",%" PRIu64 ",%" PRIu64 ",",
                            cunei_export_since(html->export, process->begin_ns),
                            cunei_export_since(html->export, process->end_ns));
        put_words(html, &ended);
        cunei_buffer_format(out, ",%" PRId64 ",%zu,%" PRIu64 "]",
                            process->has_cpu ? (int64_t)process->cpu_ns : -1,
                            process->thread_count, process->collections.pause);
    }
    cunei_buffer_append_text(out, "]");
}

static int compare_tasks(const void *a, const void *b)
{
    const struct cunei_analysis_task *one =
        *(const struct cunei_analysis_task *const *)a;
    const struct cunei_analysis_task *two =
        *(const struct cunei_analysis_task *const *)b;

    if (one->run_ns != two->run_ns)
        return one->run_ns > two->run_ns ? -1 : 1;
    return one < two ? -1 : one > two;
}

static void put_task(struct cunei_html *html, const struct cunei_analysis_task *task)
{
    const struct cunei_analysis *analysis = &html->analysis;
    struct cunei_buffer *out = &html->page.text, name = {0};

    if (task->name && task->name[0])
        cunei_redact_text(&name, task->name, strlen(task->name));
    else
        cunei_buffer_format(&name, "task %" PRIu64, task->number);
    cunei_buffer_format(out, "[%" PRIu64 ",%" PRIu64 ",",
                        analysis->processes[task->process].process->description.pid,
                        task->number);
    put_words(html, &name);
    cunei_buffer_format(
        out,
        ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",\"%s\"]",
        task->function < analysis->functions.count ? (int64_t)task->function : -1,
        task->run_ns, task->wait_ns, task->steps,
        cunei_export_since(html->export, task->begin_ns),
        cunei_export_since(html->export, task->end_ns),
        task->has_raised  ? "raised"
        : task->has_ended ? "returned"
                          : "");
}

/* [pid, number, name, function or -1, run, wait, steps, begin, end, how it ended], the
 * costliest first. */
static int put_tasks(struct cunei_html *html)
{
    const struct cunei_analysis *analysis = &html->analysis;
    const struct cunei_analysis_task **order = cunei_vector_sort(
        analysis->tasks, sizeof(*analysis->tasks), analysis->task_count, compare_tasks);
    int rc = 0;

    if (!order)
        return -ENOMEM;
    cunei_buffer_append_text(&html->page.text, ",\n\"tasks\":[");
    for (size_t i = 0; rc == 0 && i < analysis->task_count && i < CUNEI_HTML_ROWS_MAX;
         i++) {
        cunei_buffer_append_text(&html->page.text, i > 0 ? ",\n" : "\n");
        put_task(html, order[i]);
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(&html->page.text, "]");
    free((void *)order);
    return rc;
}

/* [function or -1, line, count], the first few that took it. */
static void put_handlers(struct cunei_html *html, uint32_t exception)
{
    const struct cunei_exceptions *exceptions = &html->analysis.exceptions;
    struct cunei_buffer *out = &html->page.text;
    uint32_t shown = 0;

    cunei_buffer_append_text(out, ",[");
    for (uint32_t i = 1; i < exceptions->handler_count && shown < HANDLERS_MAX; i++) {
        const struct cunei_handler *handler = &exceptions->handlers[i];
        if (handler->exception != exception || handler->count <= 0)
            continue;
        cunei_buffer_format(out, "%s[%" PRId64 ",%" PRIu32 ",%" PRId64 "]",
                            shown++ > 0 ? "," : "", (int64_t)handler->slot - 1,
                            handler->line, handler->count);
    }
    cunei_buffer_append_text(out, "]");
}

/* [type, function or -1, line, raised, caught, frames they ended, handlers] */
static int put_exceptions(struct cunei_html *html)
{
    const struct cunei_exceptions *exceptions = &html->analysis.exceptions;
    struct cunei_buffer *out = &html->page.text;
    uint32_t shown = 0;
    int rc = 0;

    cunei_buffer_append_text(out, ",\n\"exceptions\":[");
    for (uint32_t i = 0;
         rc == 0 && i < exceptions->count && shown < CUNEI_HTML_ROWS_MAX; i++) {
        const struct cunei_raise *raise = &exceptions->items[i];
        if (raise->count == 0)
            continue;
        const char *type = cunei_format_type(raise->type ? raise->type : "others");
        cunei_buffer_append_text(out, shown++ > 0 ? ",\n[" : "\n[");
        cunei_page_text(out, type, strlen(type));
        cunei_buffer_format(out,
                            ",%" PRId64 ",%" PRIu32 ",%" PRIu64 ",%" PRId64 ",%" PRId64,
                            (int64_t)raise->slot - 1, raise->line, raise->count,
                            raise->caught, raise->unwound);
        put_handlers(html, i);
        cunei_buffer_append_text(out, "]");
        rc = cunei_page_flow(&html->page);
    }
    cunei_buffer_append_text(out, "]");
    return rc;
}

static void put_collections(struct cunei_html *html)
{
    const struct cunei_gc_pauses *gc = &html->analysis.collections;
    struct cunei_buffer *out = &html->page.text;

    cunei_buffer_append_text(out, ",\n\"gc\":{\"count\":[");
    for (unsigned i = 0; i < CUNEI_GENERATIONS; i++)
        cunei_buffer_format(out, "%s%" PRIu64, i > 0 ? "," : "", gc->count[i]);
    cunei_buffer_format(
        out, "],\"pause\":%" PRIu64 ",\"max\":%" PRIu64 ",\"collected\":%" PRIu64 "}",
        gc->pause, gc->pause_max, gc->collected);
}

int cunei_html_put_tables(struct cunei_html *html)
{
    put_processes(html);
    int rc = put_tasks(html);
    if (rc == 0)
        rc = put_exceptions(html);
    if (rc == 0)
        put_collections(html);
    return rc;
}
