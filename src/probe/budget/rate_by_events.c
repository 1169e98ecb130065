// SPDX-License-Identifier: MIT
#include "probe/budget/rate_by_events.h"

#include <math.h>

/* How much of what is known a new burst leaves: some twenty of them count. */
#define KEPT 0.95
/* Fewer moves than these say nothing. */
#define MOVES_LEAST 16.0
/* The variance of a burst's moves that comes from where it begins and ends: they come
 * in pairs, of which a burst has one more or less. */
#define EDGES 1.0

static double square(double value)
{
    return value * value;
}

void cunei_rate_by_events_add(struct cunei_rate_by_events *pace,
                              const struct cunei_rate_by_events_burst *burst)
{
    double entries = burst->calls + burst->resumes;
    double before = pace->calls + pace->resumes;

    if (pace->moves >= MOVES_LEAST / 2 && burst->predicted >= 0) {
        double rate = entries / burst->net_ns, each = before / pace->moves;
        /* The ratio has its edges, too. */
        double edges = EDGES * (1 + pace->bursts * square(burst->moves / pace->moves));
        double wrong = square(entries - each * burst->moves) - square(each) * edges;
        pace->judged = KEPT * pace->judged + 1;
        pace->by_moves = KEPT * pace->by_moves + fmax(0, wrong) / square(burst->net_ns);
        /* Two bursts differ by the faults of both, and do not by what both have. */
        pace->by_time = KEPT * pace->by_time + square(rate - burst->predicted) / 2 +
                        square(rate * burst->bias);
    }
    pace->bursts = KEPT * pace->bursts + 1;
    pace->moves = KEPT * pace->moves + burst->moves;
    pace->calls = KEPT * pace->calls + burst->calls;
    pace->resumes = KEPT * pace->resumes + burst->resumes;
}

struct cunei_rated_by_events cunei_rate_by_events_predict(
    const struct cunei_rate_by_events *pace, double moves, double gap_ns)
{
    struct cunei_rated_by_events paced = {0};

    if (pace->moves < MOVES_LEAST || pace->judged <= 0 || gap_ns <= 0)
        return paced;
    paced.calls = pace->calls / pace->moves * moves;
    paced.resumes = pace->resumes / pace->moves * moves;
    double rate = (paced.calls + paced.resumes) / gap_ns;
    double wrong = pace->by_moves / pace->judged;
    paced.error = rate > 0 ? sqrt(wrong) / rate : 0;
    /* The ratio is one for all gaps: a mean of bursts, with the edges of each. */
    paced.bias = hypot(sqrt(pace->bursts * EDGES) / pace->moves,
                       paced.error / sqrt(pace->bursts));
    double by_moves = wrong + square(rate * paced.bias);
    double by_time = pace->by_time / pace->judged;
    if (by_time + by_moves > 0)
        paced.part = by_time / (by_time + by_moves);
    return paced;
}
