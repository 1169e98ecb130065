// SPDX-License-Identifier: MIT
/*
 * What a program did, call by call: thread after thread, indented, with durations.
 *
 * It is printed while it is read; memory grows with the depth of the stack only.  With
 * a least time a call appears when it, or one that it made, took that long.
 */
#ifndef CUNEI_REPORT_REPLAY_H
#define CUNEI_REPORT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/pattern.h"
#include "text/style.h"
#include "trace/process_choice.h"
#include "trace/trace.h"

struct cunei_replay_options {
    uint64_t depth;       /* levels; 0: all */
    uint64_t min_time_ns; /* leave out what took less */
    const char *thread;   /* a thread's id or a glob of its name; NULL: all */
    struct cunei_trace_choice processes;
    uint64_t from_ns;  /* since the trace's first event */
    uint64_t until_ns; /* UINT64_MAX: to the end */
    bool json;         /* an object a line for each call, in order of their ends */
    struct cunei_style style;
};

/*
 * -ESRCH: no such process or thread; -ENOMEM; -EPIPE and the like where `out` cannot be
 * written.  Damage ends a stream and is said in `error`, the last of it: -EBADMSG.
 */
int cunei_replay_print(const struct cunei_trace *trace,
                       const struct cunei_replay_options *options, FILE *out,
                       struct cunei_trace_error *error);

#endif
