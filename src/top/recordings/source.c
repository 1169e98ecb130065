// SPDX-License-Identifier: MIT
#include "top/recordings/source.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/follow.h"
#include "base/units.h"
#include "top/recordings/past.h"
#include "top/sums/sums.h"

/* A server may start a task for each request, for days: more are of no use in a view.
 */
#define ENDED_TASKS 1000u

int cunei_top_source_open(struct cunei_top_source *source, const char *path,
                          const char *word, struct cunei_trace_error *error)
{
    struct cunei_analysis_options options = {.ended_tasks = ENDED_TASKS,
                                             .tree = true,
                                             .edges = true,
                                             .lines = source->has_all,
                                             .user_events = source->has_all};

    source->word = word;
    if (word)
        options.processes = (struct cunei_trace_choice){&source->word, 1};
    return cunei_analysis_follow_open(&source->follow, path, &options, error);
}

void cunei_top_source_close(struct cunei_top_source *source)
{
    cunei_analysis_follow_close(source->follow);
    if (source->past)
        cunei_top_past_close(source->past);
    free(source->past);
    *source = (struct cunei_top_source){0};
}

int cunei_top_source_replay(struct cunei_top_source *source, const char *path,
                            const char *word, double speed,
                            struct cunei_trace_error *error)
{
    source->word = word;
    source->speed = speed;
    struct cunei_top_past *past = calloc(1, sizeof(*past));
    if (!past)
        return -ENOMEM;
    int rc = cunei_top_past_open(past, path, &source->word, error);
    if (rc < 0) {
        free(past);
        return rc;
    }
    source->past = past;
    source->shown_ns = past->begin_ns;
    source->replay_ns = cunei_top_source_now_ns();
    return 0;
}

void cunei_top_source_pause(struct cunei_top_source *source, bool is_paused)
{
    if (is_paused == (source->paused_ns != 0))
        return;
    uint64_t now_ns = cunei_top_source_now_ns();
    source->replay_ns += is_paused ? 0 : now_ns - source->paused_ns;
    source->paused_ns = is_paused ? now_ns : 0;
}

/* Move on in the recording, as much as time has passed. */
static int poll_past(struct cunei_top_source *source)
{
    const struct cunei_top_past *past = source->past;
    uint64_t now_ns = source->paused_ns ? source->paused_ns : cunei_top_source_now_ns();
    double passed_ns = (double)(now_ns - source->replay_ns);
    double shown_ns = passed_ns * source->speed;

    source->has_ended = shown_ns >= (double)(past->end_ns - past->begin_ns);
    source->shown_ns =
        source->has_ended ? past->end_ns : past->begin_ns + (uint64_t)shown_ns;
    return !source->has_ended;
}

int cunei_top_source_poll(struct cunei_top_source *source)
{
    if (source->past)
        return poll_past(source);
    int rc = cunei_analysis_follow_poll(source->follow);

    source->has_ended = rc == 0;
    return rc;
}

int cunei_top_source_sum(struct cunei_top_source *source,
                         struct cunei_analysis *analysis)
{
    if (source->past)
        return cunei_top_past_sum(source->past,
                                  source->has_ended ? UINT64_MAX : source->shown_ns,
                                  source->has_all, analysis);
    return cunei_analysis_follow_sum(source->follow, analysis);
}

uint64_t cunei_top_source_missed(const struct cunei_top_source *source)
{
    return source->past ? 0 : cunei_analysis_follow_missed(source->follow);
}

bool cunei_top_source_is_running(const struct cunei_top_source *source,
                                 const struct cunei_analysis *analysis)
{
    if (source->past)
        return !source->has_ended;
    for (size_t i = 0; i < analysis->process_count; i++) {
        if (analysis->processes[i].process->state == CUNEI_TRACE_RUNNING)
            return true;
    }
    return false;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    if (clock_gettime(clock, &time) < 0)
        return 0;
    return (uint64_t)time.tv_sec * CUNEI_NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t cunei_top_source_now_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

static void take_cpu(struct cunei_top_sums *sums, struct cunei_top_process *process)
{
    clockid_t clock;

    if (clock_getcpuclockid((pid_t)process->pid, &clock) != 0)
        return;
    uint64_t cpu_ns = clock_ns(clock);
    if (cpu_ns <= process->start_cpu_ns)
        return;
    if (process->has_cpu)
        sums->cpu_ns -= process->cpu_ns;
    process->has_cpu = true;
    process->cpu_ns = cpu_ns - process->start_cpu_ns;
    sums->cpu_ns += process->cpu_ns;
}

void cunei_top_source_take_cpu(struct cunei_top_sums *sums)
{
    for (uint32_t i = 0; i < sums->process_count; i++) {
        if (sums->processes[i].is_seen &&
            sums->processes[i].state == CUNEI_TRACE_RUNNING)
            take_cpu(sums, &sums->processes[i]);
    }
}
