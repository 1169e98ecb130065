// SPDX-License-Identifier: MIT
#include "cmd/top/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/analysis.h"
#include "base/buffer.h"
#include "base/units.h"
#include "cmd/common/message.h"
#include "cmd/common/output.h"
#include "cmd/top/program.h"
#include "cmd/top/targets.h"
#include "cmd/top/top_options.h"
#include "top/draw/draw.h"
#include "top/draw/print_json.h"
#include "top/view/model.h"

/* A follower that looks so often misses nothing of a ring, and costs little. */
#define POLL_NS (100 * CUNEI_NS_PER_MS)

/* One table of all recordings, or one JSON object of each. */
struct batch {
    const struct cunei_top_options *options;
    const struct cunei_top_targets *targets;
    struct cunei_top_program *program; /* or NULL */
    struct cunei_top_watch watch;
    struct cunei_top_model *models; /* owned */
    size_t model_count;
    uint64_t now_ns; /* before the last poll */
    int state;       /* of the last poll */
};

static int make_models(struct batch *batch, const struct cunei_top_view *view)
{
    batch->model_count = batch->options->json ? batch->watch.count : 1;
    batch->models = calloc(batch->model_count, sizeof(*batch->models));
    if (!batch->models)
        return -ENOMEM;
    for (size_t i = 0; i < batch->model_count; i++) {
        int rc = cunei_top_model_init(&batch->models[i]);
        if (rc < 0)
            return rc;
        batch->models[i].view = *view;
    }
    return 0;
}

static void batch_fini(struct batch *batch)
{
    for (size_t i = 0; i < batch->model_count; i++)
        cunei_top_model_fini(&batch->models[i]);
    free(batch->models);
    cunei_top_watch_fini(&batch->watch);
}

static int print_table(struct batch *batch)
{
    struct cunei_top_model *model = &batch->models[0];
    struct cunei_grid grid = {0};
    struct cunei_buffer text = {0};
    struct cunei_style style = cunei_output_style(stdout);

    int rc = cunei_top_model_refresh(model);
    if (rc == 0)
        rc = cunei_top_draw_plain(model, &grid, (int)style.width,
                                  (uint32_t)batch->options->limit,
                                  batch->options->ascii);
    if (rc == 0)
        cunei_grid_format(&grid, &text);
    (void)fputs(cunei_buffer_text(&text), stdout);
    bool failed = text.failed;
    cunei_grid_fini(&grid);
    cunei_buffer_fini(&text);
    return failed ? -ENOMEM : rc;
}

/* Sums of a recording become those of its model, and are printed if they are wanted. */
static int sample_json(struct batch *batch, size_t index, bool is_printed)
{
    struct cunei_top_recording *recording = batch->watch.items[index].recording;
    struct cunei_top_model *model = &batch->models[index];
    struct cunei_top_sums sums = {0};
    struct cunei_analysis analysis;

    int rc = cunei_top_recording_sum(recording, &analysis);
    if (rc < 0)
        return rc;
    rc = cunei_top_watch_sum_one(recording, &analysis, &model->known, batch->now_ns,
                                 &sums);
    if (rc == 0)
        rc = cunei_top_model_take(model, &sums);
    model->has_ended = recording->has_ended;
    if (rc == 0 && is_printed)
        rc = cunei_top_print_json(model, &analysis, batch->targets->items[index].path,
                                  stdout);
    cunei_top_sums_fini(&sums);
    cunei_analysis_fini(&analysis);
    return rc;
}

static int sample_table(struct batch *batch, bool is_printed)
{
    struct cunei_top_model *model = &batch->models[0];
    struct cunei_top_sums sums = {0};

    int rc = cunei_top_watch_sum(&batch->watch, &model->known, batch->now_ns, &sums);
    if (rc == 0)
        rc = cunei_top_model_take(model, &sums);
    model->has_ended = batch->state == 0;
    if (rc == 0 && is_printed)
        rc = print_table(batch);
    cunei_top_sums_fini(&sums);
    return rc;
}

static int sample(struct batch *batch, bool is_printed)
{
    int rc = 0;

    if (!batch->options->json)
        rc = sample_table(batch, is_printed);
    for (size_t i = 0; batch->options->json && rc == 0 && i < batch->watch.count; i++)
        rc = sample_json(batch, i, is_printed);
    if (is_printed && fflush(stdout) != 0)
        rc = -errno;
    return rc;
}

static int poll_once(struct batch *batch)
{
    batch->now_ns = cunei_top_recording_now_ns();
    /* A program that has only just started has no process yet. */
    bool may_begin = batch->program && (cunei_top_program_look(batch->program),
                                        !batch->program->has_ended);
    batch->state = cunei_top_watch_poll(&batch->watch);
    if (batch->state == 0 && may_begin)
        batch->state = 1;
    return batch->state < 0 ? batch->state : 0;
}

static void pause_for(uint64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / CUNEI_NS_PER_S),
                                   .tv_nsec = (long)(ns % CUNEI_NS_PER_S)};

    (void)nanosleep(&pause, NULL);
}

/* Read on for as long as an interval takes, or until all have ended. */
static int wait_interval(struct batch *batch)
{
    uint64_t end_ns = batch->now_ns + batch->options->interval_ns;
    int rc = 0;

    while (rc == 0 && batch->state > 0 && batch->now_ns < end_ns) {
        uint64_t now_ns = cunei_top_recording_now_ns();
        uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
        if (batch->state == 1)
            pause_for(left_ns < POLL_NS ? left_ns : POLL_NS);
        rc = poll_once(batch);
    }
    return rc;
}

/* What has ended before its first sample has no rates of now: all of it is shown. */
static void show_whole(struct batch *batch)
{
    for (size_t i = 0; i < batch->model_count; i++)
        batch->models[i].view.is_whole = true;
}

/* Everything that is there so far. */
static int catch_up(struct batch *batch)
{
    int rc;

    do
        rc = poll_once(batch);
    while (rc == 0 && batch->state == 2);
    return rc;
}

static int run(struct batch *batch)
{
    uint64_t left = batch->options->batch;

    int rc = catch_up(batch);
    if (rc == 0 && batch->state == 0) {
        show_whole(batch);
        return sample(batch, true);
    }
    if (rc == 0)
        rc = sample(batch, false);
    while (rc == 0 && left-- > 0) {
        rc = wait_interval(batch);
        if (batch->state == 0 && left + 1 == batch->options->batch)
            show_whole(batch);
        if (rc == 0)
            rc = sample(batch, true);
        if (batch->state == 0)
            break;
        if (rc == 0 && left > 0 && !batch->options->json)
            (void)putchar('\n');
    }
    return rc;
}

int cunei_top_batch(const struct cunei_top_targets *targets,
                    const struct cunei_top_options *options,
                    const struct cunei_top_view *view,
                    struct cunei_top_program *program)
{
    struct batch batch = {.options = options, .targets = targets, .program = program};

    int status = cunei_top_targets_open(targets, options, &batch.watch);
    if (status == 0) {
        int rc = make_models(&batch, view);
        if (rc == 0 && program)
            rc = cunei_top_program_start(program, false, 0, 0);
        if (rc == 0)
            rc = run(&batch);
        if (program && program->pid > 0)
            cunei_top_program_end(program, SIGTERM);
        if (rc < 0)
            status = cunei_cmd_fail(rc, "cannot follow '%s'", targets->items[0].path);
    }
    batch_fini(&batch);
    return status;
}
