// SPDX-License-Identifier: MIT
/*
 * The state of a budget, which the files of probe/budget share; private to them.
 *
 *     budget.c          when there is something to decide, and what was spent
 *     demotion.c        which functions are demoted
 *     burst.c           the course of a burst
 *     burst_result.c    what a burst says
 *     burst_schedule.c  when bursts come
 *     budget_events.c   the events that are written
 *
 * Steady events are those of functions that were never demoted.
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_STATE_H
#define CUNEI_PROBE_BUDGET_BUDGET_STATE_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "probe/budget/estimate.h"
#include "probe/budget/observe.h"
#include "probe/budget/rate_by_events.h"
#include "probe/code/code_resolve.h"
#include "probe/core/source.h"
#include "wire/event.h"

struct cunei_stream;

/* The cost of a code object after a switch: CPython instruments it when it runs next,
 * and specializes its instructions anew. */
#define CUNEI_BUDGET_RENEWAL_NS 5000.0

/* A function under the budget. */
struct cunei_budget_function {
    enum cunei_level level; /* between bursts */
    bool can_be_demoted;
    bool was_demoted;  /* at some time */
    double load, self; /* shares of the program's time, as in a candidate */
    double since_ns;   /* run time up to which it is estimated */
    double counted;    /* calls since then */
    double burst_calls, burst_resumes; /* counted in the current burst */
    double settled;                    /* of these, after the burst has settled … */
    double half_entries;               /* … and in its first half */
    double gap_ns; /* time before `since_ns` that is not estimated yet */
    double self_ticks, total_ticks; /* of one entry, without the cost of events */
    double self_ticks_wrong;        /* error of self_ticks */
    bool has_learned; /* these ticks, from a burst and not only from before it */
    struct cunei_rate_by_events rate;
    struct cunei_estimate estimate;
};

struct cunei_budget {
    struct cunei_source *source; /* borrowed; NULL: no budget */
    double share, event_ns, count_ns, ticks_per_ns;
    double end_part;  /* cost of a counted end / cost of a counted start */
    bool counts_ends; /* from the next switch on: ends are counted, not only starts */
    bool has_twice;   /* they are counted now */
    struct cunei_budget_function *functions; /* owned, by id */
    uint32_t capacity, demoted;
    struct cunei_observer normal, burst;
    struct cunei_observer *observer; /* the one that reads packets now */
    struct cunei_scale scale;
    double bias; /* of the last burst: the part of its rates that may be wrong */
    enum {
        CUNEI_BUDGET_RESTS,
        CUNEI_BUDGET_RECORDS, /* a recording burst */
        CUNEI_BUDGET_COUNTS,  /* a counting burst */
    } state;
    unsigned bursts;   /* so far */
    unsigned switched; /* code objects, at the last switch */
    unsigned looks;    /* bursts so far, with those in which nothing was called */
    bool is_acting;
    void (*wake)(void);
    /* Times are run time of the process, unless noted otherwise. */
    double begin_ns;
    double window_ns, bursts_ns; /* begin of the window, and time of bursts in it */
    double burst_ns;             /* begin of the current burst */
    double samples_ns;           /* when samples were last written */
    double samples_bytes;        /* bytes of samples so far */
    double rest_ns;     /* end of the last burst; 0: it says nothing about the speed */
    double rest_steady; /* steady events since then, … */
    double steady_before; /* … without these, which the observer had read before */
    double gap_steady;    /* steady events since the last counting burst */
    double aside_ns;      /* of the current burst, for writing packets */
    double wanted_ns;     /* when the burst was due … */
    double waited_ns;   /* … and the time to its start, in which nothing was called */
    unsigned postponed; /* how often */
    double planned_ns;  /* length of the burst, from its start */
    uint64_t burst_begin; /* tick */
    uint64_t burst_until; /* tick; between bursts, the length of the next one */
    uint64_t stage_until; /* tick */
    unsigned extended;    /* how often: another process had the core */
    enum {
        CUNEI_STAGE_SETTLES, /* after a switch: code is instrumented, caches are cold */
        CUNEI_STAGE_FIRST,
        CUNEI_STAGE_SETTLES_AGAIN,
        CUNEI_STAGE_SECOND,
    } stage;            /* of a counting burst */
    double stage_ns;    /* when it began */
    double half_ns;     /* time of its first half after it has settled … */
    double settled_ns;  /* … and of both halves */
    uint64_t next_ns;   /* the next burst, CLOCK_MONOTONIC; 0: none. Not before … */
    double next_run_ns; /* … this run time */
    double spent_ns, window_spent_ns, switch_ns;
    double observe_ns; /* the time to read an event again */
    uint64_t raised;   /* events of exceptions that were charged */
    uint64_t written_ns, timer_ns;
    uint32_t random;
};

/* CPU time of the process, without that of the budget's timer thread. */
double cunei_budget_run_ns(void);
void cunei_budget_spend(struct cunei_budget *own, double ns);

/* What an event costs in this program, with reading it again. */
double cunei_budget_load_ns(const struct cunei_budget *own);

/* NULL: there is no memory, or the id is not that of a function. */
struct cunei_budget_function *cunei_budget_find(struct cunei_budget *own, uint32_t id);

/* The level at which the function is recorded now, in a burst or not. */
enum cunei_level cunei_budget_level_of(struct cunei_budget *own, uint32_t id);

/* Read the words of a stream's packet that were not read yet. */
void cunei_budget_observe(struct cunei_stream *stream, void *context);

/* Steady events, as far as the observer has read them; and those since the last burst
 * that counted, up to now. */
double cunei_budget_steady_events(const struct cunei_budget *own,
                                  const struct cunei_observer *observer);
double cunei_budget_steady_since(const struct cunei_budget *own);

/* Add the calls that were counted to their functions. */
void cunei_budget_take_counts(struct cunei_budget *budget);

/* Switch the events of all code objects to the levels of their functions. */
void cunei_budget_switch(struct cunei_budget *own);

/* Count ends as well as starts of calls if only starts were counted, or the reverse. */
void cunei_budget_turn(struct cunei_budget *own);

/* The rates of a function that was recorded for `time_ns`, which would have been
 * `net_ns` without the cost of its events. */
struct cunei_rates cunei_budget_rates_of(const struct cunei_budget *budget,
                                         const struct cunei_observed *seen,
                                         double time_ns, double net_ns);

/*
 * Learn what one entry of a function takes, which does not depend on how often it is
 * called.  `running`: the part of the time in which the process ran.
 */
void cunei_budget_learn(struct cunei_budget *budget,
                        struct cunei_budget_function *function,
                        const struct cunei_observed *seen, double running);

#endif
