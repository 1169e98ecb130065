// SPDX-License-Identifier: MIT
/*
 * A recording that is followed, or a finished one that is replayed.
 *
 *     struct cunei_top_recording recording = {0};
 *     rc = cunei_top_recording_open(&recording, path, &error);
 *     while ((rc = cunei_top_recording_poll(&recording)) > 0) {
 *         struct cunei_analysis analysis;
 *         rc = cunei_top_recording_sum(&recording, &analysis);
 *         … cunei_top_sums_add(&sums, &known, &analysis) …
 *         cunei_analysis_fini(&analysis);
 *     }
 *     cunei_top_recording_close(&recording);
 */
#ifndef CUNEI_TOP_RECORDINGS_RECORDING_H
#define CUNEI_TOP_RECORDINGS_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/directory/process_choice.h"

struct cunei_analysis;
struct cunei_analysis_follow;
struct cunei_top_sums;
struct cunei_trace_error;

struct cunei_top_recording {
    struct cunei_analysis_follow *follow; /* owned; NULL: it is replayed */
    struct cunei_top_finished *finished;  /* owned */
    double speed;                         /* of the replay … */
    uint64_t replay_ns;                   /* … which began then, by the clock … */
    uint64_t paused_ns; /* … and stands still since; 0: it moves … */
    uint64_t shown_ns;  /* … and is now at this time of the recording */
    const char *word;   /* of the process, a pid; NULL: all.  Borrowed */
    bool has_all;       /* also lines, and what the program records itself */
    bool has_ended;
};

/* Of the recording, only `has_all` may be set before.  Errors as from cunei_trace_open;
 * an empty directory is one that a recording may begin in.  `word` chooses a process
 * (trace/directory/process_choice.h). */
int cunei_top_recording_open(struct cunei_top_recording *recording, const char *path,
                             const char *word, struct cunei_trace_error *error);
void cunei_top_recording_close(struct cunei_top_recording *recording);

/* The same for a finished recording, which is shown from its begin, `speed` times as
 * fast as it was made. */
int cunei_top_recording_replay(struct cunei_top_recording *recording, const char *path,
                               const char *word, double speed,
                               struct cunei_trace_error *error);

/* A replay stands still, or moves on from there.  A recording goes on by itself. */
void cunei_top_recording_pause(struct cunei_top_recording *recording, bool is_paused);

/* As cunei_analysis_follow_poll. */
int cunei_top_recording_poll(struct cunei_top_recording *recording);

/* As cunei_analysis_follow_sum. */
int cunei_top_recording_sum(struct cunei_top_recording *recording,
                            struct cunei_analysis *analysis);
uint64_t cunei_top_recording_missed(const struct cunei_top_recording *recording);

/* Whether a process of it still runs, or runs again in a replay. */
bool cunei_top_recording_is_running(const struct cunei_top_recording *recording,
                                    const struct cunei_analysis *analysis);

/* Put the CPU time of running processes into the sums, as the system knows it now: a
 * trace knows it only up to the last full packet. */
void cunei_top_recording_take_cpu(struct cunei_top_sums *sums);

/* The wall clock. */
uint64_t cunei_top_recording_now_ns(void);

#endif
