// SPDX-License-Identifier: MIT
#include "probe/budget/estimate.h"

#include <math.h>

/* How much of the sums of the scale a new burst keeps. */
#define SCALE_KEPT 0.98
/* Limits of the scale; values beyond come from a program that changed meanwhile. */
#define SCALE_LEAST 0.5
#define SCALE_MOST  2.5
/* The error before the first bursts, and the least error. */
#define SCALE_ERROR_FIRST 0.5
#define SCALE_ERROR_LEAST 0.02
/*
 * The same for the charge.  Where many functions are called, events find cold caches
 * and cost two to four times as much as in a loop.
 */
#define CHARGE_FIRST 2.0
#define CHARGE_ERROR 1.0
#define CHARGE_MOST  6.0
/* The fewest bursts and calls to compare, and the least part that costs must have. */
#define PAIRS_LEAST 4
#define CALLS_LEAST 1000
#define COST_LEAST  0.03
/*
 * If calls come up to SAME_PROGRAM times closer or further apart, the machine is slow
 * or fast just now, and so are our events.  From ANOTHER_PROGRAM on the program does
 * something else.
 */
#define SAME_PROGRAM    2.0
#define ANOTHER_PROGRAM 4.0
/*
 * The cost of counting, compared with recording, was measured in another loop.  It may
 * be wrong by this part, which no comparison of bursts shows.
 */
#define BIAS_LEAST 0.3
/* The same for an end, compared with a start. */
#define END_ERROR 0.25
/* The error of one pair of halves, as long as there are few. */
#define PAIR_ERROR 0.25
/* Halves that differ more did different work. */
#define RATIO_MOST 3.0
/*
 * Bursts follow a wake-up, on a busy machine at a bad moment.  A program may be slower
 * in them by this part; only steady events can show it.
 */
#define BURST_ERROR 0.05
/* The least part of a burst that is the program. */
#define NET_LEAST 0.1

/* How much of the spread two new neighbours keep. */
#define SPREAD_KEPT 0.75

/* Two neighbours, and the second opinion. */
struct around {
    const struct cunei_rates *last, *now;
    const struct cunei_second_rates *second;
};

#define MEAN(around, what)                                                        \
    mean((around)->last->what, (around)->now->what, (around)->second->rates.what, \
         (around)->second->part)

static double mean(double one, double two, double second, double part)
{
    return (1 - part) * (one + two) / 2 + part * second;
}

/* The variance of a rate, by two neighbours and the second opinion. */
static double variance(double squared, double least, double wrong, double part)
{
    return (1 - part) * (1 - part) * fmax(squared, least) + part * part * wrong * wrong;
}

static double half_square(double one, double two)
{
    return (one - two) * (one - two) / 2;
}

/*
 * The variance of one burst's rates, by its neighbour.  If no burst follows a gap, by
 * the neighbours before.  With one burst alone, its own square.
 */
static struct cunei_rates spread_of(struct cunei_estimate *estimate,
                                    const struct cunei_rates *rates)
{
    static const struct cunei_rates none;
    const struct cunei_rates *now = rates ? rates : &estimate->last;
    const struct cunei_rates *other =
        rates && estimate->last_ns > 0 ? &estimate->last : &none;

    if (!rates && estimate->has_spread)
        return estimate->spread;
    struct cunei_rates spread = {.calls = half_square(now->calls, other->calls),
                                 .resumes = half_square(now->resumes, other->resumes),
                                 .self = half_square(now->self, other->self)};
    if (rates && estimate->last_ns > 0 && !estimate->is_chosen) {
        struct cunei_rates *known = &estimate->spread;
        double kept = estimate->has_spread ? SPREAD_KEPT : 0;
        known->calls = kept * known->calls + (1 - kept) * spread.calls;
        known->resumes = kept * known->resumes + (1 - kept) * spread.resumes;
        known->self = kept * known->self + (1 - kept) * spread.self;
        estimate->has_spread = true;
    }
    return spread;
}

void cunei_estimate_gap(struct cunei_estimate *estimate, double gap_ns,
                        const struct cunei_rates *rates, double burst_ns,
                        double counted, double bias,
                        const struct cunei_second_rates *second)
{
    bool has_last = estimate->last_ns > 0;
    const struct cunei_rates *now = rates ? rates : &estimate->last;
    const struct cunei_rates *last =
        has_last && !estimate->is_chosen ? &estimate->last : now;
    double window_ns = rates ? burst_ns : estimate->last_ns;
    double part = second->part, squared_ns = gap_ns * gap_ns;

    if (gap_ns <= 0 || (!rates && !has_last))
        return;
    struct cunei_rates spread = spread_of(estimate, rates);
    struct around around = {last, now, second};
    /* A burst cannot show less than one call. */
    double least = window_ns > 0 ? 1 / (window_ns * window_ns) : 0;
    double calls = gap_ns * MEAN(&around, calls);
    double resumes = gap_ns * MEAN(&around, resumes);
    double self = gap_ns * MEAN(&around, self);
    bias = bias * (1 - part) + second->bias * part;
    estimate->span_ns += gap_ns;
    if (counted >= 0)
        estimate->calls += counted;
    else {
        estimate->calls += calls;
        estimate->uncounted += gap_ns;
        estimate->calls_variance +=
            squared_ns * variance(spread.calls, least, second->wrong.calls, part);
        estimate->bias += calls * bias;
    }
    estimate->resumes += resumes;
    estimate->resumes_variance +=
        squared_ns *
        variance(spread.resumes, resumes > 0 ? least : 0, second->wrong.resumes, part);
    estimate->resumes_bias += resumes * bias;
    estimate->self += self;
    estimate->total += gap_ns * MEAN(&around, total);
    double entries = now->calls + now->resumes;
    double per_entry = entries > 0 ? now->self / entries : 0;
    estimate->self_variance +=
        squared_ns *
        variance(spread.self, least * per_entry * per_entry, second->wrong.self, part);
    estimate->self_bias += hypot(self * bias, gap_ns * MEAN(&around, self_wrong));
    if (rates) {
        estimate->last = *rates;
        estimate->last_ns = burst_ns;
        estimate->is_chosen = false;
    }
}

void cunei_estimate_callers(struct cunei_estimate *estimate,
                            const struct cunei_observed *observed)
{
    estimate->seen_calls += (double)(observed->calls - observed->alone_calls);
    estimate->seen_self += (double)(observed->self - observed->alone_self);
    for (unsigned i = 0; i < CUNEI_OBSERVED_CALLERS; i++) {
        const struct cunei_observed_caller *from = &observed->callers[i];
        for (unsigned j = 0; j < CUNEI_OBSERVED_CALLERS && from->function; j++) {
            struct cunei_estimate_caller *to = &estimate->callers[j];
            if (to->function == 0)
                to->function = from->function;
            if (to->function != from->function)
                continue;
            to->calls += from->calls;
            to->self += (double)from->self;
            break;
        }
    }
}

static uint64_t rounded(double value)
{
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static uint32_t millionths(double part, double of)
{
    return of > 0 ? (uint32_t)fmin(UINT32_MAX, 1e6 * part / of) : 0;
}

bool cunei_estimate_caller(const struct cunei_estimate *estimate, uint32_t function,
                           unsigned i, struct cunei_sample *sample)
{
    const struct cunei_estimate_caller *caller = &estimate->callers[i];

    if (caller->function == 0)
        return false;
    double calls = estimate->seen_calls > 0 ? caller->calls / estimate->seen_calls : 0;
    double self = estimate->seen_self > 0 ? caller->self / estimate->seen_self : 0;
    *sample = (struct cunei_sample){
        .record = cunei_record(0, CUNEI_CLASS_SAMPLE, CUNEI_PHASE_LEAVE),
        .function = function,
        .caller = caller->function,
        .calls = rounded(estimate->calls * (calls < 1 ? calls : 1)),
        .self = rounded(estimate->self * (self < 1 ? self : 1)),
    };
    return sample->calls > 0 || sample->self > 0;
}

void cunei_estimate_take(struct cunei_estimate *estimate, uint32_t function,
                         double ticks_per_ns, struct cunei_sample *sample)
{
    *sample = (struct cunei_sample){
        .record = cunei_record(0, CUNEI_CLASS_SAMPLE, CUNEI_PHASE_ENTER),
        .function = function,
        .span = rounded(estimate->span_ns * ticks_per_ns),
        .calls = rounded(estimate->calls),
        .resumes = rounded(estimate->resumes),
        .self = rounded(estimate->self),
        .total = rounded(estimate->total),
        .calls_error = rounded(sqrt(estimate->calls_variance)),
        .resumes_error = rounded(sqrt(estimate->resumes_variance)),
        .self_error = rounded(sqrt(estimate->self_variance)),
        .bias = millionths(estimate->bias + estimate->resumes_bias,
                           estimate->calls + estimate->resumes),
        .self_bias = millionths(estimate->self_bias, estimate->self),
        .flags = estimate->uncounted > 0 ? 0 : CUNEI_SAMPLE_COUNTED,
    };
    /* Keep what was rounded: a function that is rarely called has a part of a call in
     * each sample. */
    double calls_error = (double)sample->calls_error;
    struct cunei_estimate empty = {
        .calls = estimate->calls - (double)sample->calls,
        .resumes = estimate->resumes - (double)sample->resumes,
        .calls_variance = fmax(0, estimate->calls_variance - calls_error * calls_error),
        .last = estimate->last,
        .last_ns = estimate->last_ns,
        .is_chosen = estimate->is_chosen,
        .spread = estimate->spread,
        .has_spread = estimate->has_spread,
        .seen_calls = estimate->seen_calls,
        .seen_self = estimate->seen_self};
    for (unsigned i = 0; i < CUNEI_OBSERVED_CALLERS; i++)
        empty.callers[i] = estimate->callers[i];
    *estimate = empty;
}

void cunei_scale_init(struct cunei_scale *scale, double end_part)
{
    *scale = (struct cunei_scale){
        .end_part = end_part,
        .value = 1,
        .error = SCALE_ERROR_FIRST,
        .charge = CHARGE_FIRST,
    };
}

void cunei_scale_pair(struct cunei_scale *scale, double ratio)
{
    if (ratio > RATIO_MOST || ratio < 1 / RATIO_MOST)
        return;
    scale->pairs = SCALE_KEPT * scale->pairs + 1;
    scale->pairs_sum = SCALE_KEPT * scale->pairs_sum + ratio;
    scale->pairs_squares = SCALE_KEPT * scale->pairs_squares + ratio * ratio;
}

static double per_call(const struct cunei_scale_side *side)
{
    return side->time_ns / side->calls;
}

/* The variance of a side's mean time per call. */
static double variance_of(const struct cunei_scale_side *side)
{
    double mean = side->sum / side->count;
    double spread = fmax(0, side->squares / side->count - mean * mean);

    return spread / fmax(1, side->count - 1);
}

/* A value with its standard error. */
struct value {
    double value, error;
};

/*
 * The weighted mean of two values.  If they are further apart than their errors, the
 * errors were too small.
 */
static struct value combine(struct value one, struct value two)
{
    double first = 1 / (one.error * one.error), second = 1 / (two.error * two.error);
    double apart = fabs(one.value - two.value) / hypot(one.error, two.error);

    return (struct value){
        .value = (one.value * first + two.value * second) / (first + second),
        .error = fmax(1, apart) / sqrt(first + second),
    };
}

/*
 * calls / (time - scale * cost) is the same for both kinds of bursts, if many are added
 * up: a machine that is sometimes slow is slow in both.
 */
static struct value compare_sides(const struct cunei_scale *scale, struct value known)
{
    const struct cunei_scale_side *full = &scale->sides[0];
    const struct cunei_scale_side *counted = &scale->sides[1];

    if (full->count < PAIRS_LEAST || counted->count < PAIRS_LEAST ||
        full->calls < CALLS_LEAST || counted->calls < CALLS_LEAST)
        return known;
    double cost = full->cost_ns / full->calls - counted->cost_ns / counted->calls;
    double time = per_call(full) - per_call(counted);
    if (cost < COST_LEAST * per_call(full))
        return known;
    struct value found = {.value = time / cost,
                          .error =
                              sqrt(variance_of(full) + variance_of(counted)) / cost};
    found.error = fmax(SCALE_ERROR_LEAST, found.error);
    return combine(known, found);
}

/* The cost of recording, by how much slower the program is in bursts that record. */
static struct value compare_speeds(const struct cunei_scale *scale, struct value known)
{
    const struct cunei_scale_side *full = &scale->sides[0];
    double speed, error = cunei_burst_slowdown_speed(&full->slowdown, &speed);
    double part = full->time_ns > 0 ? full->cost_ns / full->time_ns : 0;

    if (error >= 1 || part < COST_LEAST)
        return known;
    return combine(known,
                   (struct value){.value = (1 - speed) / part, .error = error / part});
}

static void solve(struct cunei_scale *scale)
{
    struct value scaled = {.value = 1, .error = SCALE_ERROR_FIRST};
    struct value charge = {.value = CHARGE_FIRST, .error = CHARGE_ERROR};

    charge = compare_speeds(scale, compare_sides(scale, charge));
    scale->charge = fmin(CHARGE_MOST, fmax(SCALE_LEAST, charge.value));
    scaled = compare_speeds(scale, compare_sides(scale, scaled));
    scale->value = fmin(SCALE_MOST, fmax(SCALE_LEAST, scaled.value));
    scale->error = fmax(SCALE_ERROR_LEAST, scaled.error);
}

void cunei_scale_slowdown(struct cunei_scale *scale, bool is_counted, double seen,
                          double expected)
{
    cunei_burst_slowdown_add(&scale->sides[is_counted].slowdown, seen, expected);
}

void cunei_scale_add(struct cunei_scale *scale, bool is_counted, double calls,
                     double time_ns, double cost_ns)
{
    struct cunei_scale_side *side = &scale->sides[is_counted];

    if (calls < 1 || (side->count >= PAIRS_LEAST &&
                      time_ns / calls > ANOTHER_PROGRAM * per_call(side)))
        return;
    *side = (struct cunei_scale_side){
        .calls = SCALE_KEPT * side->calls + calls,
        .time_ns = SCALE_KEPT * side->time_ns + time_ns,
        .cost_ns = SCALE_KEPT * side->cost_ns + cost_ns,
        .count = SCALE_KEPT * side->count + 1,
        .sum = SCALE_KEPT * side->sum + time_ns / calls,
        .squares = SCALE_KEPT * side->squares + time_ns / calls * (time_ns / calls),
        .slowdown = side->slowdown,
    };
    solve(scale);
}

/*
 * The speed of a counting burst, by its halves.  If a call takes `ratio` times as long
 * when its end is counted as well, and an end costs `end_part` of a start, the cost of
 * the start follows.
 */
static struct value compare_halves(const struct cunei_scale *scale, double off)
{
    double count = scale->pairs, ratio = scale->pairs_sum / fmax(1, count);

    if (count < 1 || ratio <= 0.5)
        return (struct value){.error = 1};
    double squares = fmax(0, scale->pairs_squares - count * ratio * ratio);
    double spread = (squares + PAIR_ERROR * PAIR_ERROR) / count;
    double more = fmax(0, ratio - 1) / scale->end_part;
    double error = hypot(sqrt(spread / count) / scale->end_part, END_ERROR * more);
    double both = (1 + 1 / ratio) / 2;

    return (struct value){.value = (1 - more * off) * both,
                          .error = fmax(1e-3, error * both)};
}

double cunei_scale_net(const struct cunei_scale *scale, bool is_counted,
                       const struct cunei_scale_side *burst, double *bias)
{
    const struct cunei_scale_side *side = &scale->sides[is_counted];
    double part = burst->cost_ns / burst->time_ns;
    double net = 1 - scale->value * part;

    if (burst->calls > 0 && side->calls > 0) {
        double density = per_call(side) / per_call(burst);
        double usual = 1 - scale->value * side->cost_ns / side->time_ns;
        if (density > 1 / SAME_PROGRAM && density < SAME_PROGRAM)
            net = usual;
    }
    struct value speed = {.value = fmax(net, NET_LEAST),
                          .error = fmax(1e-3, fmax(scale->error, BIAS_LEAST) * part)};
    if (is_counted && burst->calls > 0) {
        struct value halves = compare_halves(scale, burst->off / burst->calls);
        if (halves.error < 1)
            speed = combine(speed, halves);
    }
    speed.error = hypot(speed.error, BURST_ERROR);
    struct value seen = {0};
    seen.error = cunei_burst_slowdown_speed(&side->slowdown, &seen.value);
    if (seen.error < 1)
        speed = combine(speed, seen);
    net = fmin(1, fmax(speed.value, NET_LEAST));
    *bias = speed.error / net;
    return net * burst->time_ns;
}
