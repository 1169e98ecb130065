// SPDX-License-Identifier: MIT
/*
 * What the parts of a replay share: how far it is told, and the line that is being put
 * together.  Private to replay.c and the files it is made of.
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
#include "report/replay.h"
#include "trace/trace.h"

/* The arguments of calls that are open, by the tag of their frame; 0 has none. */
struct cunei_arguments {
    struct cunei_buffer *items; /* owned */
    uint32_t count, capacity;
    uint32_t *unused; /* owned: tags that may be given again */
    uint32_t unused_count;
};

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
    struct cunei_arguments arguments;
    struct cunei_buffer result; /* of the call that is about to end */
    struct cunei_tasks tasks;   /* of the process: their names */
    bool is_collecting;         /* garbage … */
    uint64_t collecting_since;  /* … from here */
    uint64_t collected_since;   /* the same of the collection that has just ended */
};

void cunei_replay_line_fini(struct cunei_replay_line *telling);

/* Ticks as nanoseconds since the trace's begin, and as a duration. */
uint64_t cunei_replay_line_time(const struct cunei_replay_line *telling, uint64_t tick);
uint64_t cunei_replay_line_duration(const struct cunei_replay_line *telling,
                                    uint64_t ticks);

/* How long the frame that the step is about has run; 0: that is not known. */
uint64_t cunei_replay_line_age(const struct cunei_replay_line *telling,
                               const struct cunei_walk_step *step);

/* Whether what is that deep is shown. */
bool cunei_replay_line_shows(const struct cunei_replay_line *telling, uint32_t depth);

/* Time, duration (or none) and the place where the text of a depth begins. */
void cunei_replay_line_begin(struct cunei_replay_line *telling, uint64_t tick,
                             const uint64_t *took_ns, uint32_t depth);
void cunei_replay_line_word(struct cunei_replay_line *telling, enum cunei_ink ink,
                            const char *word);

/* Text of the program's, safe for a terminal and shortened to what is left of the line,
 * but not below `least` columns. */
void cunei_replay_line_text(struct cunei_replay_line *telling, enum cunei_ink ink,
                            const char *text, size_t least);
void cunei_replay_line_name(struct cunei_replay_line *telling, uint32_t function,
                            enum cunei_ink ink);

/* Where a function is; or at which line in it, where that is not 0. */
void cunei_replay_line_place(struct cunei_replay_line *telling, uint32_t function,
                             uint32_t line);

/* Print the line, under the title of its thread if it is the first. */
int cunei_replay_line_end(struct cunei_replay_line *telling);

/* Print the first lines of what is open and has none so far, up to a depth. */
int cunei_replay_line_open(struct cunei_replay_line *telling,
                           const struct cunei_walk_step *step, uint32_t depth);

/* Keep what an event says and a later line needs. */
int cunei_replay_line_remember(struct cunei_replay_line *telling,
                               const struct cunei_walk_step *step);

/* What calls were given and returned: taken from an event, put behind a name, left to
 * the next one when the call is over. */
int cunei_replay_line_take(struct cunei_replay_line *telling,
                           const struct cunei_walk_step *step);
const char *cunei_replay_line_arguments(const struct cunei_replay_line *telling,
                                        const struct cunei_walk_frame *frame);
void cunei_replay_line_put_arguments(struct cunei_replay_line *telling,
                                     const struct cunei_walk_frame *frame);
void cunei_replay_line_put_result(struct cunei_replay_line *telling);
void cunei_replay_line_forget(struct cunei_replay_line *telling,
                              struct cunei_walk_frame *frame);

/* Something that happened between calls: a line for it. */
int cunei_replay_line_event(struct cunei_replay_line *telling,
                            const struct cunei_walk_step *step);
int cunei_replay_line_switch(struct cunei_replay_line *telling,
                             const struct cunei_walk_step *step);

/* Whether an end is missing because events were switched off, which is as it should be.
 */
bool cunei_replay_line_is_unrecorded(const struct cunei_walk_step *step);

/* One object: a call that ended, or will not be seen to end. */
int cunei_replay_line_json(struct cunei_replay_line *telling,
                           const struct cunei_walk_step *step);

#endif
