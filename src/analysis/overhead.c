// SPDX-License-Identifier: MIT
#include "analysis/overhead.h"

#include <math.h>

/* Where half of what comes on top has come: times the floor, between two events. */
#define HALF_WAY 10.0

/*
 * An event costs `times` the floor, and up to `more` times that on top.  The floor may
 * have been measured while the machine was slow, and the program have run while it was
 * not.  What was found in programs: see docs/explanation/how-exact.md.
 */
static const struct {
    double times, more;
} guesses[] = {
    [CUNEI_OVERHEAD_LEAST] = {0.7, 0.5},
    [CUNEI_OVERHEAD_USUAL] = {1, 3},
    [CUNEI_OVERHEAD_MOST] = {1, 8},
};

/*
 * cost = floor × (1 + more × run / (run + HALF_WAY × floor)) + write, and run + cost is
 * what was found: the positive root of a quadratic equation.
 */
double cunei_overhead_run_ns(const struct cunei_overhead *overhead,
                             enum cunei_overhead_guess guess)
{
    double floor_ns = guesses[guess].times * overhead->floor_ns;
    double found_ns = overhead->cpu_ns - overhead->write_ns;

    if (found_ns <= floor_ns)
        return 0;
    double b = (1 + HALF_WAY + guesses[guess].more) * floor_ns - found_ns;
    double c = HALF_WAY * floor_ns * (found_ns - floor_ns);

    return (sqrt(b * b + 4 * c) - b) / 2;
}

double cunei_overhead_cost_ns(const struct cunei_overhead *overhead,
                              enum cunei_overhead_guess guess, double run_ns)
{
    double floor_ns = guesses[guess].times * overhead->floor_ns;
    double apart = floor_ns > 0 ? run_ns / (run_ns + HALF_WAY * floor_ns) : 0;

    return floor_ns * (1 + guesses[guess].more * apart) + overhead->write_ns;
}
