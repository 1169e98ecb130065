// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "export/fast_put.h"

static void expect_number(uint64_t number)
{
    char got[CUNEI_PUT_NUMBER + 1], wanted[CUNEI_PUT_NUMBER + 1];

    *cunei_put_number(got, number) = '\0';
    (void)snprintf(wanted, sizeof(wanted), "%" PRIu64, number);
    assert_string_equal(got, wanted);
}

static void numbers_of_any_length_are_written(void **state)
{
    uint64_t power = 1;

    (void)state;
    for (unsigned i = 0; i < CUNEI_PUT_NUMBER; i++, power *= 10) {
        expect_number(power - 1);
        expect_number(power);
        expect_number(power + power / 7);
    }
    expect_number(UINT64_MAX);
}

static void microseconds_have_three_digits_behind_the_point(void **state)
{
    char text[32];

    (void)state;
    *cunei_put_microseconds(text, 1234007) = '\0';
    assert_string_equal(text, "1234.007");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_any_length_are_written),
        cmocka_unit_test(microseconds_have_three_digits_behind_the_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
