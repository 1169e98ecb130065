// SPDX-License-Identifier: MIT
/*
 * The state of a replay and the line that it is composing; for replay.c and the files
 * beside it.
 *
 *     cunei_replay_line_begin(replay, tick, NULL, depth);     time, duration, indent
 *     cunei_replay_line_word(replay, CUNEI_INK_DIM, "task ");
 *     int rc = cunei_replay_line_end(replay);                 print it
 */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_LINE_H
#define CUNEI_REPORT_REPLAY_REPLAY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "model/facts/tasks.h"
#include "model/walk/walk.h"
#include "report/replay/replay_arguments.h"
#include "text/style.h"
#include "trace/directory/trace.h"

struct cunei_replay_options;

struct cunei_replay_line {
    const struct cunei_replay_options *options;
    const struct cunei_trace_process *process;
    FILE *out;
    /* In place of `out`, where lines of several threads are put in order; or NULL. */
    void (*put)(void *context, const char *line, size_t size);
    void *put_context;
    uint64_t now;       /* tick of the step that is shown */
    uint64_t origin_ns; /* wall clock of the trace's first event */
    struct cunei_buffer line;
    struct cunei_buffer title; /* of the thread, until its first line */
    struct cunei_buffer label; /* of the thread, in front of each line instead */
    bool has_labels;
    uint32_t tid;
    size_t column;  /* where the next word of the line begins */
    bool is_wanted; /* this thread is shown */
    bool is_begun;  /* something was printed */
    bool is_cut;    /* until_ns is reached: the rest of the thread is skipped */
    bool is_found;  /* a thread was shown */
    struct cunei_replay_arguments arguments;
    struct cunei_tasks tasks;  /* of the process: their names */
    bool is_collecting;        /* a garbage collection is running … */
    uint64_t collecting_since; /* … since then */
    uint64_t collected_since;  /* the start of the collection that has just ended */
};

/* What of the functions from `first` on is shown: enum cunei_cut_choice, by index. */
void cunei_replay_choose(const struct cunei_replay_options *options,
                         const struct cunei_trace_process *process, uint32_t first,
                         uint8_t *choices);

/* What the step of a walk makes of it: 0, CUNEI_REPLAY_DONE: nothing more of the thread
 * is shown, or a negative errno. */
enum {
    CUNEI_REPLAY_DONE = 1
};

int cunei_replay_step(void *context, const struct cunei_walk_step *step);

void cunei_replay_line_fini(struct cunei_replay_line *replay);

/* A tick as nanoseconds since the start of the trace; ticks as a duration. */
uint64_t cunei_replay_line_time(const struct cunei_replay_line *replay, uint64_t tick);
uint64_t cunei_replay_line_duration(const struct cunei_replay_line *replay,
                                    uint64_t ticks);

/* How long the frame of the step has run; 0: not known. */
uint64_t cunei_replay_line_age(const struct cunei_replay_line *replay,
                               const struct cunei_walk_step *step);

/* Whether calls at that depth are shown. */
bool cunei_replay_line_shows(const struct cunei_replay_line *replay, uint32_t depth);

/* Begin a line: time, duration (may be NULL) and indentation. */
void cunei_replay_line_begin(struct cunei_replay_line *replay, uint64_t tick,
                             const uint64_t *took_ns, uint32_t depth);
void cunei_replay_line_word(struct cunei_replay_line *replay, enum cunei_ink ink,
                            const char *word);

/* Text from the trace, made safe for a terminal and shortened to the rest of the line,
 * but not below `least` columns. */
void cunei_replay_line_text(struct cunei_replay_line *replay, enum cunei_ink ink,
                            const char *text, size_t least);
void cunei_replay_line_name(struct cunei_replay_line *replay, uint32_t function,
                            enum cunei_ink ink);

/* Where a function is defined; or a line inside it, if `line` is not 0. */
void cunei_replay_line_place(struct cunei_replay_line *replay, uint32_t function,
                             uint32_t line);

/* Print the line, below the title of the thread if it is the first. */
int cunei_replay_line_end(struct cunei_replay_line *replay);

/* Print the opening lines of open calls that have none yet, up to a depth. */
int cunei_replay_line_open(struct cunei_replay_line *replay,
                           const struct cunei_walk_step *step, uint32_t depth);

/* The recorded arguments in brackets; " → " and the recorded result. */
void cunei_replay_line_put_arguments(struct cunei_replay_line *replay,
                                     const struct cunei_walk_frame *frame);
void cunei_replay_line_put_result(struct cunei_replay_line *replay);

/* Whether an end is missing because recording was switched off. */
bool cunei_replay_line_is_unrecorded(const struct cunei_walk_step *step);

#endif
