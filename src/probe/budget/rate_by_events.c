// SPDX-License-Identifier: MIT
#include "probe/budget/rate_by_events.h"

#include <math.h>

/* How much of the sums a new burst keeps: some twenty bursts count. */
#define KEPT 0.95
/* Fewer steady events than these predict nothing. */
#define STEADY_LEAST 16.0
/* The variance of a burst's steady events that comes from its edges: they come in
 * pairs, of which a burst has one more or less. */
#define EDGES 1.0

static double square(double value)
{
    return value * value;
}

void cunei_rate_by_events_add(struct cunei_rate_by_events *rate,
                              const struct cunei_rate_by_events_burst *burst)
{
    double entries = burst->calls + burst->resumes;
    double before = rate->calls + rate->resumes;

    if (rate->steady >= STEADY_LEAST / 2 && burst->predicted >= 0) {
        double entry_rate = entries / burst->net_ns, each = before / rate->steady;
        /* The ratio has edges as well. */
        double edges =
            EDGES * (1 + rate->bursts * square(burst->steady / rate->steady));
        double wrong = square(entries - each * burst->steady) - square(each) * edges;
        rate->judged = KEPT * rate->judged + 1;
        rate->by_events =
            KEPT * rate->by_events + fmax(0, wrong) / square(burst->net_ns);
        /* Two bursts differ by the errors of both, but not by an error that both share.
         */
        rate->by_time = KEPT * rate->by_time +
                        square(entry_rate - burst->predicted) / 2 +
                        square(entry_rate * burst->bias);
    }
    rate->bursts = KEPT * rate->bursts + 1;
    rate->steady = KEPT * rate->steady + burst->steady;
    rate->calls = KEPT * rate->calls + burst->calls;
    rate->resumes = KEPT * rate->resumes + burst->resumes;
}

struct cunei_rate_prediction cunei_rate_by_events_predict(
    const struct cunei_rate_by_events *rate, double steady, double gap_ns)
{
    struct cunei_rate_prediction predicted = {0};

    if (rate->steady < STEADY_LEAST || rate->judged <= 0 || gap_ns <= 0)
        return predicted;
    predicted.calls = rate->calls / rate->steady * steady;
    predicted.resumes = rate->resumes / rate->steady * steady;
    double entry_rate = (predicted.calls + predicted.resumes) / gap_ns;
    double wrong = rate->by_events / rate->judged;
    predicted.error = entry_rate > 0 ? sqrt(wrong) / entry_rate : 0;
    /* All gaps use the same ratio: a mean over bursts, with the edges of each. */
    predicted.bias = hypot(sqrt(rate->bursts * EDGES) / rate->steady,
                           predicted.error / sqrt(rate->bursts));
    double by_events = wrong + square(entry_rate * predicted.bias);
    double by_time = rate->by_time / rate->judged;
    if (by_time + by_events > 0)
        predicted.part = by_time / (by_time + by_events);
    return predicted;
}
