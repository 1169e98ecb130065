// SPDX-License-Identifier: MIT
/*
 * A budget, as the files see it that it is made of: private to them.
 *
 *     budget.c   when there is something to decide, and what was spent
 *     demotion.c what is demoted, and what is told of it
 *     schedule.c when bursts come
 *     burst.c    bursts, and what they say
 */
#ifndef CUNEI_PROBE_BUDGET_BUDGET_PRIVATE_H
#define CUNEI_PROBE_BUDGET_BUDGET_PRIVATE_H

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

/* What a code object costs after a switch: CPython instruments it anew when it runs,
 * and its instructions are specialized anew. */
#define CUNEI_BUDGET_RENEWAL_NS 5000.0

/* A function under the budget. */
struct cunei_governed {
    enum cunei_level level; /* between bursts */
    bool can;               /* be demoted */
    bool was;               /* demoted, some time */
    double load, self;      /* shares of the program's time, as in a candidate */
    double since_ns;        /* run time up to which it is estimated */
    double counted;
    double burst_calls, burst_resumes; /* counted in the burst that is on, … */
    double settled, half_entries; /* of these entries, where it is settled, and those
                                   * in its first half */
    double gap_ns;     /* not recorded before `since_ns`, and not estimated yet */
    double own, whole; /* ticks of one entry, without what the events cost */
    double own_wrong;  /* of these, what `own` may be off by */
    bool has_learned;  /* these from a burst, not only from the time before it */
    struct cunei_rate_by_events pace;
    struct cunei_estimate estimate;
};

struct cunei_budget {
    struct cunei_source *source; /* borrowed; NULL: no budget */
    double share, event_ns, count_ns, ticks_per_ns;
    double end_part; /* what a counted end costs, of what a counted beginning does */
    bool has_twice;  /* what is counted hears of ends now */
    struct cunei_governed *functions; /* owned, by id */
    uint32_t capacity, demoted;
    struct cunei_observer normal, burst;
    struct cunei_observer *observer; /* the one that packets go to now */
    struct cunei_scale scale;
    double bias; /* of the last burst: which part of its rates may be wrong */
    enum {
        CUNEI_BUDGET_RESTS,
        CUNEI_BUDGET_RECORDS, /* a burst */
        CUNEI_BUDGET_COUNTS,  /* the same */
    } state;
    unsigned bursts;   /* so far */
    unsigned switched; /* code objects, the last time */
    unsigned looks;    /* the same, with those that had nothing to see */
    bool is_acting;
    void (*wake)(void);
    double begin_ns;             /* run time, as all but next_ns */
    double window_ns, bursts_ns; /* the window's begin, and bursts in it */
    double burst_ns, told_ns;
    double told_bytes;   /* of the trace, for samples */
    double rest_ns;      /* since when no burst was on; 0: other functions tell of it */
    double rest_moves;   /* in it, of functions that were never demoted … */
    double moves_before; /* … but for these, which were before it */
    double gap_moves;    /* the same, since the last burst that counted */
    double aside_ns;     /* of the burst that is on, for packets */
    double wanted_ns;    /* when it was wanted … */
    double still_ns;     /* … and the time up to its begin: nothing was called */
    unsigned postponed;  /* so many times */
    double planned_ns;   /* how long it is to be, from its begin */
    uint64_t burst_begin; /* tick */
    uint64_t burst_until; /* tick; between bursts, how long the next one is */
    uint64_t stage_until; /* tick */
    unsigned extended;    /* so many times: something else had the core */
    enum {
        CUNEI_STAGE_SETTLES, /* behind a switch code is instrumented, caches are cold */
        CUNEI_STAGE_FIRST,
        CUNEI_STAGE_SETTLES_AGAIN,
        CUNEI_STAGE_SECOND,
    } stage;            /* of a burst that counts */
    double stage_ns;    /* when it began */
    double half_ns;     /* run time of its first half, as far as it is settled … */
    double settled_ns;  /* … and of both */
    uint64_t next_ns;   /* monotonic: the next burst, not before … */
    double next_run_ns; /* … this much run time, too; 0: none */
    double spent_ns, window_spent_ns, switch_ns;
    double observe_ns; /* what reading an event again takes */
    uint64_t raised;   /* events of exceptions that were charged */
    uint64_t written_ns, waker_ns;
    uint32_t random;
};

/* budget.c */
double cunei_budget_run_ns(void);
void cunei_budget_spend(struct cunei_budget *own, double ns);
/* What an event costs here, and what it does with being read again. */
double cunei_budget_event_ns(const struct cunei_budget *own);
double cunei_budget_load_ns(const struct cunei_budget *own);
/* NULL: there is no place for it. */
struct cunei_governed *cunei_budget_find(struct cunei_budget *own, uint32_t id);
/* Read what a stream's packet holds that was not read yet. */
void cunei_budget_observe(struct cunei_stream *stream, void *context);
/* Events of functions that were never demoted, as far as they were read. */
double cunei_budget_moves(const struct cunei_budget *own,
                          const struct cunei_observer *observer);
/* All code objects as their functions and the state say; threads tell anew what is
 * open. */
void cunei_budget_switch(struct cunei_budget *own);
/* What is counted hears of its ends, too, if it did not, and the other way round. */
void cunei_budget_turn(struct cunei_budget *own);

/* demotion.c */
void cunei_demotion_decide(struct cunei_budget *budget, double now_ns,
                           bool top_is_open);
/* Calls that were counted become the functions'. */
void cunei_demotion_take_counts(struct cunei_budget *budget);
void cunei_demotion_write(enum cunei_phase phase, uint32_t id, enum cunei_level level,
                          bool top_is_open);
/*
 * Write down what is known of all that is demoted: up to the last burst, if it is worth
 * it, for what was told is not lost when the program is killed; up to now; and as the
 * last thing that is said of it.
 */
void cunei_demotion_tell(struct cunei_budget *budget, double now_ns, bool top_is_open);
bool cunei_demotion_is_to_be_told(const struct cunei_budget *budget, double now_ns);
void cunei_demotion_tell_up_to(struct cunei_budget *budget, double now_ns);
void cunei_demotion_end(struct cunei_budget *budget, double now_ns);
/*
 * What one entry of a function takes, which is the same however often there is one.
 * `running`: the part of the time in which the process ran.
 */
void cunei_demotion_learn(struct cunei_budget *budget, struct cunei_governed *function,
                          const struct cunei_observed *seen, double running);

/* What moves say of a time without records. */
struct cunei_second cunei_demotion_follow(const struct cunei_governed *function,
                                          double moves, double gap_ns);

/* schedule.c */
/* When the next burst comes: never in step with the program. */
void cunei_burst_schedule_plan(struct cunei_budget *budget);
/* It is time for it.  False: not now, another time has been chosen. */
bool cunei_burst_schedule_lets_begin(struct cunei_budget *budget, double now_ns);
/* Counts say how often, and cost less: two of three bursts count. */
bool cunei_burst_schedule_counts_next(const struct cunei_budget *budget);
/* So long it takes before a program goes on evenly behind a switch. */
double cunei_burst_schedule_settling_ns(const struct cunei_budget *budget);

/* burst.c */
/* `now_ns`: when it became time for it. */
void cunei_burst_begin(struct cunei_budget *budget, double now_ns, bool top_is_open);
/* It is time for its end.  Whether the program has yet to run for so long in it. */
bool cunei_burst_extend(struct cunei_budget *budget, double now_ns);
void cunei_burst_go_on(struct cunei_budget *budget, double now_ns);
void cunei_burst_end(struct cunei_budget *budget, double now_ns, bool top_is_open);

#endif
