// SPDX-License-Identifier: MIT
/*
 * How often a function runs for each event of those that are always recorded.
 *
 * A rate by time must know how much a burst slows the program down, and is wrong where
 * the machine is now fast, now slow.  A function that runs in step with others, as a
 * helper of theirs does, is better estimated by these: they are known between bursts,
 * too, and whatever slows one of them slows all.  Which of both is to be believed, and
 * how much, is what their predictions of earlier bursts say.
 *
 * A burst begins and ends somewhere between two moves, so that a short one shows one
 * more or less than there were.  That is no fault of moves: a gap has many.
 *
 * Knows nothing of Python.  Moves are events of functions that were never demoted.
 */
#ifndef CUNEI_PROBE_BUDGET_RATE_BY_EVENTS_H
#define CUNEI_PROBE_BUDGET_RATE_BY_EVENTS_H

struct cunei_rate_by_events {
    double bursts;                /* older ones count less, here and below */
    double moves, calls, resumes; /* in them */
    double judged;                /* bursts that were predicted */
    double by_time, by_moves;     /* squares of what was wrong, of entries a ns */
};

/* What a burst that took so long without its cost had, and what time had predicted. */
struct cunei_rate_by_events_burst {
    double moves, calls, resumes, net_ns;
    double predicted; /* entries a nanosecond; less than 0: nothing had */
    double bias;      /* which part of net_ns may be wrong */
};

void cunei_rate_by_events_add(struct cunei_rate_by_events *pace,
                              const struct cunei_rate_by_events_burst *burst);

/* Calls and resumptions in a time with so many moves. */
struct cunei_rated_by_events {
    double calls, resumes;
    double error; /* standard error, as a part of them … */
    double bias;  /* … and the same of what is in all of them */
    double part;  /* of the truth: from 0, nothing is known by moves, to 1 */
};

struct cunei_rated_by_events cunei_rate_by_events_predict(
    const struct cunei_rate_by_events *pace, double moves, double gap_ns);

#endif
