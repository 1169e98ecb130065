// SPDX-License-Identifier: MIT
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cores.h"

static void test_only_those_that_we_may_use(void **state)
{
    cpu_set_t before;
    cpu_set_t one;
    int core = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(cunei_cores(), CPU_COUNT(&before));
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);

    unsigned cores = cunei_cores();

    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(cores, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_those_that_we_may_use)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
