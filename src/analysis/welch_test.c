// SPDX-License-Identifier: MIT
#include "analysis/welch_test.h"

#include <math.h>

/* Welford's way, which loses nothing where the mean is large and the variance small. */
void cunei_series_add(struct cunei_series *series, double value)
{
    double before = value - series->mean;

    series->count++;
    series->mean += before / series->count;
    series->squares += before * (value - series->mean);
}

/* The regularised incomplete beta function by its continued fraction (Lentz). */
static double incomplete_beta(double a, double b, double x)
{
    const double tiny = 1e-300;
    double front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double c = 1, d = 1 - (a + b) * x / (a + 1), result;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    result = d;
    for (int m = 1; m < 200; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int i = 0; i < 2; i++) {
            double step = i == 0 ? even : odd;
            d = 1 + step * d;
            c = 1 + step / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            result *= c * d;
        }
        if (fabs(c * d - 1) < 1e-14)
            break;
    }
    return front * result;
}

/* Both tails of Student's distribution, where x is freedom / (freedom + t²). */
static double both_tails(double freedom, double x)
{
    double a = freedom / 2, b = 0.5;

    if (x >= 1)
        return 1;
    if (x <= 0)
        return 0;
    /* The fraction converges fast on one side only. */
    return x < (a + 1) / (a + b + 2) ? incomplete_beta(a, b, x)
                                     : 1 - incomplete_beta(b, a, 1 - x);
}

double cunei_welch_chance(const struct cunei_series *one,
                          const struct cunei_series *two)
{
    const struct cunei_series *both[] = {one, two};
    double errors[2], sum = 0, freedom = 0;

    for (unsigned i = 0; i < 2; i++) {
        uint32_t count = both[i]->count;
        if (count < 2)
            return 1;
        errors[i] = both[i]->squares / (count - 1) / count;
        sum += errors[i];
    }
    double difference = two->mean - one->mean;
    if (sum <= 0)
        return difference == 0 ? 1 : 0;
    /* As parts of their sum, for squares of tiny ones would vanish. */
    for (unsigned i = 0; i < 2; i++)
        freedom += (errors[i] / sum) * (errors[i] / sum) / (both[i]->count - 1);
    freedom = 1 / freedom;
    return both_tails(freedom, freedom / (freedom + difference * difference / sum));
}
