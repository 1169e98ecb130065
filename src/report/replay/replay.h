// SPDX-License-Identifier: MIT
/*
 * What a program did, call by call: one thread after the other, indented, with
 * durations.
 *
 * Lines are printed while the trace is read; memory grows only with the depth of the
 * stack.  With a minimum time a call is printed if it, or a call inside it, took that
 * long.
 */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_H
#define CUNEI_REPORT_REPLAY_REPLAY_H

#include <stdio.h>

#include "report/replay/replay_options.h"
#include "trace/directory/trace.h"

/*
 * -ESRCH: no such thread; -ENOMEM; -EPIPE and the like if `out` cannot be
 * written.  -EBADMSG: a stream is damaged, and was printed up to there; `error` has the
 * last damage.
 */
int cunei_replay_print(const struct cunei_trace *trace,
                       const struct cunei_replay_options *options, FILE *out,
                       struct cunei_trace_error *error);

#endif
