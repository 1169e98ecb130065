// SPDX-License-Identifier: MIT
/*
 * The life of a recording, from start to stop, across forks and os._exit.
 *
 * It records the main interpreter of its process; in any other one it refuses to start.
 * Whoever starts, stops or goes on recording has control: see probe/core/world.h.
 */
#ifndef CUNEI_PROBE_RECORDING_CONTROL_H
#define CUNEI_PROBE_RECORDING_CONTROL_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_record_env;
struct cunei_probe;

/* Record as `session` says, which is taken over.  -1 with an exception set. */
int cunei_control_start(struct cunei_probe *state, struct cunei_record_env *session);

/* The same as the environment asks for, once __main__ begins. */
int cunei_control_boot(struct cunei_probe *state, const char *text);

/* In its first frame; whether the recording wants to be told of that one. */
bool cunei_control_main_begins(void);

/* End the recording, if there is one. */
void cunei_control_stop(struct cunei_probe *state);

/*
 * In a forked child: events and tool ids are on as in its parent.  It records at once,
 * so that its first packet says what is open.
 */
void cunei_control_forked(struct cunei_probe *state);

/* The process is about to leave by os._exit. */
void cunei_control_exiting(int status);

#endif
