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

#include "probe/events/garbage_collection.h"
#include "probe/recording/event_cost.h"
#include "probe/sources/source.h"
#include "wire/record_env.h"

struct cunei_probe {
    struct cunei_source *source; /* of the recording, one of those that follow */
    /* Borrowed: from whoever made the module; NULL: this Python has none of it. */
    struct cunei_source *sources[CUNEI_INSTRUMENTERS];
    struct cunei_gc_callback collect;
    PyTypeObject *tracer_type;
    struct cunei_record_env session; /* of the recording that is on, or awaited */
    struct cunei_event_cost cost;    /* measured once */
    unsigned
        pauses; /* how often it was paused and not resumed (probe/recording/switch.h) */
    bool is_unheard; /* events could not be switched on again, which is told */
    bool inside;     /* started by the program itself */
    bool hooked;     /* into the interpreter's exit and fork */
};

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
void cunei_control_leaving(int status);

/* Whether this is the interpreter that can be recorded. */
bool cunei_control_is_main(void);

/* The state of the recording that is on or awaited, or NULL. */
struct cunei_probe *cunei_control_active(void);

/* The state is about to be freed. */
void cunei_control_forget(struct cunei_probe *state);

#endif
