// SPDX-License-Identifier: MIT
/*
 * The state of a replay and the line that it is composing; for replay.c and the files
 * beside it.
 *
 *     cunei_replay_line_begin(replay, tick, NULL, depth);     time, duration, indent
 *     cunei_replay_line_word(replay, CUNEI_INK_DIM, "task ");
 *     int rc = cunei_replay_line_end(replay);                 print it
 */
#ifndef CUNEI_REPORT_REPLAY_LINE_H
#define CUNEI_REPORT_REPLAY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "model/tasks.h"
#include "model/walk.h"
#include "report/replay_arguments.h"
#include "text/style.h"
#include "trace/trace.h"

struct cunei_replay_options;

struct cunei_replay_line {
    const struct cunei_replay_options *options;
    const struct cunei_trace_process *process;
    FILE *out;
    uint64_t origin_ns; /* wall clock of the trace's first event */
    struct cunei_buffer line;
    struct cunei_buffer title; /* of the thread, until its first line */
    uint32_t tid;
    size_t column;  /* of the line: how much of it is taken */
    bool is_wanted; /* the thread that is being told */
    bool is_begun;  /* something was printed */
    bool is_cut;    /* until_ns is reached: nothing that comes behind is told */
    bool is_found;  /* a thread was wanted */
    struct cunei_replay_arguments arguments;
    struct cunei_tasks tasks;  /* of the process: their names */
    bool is_collecting;        /* garbage … */
    uint64_t collecting_since; /* … from here */
    uint64_t collected_since;  /* the same of the collection that has just ended */
};

void cunei_replay_line_fini(struct cunei_replay_line *replay);

/* Ticks as nanoseconds since the trace's begin, and as a duration. */
uint64_t cunei_replay_line_time(const struct cunei_replay_line *replay, uint64_t tick);
uint64_t cunei_replay_line_duration(const struct cunei_replay_line *replay,
                                    uint64_t ticks);

/* How long the frame that the step is about has run; 0: that is not known. */
uint64_t cunei_replay_line_age(const struct cunei_replay_line *replay,
                               const struct cunei_walk_step *step);

/* Whether what is that deep is shown. */
bool cunei_replay_line_shows(const struct cunei_replay_line *replay, uint32_t depth);

/* Time, duration (or none) and the place where the text of a depth begins. */
void cunei_replay_line_begin(struct cunei_replay_line *replay, uint64_t tick,
                             const uint64_t *took_ns, uint32_t depth);
void cunei_replay_line_word(struct cunei_replay_line *replay, enum cunei_ink ink,
                            const char *word);

/* Text of the program's, safe for a terminal and shortened to what is left of the line,
 * but not below `least` columns. */
void cunei_replay_line_text(struct cunei_replay_line *replay, enum cunei_ink ink,
                            const char *text, size_t least);
void cunei_replay_line_name(struct cunei_replay_line *replay, uint32_t function,
                            enum cunei_ink ink);

/* Where a function is; or at which line in it, where that is not 0. */
void cunei_replay_line_place(struct cunei_replay_line *replay, uint32_t function,
                             uint32_t line);

/* Print the line, under the title of its thread if it is the first. */
int cunei_replay_line_end(struct cunei_replay_line *replay);

/* Print the first lines of what is open and has none so far, up to a depth. */
int cunei_replay_line_open(struct cunei_replay_line *replay,
                           const struct cunei_walk_step *step, uint32_t depth);

/* The recorded arguments in brackets; " → " and the recorded result. */
void cunei_replay_line_put_arguments(struct cunei_replay_line *replay,
                                     const struct cunei_walk_frame *frame);
void cunei_replay_line_put_result(struct cunei_replay_line *replay);

/* Whether an end is missing because events were switched off, which is as it should be.
 */
bool cunei_replay_line_is_unrecorded(const struct cunei_walk_step *step);

#endif
