// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/welch_test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct cunei_series series_of(const double *values, size_t count)
{
    struct cunei_series series = {0};

    for (size_t i = 0; i < count; i++)
        cunei_series_add(&series, values[i]);
    return series;
}

static void expect(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9 * fabs(wanted))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                           21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
static const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                           24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4};
static const double c[] = {17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8};
static const double d[] = {21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8,
                           20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8};
static const double e[] = {3.0, 4.0, 1.0, 2.1}, f[] = {490.2, 340.0, 433.9};
static const double g[] = {1e9, 1e9 + 1}, h[] = {1e9 + 5, 1e9 + 6};

/* The examples of the test's page in Wikipedia, and others, as
 * scipy.stats.ttest_ind(a, b, equal_var=False) has them. */
static void chances_are_those_of_scipy(void **state)
{
    static const struct {
        const double *one;
        size_t one_count;
        const double *two;
        size_t two_count;
        double wanted;
    } rows[] = {
        {a, COUNT(a), b, COUNT(b), 0.008071938172194903},
        {c, COUNT(c), d, COUNT(d), 0.14884169660532817},
        {e, COUNT(e), f, COUNT(f), 0.010751561149784488},
        {g, COUNT(g), h, COUNT(h), 0.019419324309079843},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cunei_series one = series_of(rows[i].one, rows[i].one_count);
        struct cunei_series two = series_of(rows[i].two, rows[i].two_count);
        expect(cunei_welch_chance(&one, &two), rows[i].wanted);
        expect(cunei_welch_chance(&two, &one), rows[i].wanted);
    }
}

static void equal_means_are_chance(void **state)
{
    const double near[] = {9, 11}, far[] = {5, 15};
    struct cunei_series one = series_of(near, 2), two = series_of(far, 2);

    (void)state;
    expect(cunei_welch_chance(&one, &two), 1);
}

static void one_run_shows_nothing(void **state)
{
    struct cunei_series one = series_of(a, 1), many = series_of(b, COUNT(b)),
                        none = {0};

    (void)state;
    expect(cunei_welch_chance(&one, &many), 1);
    expect(cunei_welch_chance(&many, &one), 1);
    expect(cunei_welch_chance(&none, &many), 1);
}

static void runs_that_do_not_vary_are_certain(void **state)
{
    const double same[] = {5, 5, 5}, other[] = {6, 6, 6};
    struct cunei_series one = series_of(same, 3), two = series_of(other, 3);

    (void)state;
    expect(cunei_welch_chance(&one, &one), 1);
    assert_true(cunei_welch_chance(&one, &two) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_those_of_scipy),
        cmocka_unit_test(equal_means_are_chance),
        cmocka_unit_test(one_run_shows_nothing),
        cmocka_unit_test(runs_that_do_not_vary_are_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
