// SPDX-License-Identifier: MIT
/*
 * What recording may cost: the functions that cost most for the least insight are
 * counted, or not even that, and recorded again in short bursts, from which what they
 * do meanwhile is estimated (probe/budget/estimate.h, probe/budget/governor.h).
 *
 * Decisions are made after an event that was written, when a packet was full or an
 * alarm went off, or in between by the interpreter itself, which
 * probe/budget/budget_timer.h asks to. With the GIL held, all of it.  Only local events
 * of our own tool id are switched.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_H
#define CUNEI_PROBE_BUDGET_BUDGET_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/budget/event_cost.h"
#include "probe/core/source.h"
#include "rt/clock.h"
#include "wire/event.h"

struct cunei_stream;

struct cunei_budget_options {
    struct cunei_source *source;
    uint64_t millionths; /* of the run time; 0: no limit, and nothing is done */
    struct cunei_event_cost cost;
};

/* A recording begins, in this process; ends; has ended, or its process was forked. */
void cunei_budget_begin(const struct cunei_budget_options *options);
void cunei_budget_end(void);
void cunei_budget_forget(void);

/* Tell what is known up to now: the process may be about to run another program. */
void cunei_budget_tell(void);

/* It goes on after `end`, with all functions in full. */
void cunei_budget_go_on(void);

/* The hooks of the recorder, and of code. */
void cunei_budget_closing(struct cunei_stream *stream);
void cunei_budget_alarmed(void);
enum cunei_level cunei_budget_level(uint32_t id);
void cunei_budget_levelled(PyCodeObject *code, enum cunei_level level);

/* How many bursts there were, so far. */
unsigned cunei_budget_bursts(void);

/* So many ticks went into something else that recording is the reason for. */
void cunei_budget_took(uint64_t ticks);

/*
 * There may be something to decide: to be asked after each event on the cold path, and
 * after each that was counted.  Whether the top frame is open then, as far as the
 * stream knows, says `top_is_open`.
 */
void cunei_budget_act(bool top_is_open);

extern bool cunei_budget_due __attribute__((visibility("hidden")));
extern uint32_t cunei_budget_left __attribute__((visibility("hidden")));
extern uint64_t cunei_budget_tick __attribute__((visibility("hidden")));
/* Events of exceptions, so far. */
extern uint64_t cunei_budget_raised __attribute__((visibility("hidden")));

/* So many counted calls from one look at the clock to the next. */
#define CUNEI_BUDGET_CALLS 64u

static inline bool cunei_budget_is_due(void)
{
    return cunei_budget_due;
}

/*
 * A call was counted.  No system call, but where it is time to act: what counting costs
 * besides what was measured before makes all estimates too low.
 */
static inline bool cunei_budget_counts(void)
{
    if (--cunei_budget_left > 0)
        return false;
    cunei_budget_left = CUNEI_BUDGET_CALLS;
    return cunei_clock_read() >= cunei_budget_tick;
}

#endif
