// SPDX-License-Identifier: MIT
#include "cmd/report_show.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/pattern.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/output.h"
#include "cmd/common/progress_bar.h"
#include "cmd/suggest/lines.h"
#include "python/refusals.h"
#include "report/report.h"
#include "trace/directory/trace.h"

static int fail(int rc, const char *path, const struct cunei_report_options *wanted,
                const struct cunei_trace *trace)
{
    const struct cunei_report_missing *missing = wanted->missing;
    const char *name = missing->name;
    struct cunei_patterns none = {0};
    char reason[200] = "";

    if (missing->is_line && (rc == -ENODATA || rc == -ENOENT)) {
        struct cunei_buffer sentence = {0};
        cunei_suggest_lines(trace, path, missing, rc == -ENODATA, &sentence);
        int status = cunei_cmd_fail(0, "%s", sentence.data ? sentence.data : path);
        cunei_buffer_fini(&sentence);
        return status;
    }
    switch (rc) {
    case -ENOENT:
        return cunei_cmd_fail(0,
                              "no function called in '%s' matches '%s'; try a glob "
                              "such as '*%s*', or list all of them with 'cunei "
                              "report %s --limit 0 --sort name'",
                              path, name, name, path);
    case -EINVAL:
        (void)cunei_patterns_add(&none, true, name, reason, sizeof(reason));
        cunei_patterns_fini(&none);
        return cunei_cmd_usage("'%s' is not a valid pattern: %s", name, reason);
    default:
        return cunei_cmd_fail(rc, "cannot report on '%s'", path);
    }
}

/* A report before it is printed. */
struct text {
    char *data; /* owned; NULL: it is printed already */
    size_t size;
    struct cunei_trace_error damage; /* empty: none */
};

/* JSON can be long.  It is printed at once only if a name is asked for: a name without
 * rows is an error, found after other sections were printed. */
static bool is_streamed(const struct cunei_report_options *wanted)
{
    bool has_names = false;

    for (size_t i = 0; i < CUNEI_REPORT_SECTIONS_MAX; i++)
        has_names |= wanted->sections[i].name_count > 0;
    return wanted->json && !has_names;
}

static void clear_progress(void *progress)
{
    cunei_progress_bar_clear(progress);
    (void)fflush(stderr);
}

/* Make the report.  It goes to `text`, owned by the caller, so that the progress bar is
 * gone before it is printed, and nothing is printed on failure; streamed JSON goes to
 * `out`.  Of a damaged trace the intact part is reported.  Returns the exit status. */
static int render(const char *path, const struct cunei_report_options *wanted,
                  FILE *out, struct text *text)
{
    struct cunei_progress_bar progress = {.what = "reading"};
    struct cunei_report_options copy = *wanted;
    struct cunei_refusals refusals = {0};
    struct cunei_trace trace;
    struct cunei_report_missing missing = {0};

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != 0)
        return status;
    status = cunei_cmd_check_choice(&trace, path, &copy.processes);
    if (status != 0) {
        cunei_trace_close(&trace);
        return status;
    }
    cunei_cmd_read_refusals(path, &trace, &refusals);
    copy.refusals = &refusals;
    FILE *whole = is_streamed(wanted) ? out : open_memstream(&text->data, &text->size);
    copy.missing = &missing;
    copy.progress = cunei_progress_bar_show;
    copy.progress_context = &progress;
    copy.begin = clear_progress;
    if (!isatty(fileno(out)) && !getenv("COLUMNS"))
        copy.style.width = 0; /* in files and pipes nothing is shortened */
    int rc = whole ? cunei_report_print(&trace, &copy, whole, &text->damage) : -ENOMEM;
    if (whole && whole != out && fclose(whole) != 0)
        rc = -ENOMEM;
    cunei_progress_bar_clear(&progress);
    status = rc < 0 && rc != -EBADMSG ? fail(rc, path, &copy, &trace) : EXIT_SUCCESS;
    cunei_report_missing_fini(&missing);
    cunei_trace_close(&trace);
    cunei_refusals_fini(&refusals);
    return status;
}

/* Print the damage of the trace below the report; returns the exit status. */
static int end(const struct text *text, int status)
{
    if (status != EXIT_SUCCESS || !text->damage.text[0])
        return status;
    return cunei_cmd_fail(0, "%s; the rest is shown", text->damage.text);
}

int cunei_report_show(const char *path, const struct cunei_report_options *wanted,
                      FILE *out)
{
    struct text text = {0};

    int status = render(path, wanted, out, &text);
    if (status == EXIT_SUCCESS && text.size > 0)
        (void)fwrite(text.data, 1, text.size, out);
    if (text.damage.text[0])
        (void)fflush(out); /* before the message on stderr */
    free(text.data);
    return end(&text, status);
}

int cunei_report_show_paged(const char *path, const struct cunei_report_options *wanted)
{
    struct cunei_output output;
    struct text text = {0};
    size_t lines = 0;

    int status = render(path, wanted, stdout, &text);
    if (status == EXIT_SUCCESS) {
        for (size_t i = 0; i < text.size; i++)
            lines += text.data[i] == '\n';
        cunei_output_open(&output, stdout, lines);
        (void)fwrite(text.data, 1, text.size, output.out);
        int rc = cunei_output_close(&output);
        if (rc < 0)
            status = cunei_cmd_fail(rc, "cannot write the report");
    }
    free(text.data);
    return end(&text, status);
}
