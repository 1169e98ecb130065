// SPDX-License-Identifier: MIT
#include "top/recordings/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/follow.h"
#include "base/units.h"
#include "top/recordings/finished.h"
#include "top/sums/sums.h"

/* A server may start a task for each request, for days: more are of no use in a view.
 */
#define ENDED_TASKS 1000u

int cunei_top_recording_open(struct cunei_top_recording *recording, const char *path,
                             const char *word, struct cunei_trace_error *error)
{
    struct cunei_analysis_options options = {.ended_tasks = ENDED_TASKS,
                                             .tree = true,
                                             .edges = true,
                                             .lines = recording->has_all,
                                             .user_events = recording->has_all};

    recording->word = word;
    if (word)
        options.processes = (struct cunei_trace_choice){&recording->word, 1};
    return cunei_analysis_follow_open(&recording->follow, path, &options, error);
}

void cunei_top_recording_close(struct cunei_top_recording *recording)
{
    cunei_analysis_follow_close(recording->follow);
    if (recording->finished)
        cunei_top_finished_close(recording->finished);
    free(recording->finished);
    *recording = (struct cunei_top_recording){0};
}

int cunei_top_recording_replay(struct cunei_top_recording *recording, const char *path,
                               const char *word, double speed,
                               struct cunei_trace_error *error)
{
    recording->word = word;
    recording->speed = speed;
    struct cunei_top_finished *finished = calloc(1, sizeof(*finished));
    if (!finished)
        return -ENOMEM;
    int rc = cunei_top_finished_open(finished, path, &recording->word, error);
    if (rc < 0) {
        free(finished);
        return rc;
    }
    recording->finished = finished;
    recording->shown_ns = finished->begin_ns;
    recording->replay_ns = cunei_top_recording_now_ns();
    return 0;
}

void cunei_top_recording_pause(struct cunei_top_recording *recording, bool is_paused)
{
    if (is_paused == (recording->paused_ns != 0))
        return;
    uint64_t now_ns = cunei_top_recording_now_ns();
    recording->replay_ns += is_paused ? 0 : now_ns - recording->paused_ns;
    recording->paused_ns = is_paused ? now_ns : 0;
}

/* Move on in the recording, as much as time has passed. */
static int poll_finished(struct cunei_top_recording *recording)
{
    const struct cunei_top_finished *finished = recording->finished;
    uint64_t now_ns =
        recording->paused_ns ? recording->paused_ns : cunei_top_recording_now_ns();
    double passed_ns = (double)(now_ns - recording->replay_ns);
    double shown_ns = passed_ns * recording->speed;

    recording->has_ended = shown_ns >= (double)(finished->end_ns - finished->begin_ns);
    recording->shown_ns = recording->has_ended
                              ? finished->end_ns
                              : finished->begin_ns + (uint64_t)shown_ns;
    return !recording->has_ended;
}

int cunei_top_recording_poll(struct cunei_top_recording *recording)
{
    if (recording->finished)
        return poll_finished(recording);
    int rc = cunei_analysis_follow_poll(recording->follow);

    recording->has_ended = rc == 0;
    return rc;
}

int cunei_top_recording_sum(struct cunei_top_recording *recording,
                            struct cunei_analysis *analysis)
{
    if (recording->finished)
        return cunei_top_finished_sum(recording->finished,
                                      recording->has_ended ? UINT64_MAX
                                                           : recording->shown_ns,
                                      recording->has_all, analysis);
    return cunei_analysis_follow_sum(recording->follow, analysis);
}

uint64_t cunei_top_recording_missed(const struct cunei_top_recording *recording)
{
    return recording->finished ? 0 : cunei_analysis_follow_missed(recording->follow);
}

bool cunei_top_recording_is_running(const struct cunei_top_recording *recording,
                                    const struct cunei_analysis *analysis)
{
    if (recording->finished)
        return !recording->has_ended;
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

uint64_t cunei_top_recording_now_ns(void)
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

void cunei_top_recording_take_cpu(struct cunei_top_sums *sums)
{
    for (uint32_t i = 0; i < sums->process_count; i++) {
        if (sums->processes[i].is_seen &&
            sums->processes[i].state == CUNEI_TRACE_RUNNING)
            take_cpu(sums, &sums->processes[i]);
    }
}
