// SPDX-License-Identifier: MIT
/*
 * What recording cost a program, as an estimate between two bounds.
 *
 * Known are the events, what writing took, and what an event costs in a loop that does
 * nothing else, measured before the recording.  In a program it costs more: between two
 * events the program's own code and data take the place of ours in caches and branch
 * predictors, and ours of theirs.  How much more grows with what there is between them,
 * up to a bound, and differs from program to program: `make bench ARGS="--only
 * filters"` finds it.
 *
 *     struct cunei_overhead overhead = {.floor_ns = …, .write_ns = …, .cpu_ns = …};
 *     double run_ns = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_USUAL);
 *     double cost_ns = cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_USUAL, run_ns);
 */
#ifndef CUNEI_ANALYSIS_OVERHEAD_H
#define CUNEI_ANALYSIS_OVERHEAD_H

#include <stdint.h>

/* What costs more than an event, in events: the first sight of a function, an exception
 * that is raised, and a frame that one ends. */
#define CUNEI_OVERHEAD_SIGHT 120
#define CUNEI_OVERHEAD_RAISE 6

enum cunei_overhead_guess {
    CUNEI_OVERHEAD_LEAST,
    CUNEI_OVERHEAD_USUAL,
    CUNEI_OVERHEAD_MOST,
};

struct cunei_overhead {
    double floor_ns; /* events times what one costs in a loop */
    double write_ns; /* CPU time */
    double cpu_ns;   /* of the program, with all of this; 0: unknown */
};

/* The CPU time that the program itself took, 0 if the floor leaves none. */
double cunei_overhead_run_ns(const struct cunei_overhead *overhead,
                             enum cunei_overhead_guess guess);

/* What recording costs a program that takes `run_ns` without. */
double cunei_overhead_cost_ns(const struct cunei_overhead *overhead,
                              enum cunei_overhead_guess guess, double run_ns);

#endif
