// SPDX-License-Identifier: MIT
#include "trace/recovery/snapshot.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cores.h"
#include "base/work_pool.h"
#include "trace/directory/open_options.h"
#include "trace/directory/trace.h"
#include "trace/recovery/snapshot_process.h"

/* The last thing that is known of processes that are all dead. */
static uint64_t last_ns(const struct cunei_trace *trace)
{
    uint64_t last = 0;

    for (size_t i = 0; i < trace->process_count; i++) {
        const struct cunei_trace_process *process = &trace->processes[i];
        uint64_t event = cunei_metadata_wall_ns(&process->metadata, process->last_tick);
        if (process->last_tick > 0 && event > last)
            last = event;
        if (process->description.end_ns > last)
            last = process->description.end_ns;
    }
    return last;
}

static bool is_any_running(const struct cunei_trace *trace)
{
    bool is_running = false;

    for (size_t i = 0; i < trace->process_count; i++)
        is_running |= trace->processes[i].state == CUNEI_TRACE_RUNNING;
    return is_running;
}

/* The processes, which several threads copy. */
struct job {
    const struct cunei_trace *trace;
    const struct cunei_snapshot_options *options;
    struct cunei_trace_open_options opening;
    uint64_t until_ns;
    _Atomic uint64_t file_bytes;
    int to;
    struct part {
        struct cunei_snapshot snapshot;
        struct cunei_trace_error error;
    } * parts; /* owned: one for each process */
};

static int copy_piece(void *context, unsigned worker, size_t piece, size_t *bytes)
{
    struct job *job = context;
    struct part *part = &job->parts[piece];
    const struct cunei_snapshot_process copy = {.options = job->options,
                                                .opening = job->opening,
                                                .snapshot = &part->snapshot,
                                                .error = &part->error,
                                                .file_bytes = &job->file_bytes,
                                                .to = job->to};
    (void)worker;
    *bytes = 0;

    part->snapshot.until_ns = job->until_ns;
    return cunei_snapshot_process_copy(&copy, &job->trace->processes[piece]);
}

static void add_part(struct cunei_snapshot *snapshot, const struct cunei_snapshot *part)
{
    snapshot->processes += part->processes;
    snapshot->running += part->running;
    snapshot->overtaken += part->overtaken;
    snapshot->bytes += part->bytes;
    snapshot->damaged += part->damaged;
    if (part->complete_ns > snapshot->complete_ns)
        snapshot->complete_ns = part->complete_ns;
    if (part->asked_ns > snapshot->asked_ns)
        snapshot->asked_ns = part->asked_ns;
    if (part->ring_bytes > snapshot->ring_bytes)
        snapshot->ring_bytes = part->ring_bytes;
}

/* The sum of all parts, or what is wrong with the first that failed. */
static void collect(const struct job *job, struct cunei_snapshot *snapshot,
                    struct cunei_trace_error *error)
{
    *snapshot = (struct cunei_snapshot){.until_ns = job->until_ns,
                                        .file_bytes = atomic_load(&job->file_bytes),
                                        .asked_ns = job->options->last_ns};
    for (size_t i = 0; i < job->trace->process_count; i++) {
        add_part(snapshot, &job->parts[i].snapshot);
        if (error->text[0] == '\0')
            *error = job->parts[i].error;
    }
}

static int copy_processes(const struct cunei_trace *trace, int to,
                          const struct cunei_snapshot_options *options,
                          struct cunei_snapshot *snapshot,
                          struct cunei_trace_error *error)
{
    struct job job = {
        .trace = trace,
        .options = options,
        .to = to,
        .until_ns = is_any_running(trace) ? options->wall_ns : last_ns(trace),
        .opening = {.has_until = true,
                    .until_counter = options->counter,
                    .last_ns = options->last_ns},
        .parts = calloc(trace->process_count, sizeof(*job.parts)),
    };
    const struct cunei_work_pool pool = {
        .piece_count = trace->process_count,
        .worker_count =
            cunei_cores() < CUNEI_WORKERS_MAX ? cunei_cores() : CUNEI_WORKERS_MAX,
        .context = &job,
        .work = copy_piece,
    };

    if (!job.parts)
        return -ENOMEM;
    if (options->last_ns && options->last_ns < job.until_ns)
        job.opening.from_ns = job.until_ns - options->last_ns;
    int rc = cunei_work_pool_run(&pool);
    collect(&job, snapshot, error);
    free(job.parts);
    return rc;
}

int cunei_trace_snapshot(const char *path, int to,
                         const struct cunei_snapshot_options *options,
                         struct cunei_snapshot *snapshot,
                         struct cunei_trace_error *error)
{
    const struct cunei_trace_open_options without_rings = {.without_ring = true};
    struct cunei_trace trace;

    *snapshot = (struct cunei_snapshot){0};
    int rc = cunei_trace_open_with(&trace, path, &without_rings, error);
    if (rc < 0)
        return rc;
    rc = copy_processes(&trace, to, options, snapshot, error);
    if (rc < 0 && error->text[0] == '\0')
        (void)cunei_trace_fail(error, rc, "the snapshot of '%s' cannot be made", path);
    cunei_trace_close(&trace);
    return rc;
}
