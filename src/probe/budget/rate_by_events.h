// SPDX-License-Identifier: MIT
/*
 * How often a function runs per steady event.  Steady events are those of functions
 * that were never demoted: they are recorded in bursts and between them.
 *
 * A rate by time needs to know how much a burst slows the program down, and is wrong if
 * the machine is sometimes fast and sometimes slow.  A function that runs in step with
 * others, such as their helper, is better estimated by their events: these are known
 * between bursts, and whatever slows one function slows the others.  How well each of
 * the two rates predicted earlier bursts decides how much it counts.
 *
 * A burst begins and ends between two events, so that a short one shows one more or
 * less than its share.  That is no error of the ratio: a gap has many events.
 *
 * Knows nothing of Python.
 */
#ifndef CUNEI_PROBE_BUDGET_RATE_BY_EVENTS_H
#define CUNEI_PROBE_BUDGET_RATE_BY_EVENTS_H

struct cunei_rate_by_events {
    double bursts;                 /* older ones count less, in all sums */
    double steady, calls, resumes; /* in them */
    double judged;                 /* bursts that were predicted */
    double by_time, by_events;     /* squared errors, in entries per ns */
};

/* One burst; net_ns is its time without the cost of its events. */
struct cunei_rate_by_events_burst {
    double steady, calls, resumes, net_ns;
    double predicted; /* entries per ns, by the rate by time; less than 0: none */
    double bias;      /* the part of net_ns that may be wrong */
};

void cunei_rate_by_events_add(struct cunei_rate_by_events *rate,
                              const struct cunei_rate_by_events_burst *burst);

/* Calls and resumes in a time, predicted from the number of steady events in it. */
struct cunei_rate_prediction {
    double calls, resumes;
    double error; /* standard error of one gap, as a part of them */
    double bias;  /* the same for all gaps together */
    double part;  /* weight of this prediction, from 0 to 1 */
};

struct cunei_rate_prediction cunei_rate_by_events_predict(
    const struct cunei_rate_by_events *rate, double steady, double gap_ns);

#endif
