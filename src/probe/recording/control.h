// SPDX-License-Identifier: MIT
/*
 * The life of a recording, from start to stop, across forks and os._exit.
 *
 * It records the main interpreter of its process; in any other one start refuses.  All
 * functions take control: see probe/core/world.h.
 */
#ifndef CUNEI_PROBE_RECORDING_CONTROL_H
#define CUNEI_PROBE_RECORDING_CONTROL_H

#include <Python.h>

#include <stdbool.h>

struct cunei_record_env;
struct cunei_probe;

/* Record as `session` says, and take it over.  -1 with an exception set. */
int cunei_control_start(struct cunei_probe *state, struct cunei_record_env *session);

/* The same as CUNEI_RECORD asks, if it does, from the start of __main__ on. */
int cunei_control_boot(struct cunei_probe *state, const char *text);

/* Called in the first frame of __main__: whether that call is recorded. */
bool cunei_control_main_begins(void);

/* End the recording, if there is one. */
void cunei_control_stop(struct cunei_probe *state);

/*
 * In a forked child: events and tool ids are on as in its parent.  It records at once,
 * so that its first packet has the open stack.
 */
void cunei_control_forked(struct cunei_probe *state);

/* The process is about to end by os._exit. */
void cunei_control_exiting(int status);

/* The process has started a Python that cannot record: python/refusal_reason.h. */
void cunei_control_child_unrecorded(pid_t pid, int reason);

#endif
