// SPDX-License-Identifier: MIT
/*
 * What recording cost a program, as an estimate between two bounds.
 *
 * The number of events and the time of writing are known, and so is the cost of an
 * event in an otherwise empty loop, measured before the recording.  In a program it
 * costs more: between two events the program's own code and data take the place of ours
 * in caches and branch predictors, and ours of theirs.  How much more depends on the
 * code between them, up to a bound, and differs from program to program: `make bench
 * ARGS="--only filters"` finds it.
 *
 *     struct cunei_overhead overhead = {.floor_ns = …, .write_ns = …, .cpu_ns = …};
 *     double run_ns = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_USUAL);
 *     double cost_ns = cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_USUAL, run_ns);
 */
#ifndef CUNEI_ANALYSIS_OVERHEAD_H
#define CUNEI_ANALYSIS_OVERHEAD_H

/* Costs in units of an event: the first call of a function; an exception that is
 * raised, and each frame that it ends. */
#define CUNEI_OVERHEAD_SIGHT 120
#define CUNEI_OVERHEAD_RAISE 6

enum cunei_overhead_guess {
    CUNEI_OVERHEAD_LEAST,
    CUNEI_OVERHEAD_USUAL,
    CUNEI_OVERHEAD_MOST,
};

struct cunei_overhead {
    double floor_ns; /* events times the cost of one in a loop */
    double write_ns; /* CPU time */
    double cpu_ns;   /* of the program, including both; 0: unknown */
};

/* The CPU time of the program without recording; 0 if the floor is larger. */
double cunei_overhead_run_ns(const struct cunei_overhead *overhead,
                             enum cunei_overhead_guess guess);

/* The cost of recording a program that takes `run_ns` without it. */
double cunei_overhead_cost_ns(const struct cunei_overhead *overhead,
                              enum cunei_overhead_guess guess, double run_ns);

#endif
