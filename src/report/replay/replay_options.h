// SPDX-License-Identifier: MIT
/* What to show in a replay, and how. */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_OPTIONS_H
#define CUNEI_REPORT_REPLAY_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"
#include "text/style.h"
#include "trace/directory/process_choice.h"

struct cunei_replay_options {
    uint64_t depth;       /* levels; 0: all */
    uint64_t min_time_ns; /* shorter calls are left out */
    const char *thread;   /* a thread's id or a glob of its name; NULL: all */
    struct cunei_trace_choice processes;
    uint64_t from_ns;  /* since the trace's first event */
    uint64_t until_ns; /* UINT64_MAX: to the end */
    bool json;         /* one object per line and call, in the order of their ends */
    bool no_fold;      /* show the import system */
    struct cunei_patterns patterns; /* of functions to show */
    struct cunei_style style;
};

#endif
