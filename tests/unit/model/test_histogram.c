// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/histogram.h"

static void nothing_has_no_quantile(void **state)
{
    (void)state;
    struct cunei_histogram histogram = {0};

    assert_int_equal(cunei_histogram_quantile(&histogram, 0.5), 0);
    assert_int_equal(cunei_histogram_count(&histogram), 0);
}

static void buckets_follow_each_other_without_a_hole(void **state)
{
    (void)state;
    uint32_t bucket = 0;

    for (uint64_t value = 0; value < 100000; value++) {
        uint32_t next = cunei_histogram_bucket(value);
        assert_in_range(next, bucket, bucket + 1);
        bucket = next;
    }
    assert_int_equal(cunei_histogram_bucket(UINT64_MAX), 975);
}

static void a_quantile_is_good_to_one_sixteenth(void **state)
{
    (void)state;
    static const struct {
        double fraction;
        uint64_t wanted;
    } rows[] = {{0.01, 10000}, {0.5, 500000}, {0.99, 990000}, {1.0, 1000000}};
    struct cunei_histogram histogram = {0};
    for (uint64_t value = 1; value <= 1000; value++)
        assert_int_equal(cunei_histogram_add(&histogram, value * 1000), 0);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t got = cunei_histogram_quantile(&histogram, rows[i].fraction);
        assert_in_range(got, rows[i].wanted - rows[i].wanted / 16,
                        rows[i].wanted + rows[i].wanted / 16);
    }
    cunei_histogram_fini(&histogram);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    struct cunei_histogram histogram = {0};
    for (uint64_t value = 0; value < 11; value++)
        assert_int_equal(cunei_histogram_add(&histogram, value), 0);

    assert_int_equal(cunei_histogram_quantile(&histogram, 0.5), 5);
    cunei_histogram_fini(&histogram);
}

static void merging_is_adding(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 7, UINT64_MAX, 1000, 1000000, 1001};
    struct cunei_histogram whole = {0}, low = {0}, high = {0};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(cunei_histogram_add(&whole, values[i]), 0);
        assert_int_equal(cunei_histogram_add(i % 2 ? &low : &high, values[i]), 0);
    }

    assert_int_equal(cunei_histogram_merge(&low, &high), 0);

    assert_int_equal(low.first, whole.first);
    assert_int_equal(low.span, whole.span);
    assert_memory_equal(low.counts, whole.counts, whole.span * sizeof(uint64_t));
    cunei_histogram_fini(&whole);
    cunei_histogram_fini(&low);
    cunei_histogram_fini(&high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_no_quantile),
        cmocka_unit_test(buckets_follow_each_other_without_a_hole),
        cmocka_unit_test(a_quantile_is_good_to_one_sixteenth),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(merging_is_adding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
