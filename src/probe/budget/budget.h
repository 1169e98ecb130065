// SPDX-License-Identifier: MIT
/*
 * A limit for the cost of recording.  The functions that cost most for the least
 * insight are demoted: their calls are only counted, or not even that.  In short bursts
 * they are recorded again; what they do between bursts is estimated
 * (probe/budget/estimate.h, probe/budget/governor.h).
 *
 * Decisions are made after an event was written, when a packet is full or an alarm has
 * passed, or by a pending call (probe/budget/budget_timer.h); always with the GIL held.
 * Only local events of our own tool id are switched.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_H
#define CUNEI_PROBE_BUDGET_BUDGET_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/budget/event_cost.h"
#include "probe/core/source.h"
#include "wire/event.h"

struct cunei_stream;

struct cunei_budget_options {
    struct cunei_source *source;
    uint64_t millionths; /* of the run time; 0: no limit */
    struct cunei_event_cost cost;
};

/* A recording begins in this process; ends; has ended, or its process was forked. */
void cunei_budget_begin(const struct cunei_budget_options *options);
void cunei_budget_end(void);
void cunei_budget_forget(void);

/* Write all estimates up to now: the process may be about to execute another program.
 */
void cunei_budget_write_all(void);

/* Continue after `end`, with all functions recorded in full. */
void cunei_budget_restart(void);

/* The hooks of the recorder, and of code objects. */
void cunei_budget_closing(struct cunei_stream *stream);
void cunei_budget_alarmed(void);
enum cunei_level cunei_budget_level(uint32_t id);
void cunei_budget_apply_level(PyCodeObject *code, enum cunei_level level);

/* The number of bursts so far. */
unsigned cunei_budget_bursts(void);

/* Charge ticks that were spent on something else because of the recording. */
void cunei_budget_charge(uint64_t ticks);

/*
 * Decide if something is due.  Call it after each event on the slow path and each
 * counted call.  `top_is_open`: the start of the top frame is in the stream.
 */
void cunei_budget_act(bool top_is_open);

#endif
