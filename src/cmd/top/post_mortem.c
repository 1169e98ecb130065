// SPDX-License-Identifier: MIT
#include "cmd/top/post_mortem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "base/buffer.h"
#include "cmd/common/message.h"
#include "cmd/common/open_trace.h"
#include "cmd/common/output.h"
#include "cmd/top/targets.h"
#include "cmd/top/top_options.h"
#include "text/format.h"
#include "top/draw/draw.h"
#include "top/draw/print_json.h"
#include "top/recordings/finished.h"
#include "top/view/model.h"
#include "trace/process/exit_words.h"

/* The moments before the end of one process. */
struct post_mortem {
    const struct cunei_top_options *options;
    const char *path;
    struct cunei_top_finished finished;
    struct cunei_top_model model;
    struct cunei_grid grid;
};

static int print_grid(const struct cunei_grid *grid)
{
    struct cunei_buffer text = {0};

    cunei_grid_format(grid, &text);
    (void)fputs(cunei_buffer_text(&text), stdout);
    bool failed = text.failed;
    cunei_buffer_fini(&text);
    return failed ? -ENOMEM : 0;
}

static int print_tables(struct post_mortem *dead)
{
    struct cunei_style style = cunei_output_style(stdout);
    int width = (int)style.width;

    int rc = cunei_top_model_refresh(&dead->model);
    if (rc == 0)
        rc = cunei_top_draw_plain(&dead->model, &dead->grid, width,
                                  (uint32_t)dead->options->limit, dead->options->ascii);
    if (rc == 0)
        rc = print_grid(&dead->grid);
    (void)putchar('\n');
    if (rc == 0)
        rc = cunei_top_draw_plain_stacks(&dead->model, &dead->grid, width,
                                         dead->options->ascii);
    return rc == 0 ? print_grid(&dead->grid) : rc;
}

/* Take in all that happened before a time; the last sums are also printed. */
static int take(struct post_mortem *dead, uint64_t until_ns, bool is_printed)
{
    struct cunei_top_sums sums = {
        .is_past = true, .time_ns = is_printed ? dead->finished.end_ns : until_ns};
    struct cunei_analysis analysis;

    int rc = cunei_top_finished_sum(&dead->finished, until_ns,
                                    dead->options->json && is_printed, &analysis);
    if (rc < 0)
        return rc;
    rc = cunei_top_sums_add(&sums, &dead->model.known, &analysis);
    if (rc == 0)
        rc = cunei_top_model_take(&dead->model, &sums);
    if (rc == 0 && is_printed)
        rc = dead->options->json
                 ? cunei_top_print_json(&dead->model, &analysis, dead->path, stdout)
                 : print_tables(dead);
    cunei_top_sums_fini(&sums);
    cunei_analysis_fini(&analysis);
    return rc;
}

static void describe_end(struct post_mortem *dead, uint64_t last_ns)
{
    const struct cunei_trace_process *process = &dead->finished.trace.processes[0];
    struct cunei_buffer words = {0}, interval = {0};

    cunei_format_duration(&interval, last_ns);
    cunei_exit_words_format(process, &words);
    (void)snprintf(dead->model.state, sizeof(dead->model.state), "its last %s · %s",
                   cunei_buffer_text(&interval), cunei_buffer_text(&words));
    cunei_buffer_fini(&interval);
    cunei_buffer_fini(&words);
}

/* One process, by its folder. */
static int show_process(const char *path, const struct cunei_top_options *options,
                        const struct cunei_top_view *view)
{
    struct post_mortem dead = {.options = options, .path = path};
    struct cunei_trace_error error;
    static const char *const all;

    int rc = cunei_top_finished_open(&dead.finished, path, &all, &error);
    if (rc < 0)
        return rc;
    rc = cunei_top_model_init(&dead.model);
    dead.model.view = *view;
    dead.model.has_ended = true;
    uint64_t lived_ns = dead.finished.end_ns - dead.finished.begin_ns;
    uint64_t last_ns =
        options->interval_ns < lived_ns ? options->interval_ns : lived_ns;
    describe_end(&dead, last_ns);
    if (rc == 0)
        rc = take(&dead, dead.finished.end_ns - last_ns, false);
    if (rc == 0)
        rc = take(&dead, UINT64_MAX, true);
    cunei_top_model_fini(&dead.model);
    cunei_grid_fini(&dead.grid);
    cunei_top_finished_close(&dead.finished);
    return rc;
}

static int show_trace(const char *path, const struct cunei_top_options *options,
                      const struct cunei_top_view *view)
{
    struct cunei_trace trace;
    int rc = 0;

    int status = cunei_cmd_open_trace(path, &trace);
    if (status != 0)
        return status;
    for (size_t i = 0; rc == 0 && i < trace.process_count; i++) {
        if (i > 0 && !options->json)
            (void)putchar('\n');
        rc = show_process(trace.processes[i].path, options, view);
    }
    cunei_trace_close(&trace);
    return rc < 0 ? cunei_cmd_fail(rc, "cannot show the end of '%s'", path)
                  : EXIT_SUCCESS;
}

int cunei_top_post_mortem(const struct cunei_top_targets *targets,
                          const struct cunei_top_options *options,
                          const struct cunei_top_view *view)
{
    int status = EXIT_SUCCESS;

    for (size_t i = 0; status == EXIT_SUCCESS && i < targets->count; i++)
        status = show_trace(targets->items[i].path, options, view);
    return status;
}
