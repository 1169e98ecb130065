// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/budget/observe.h"
#include "wire/event.h"

#define BEGIN UINT64_C(1000)

enum {
    MAIN = CUNEI_FUNCTION_FIRST,
    WORK,
    LEAF
};

static uint64_t at(uint64_t time, uint32_t function, enum cunei_phase phase)
{
    return cunei_record(BEGIN + time, function, phase);
}

static void calls_and_times_are_those_of_the_packet(void **state)
{
    const uint64_t words[] = {
        at(0, CUNEI_CLASS_STACK, 0),
        UINT64_C(2) << 32,
        (uint64_t)MAIN << 32,
        at(10, WORK, CUNEI_PHASE_ENTER),
        at(15, LEAF, CUNEI_PHASE_ENTER),
        at(18, LEAF, CUNEI_PHASE_LEAVE),
        at(20, LEAF, CUNEI_PHASE_ENTER),
        at(24, LEAF, CUNEI_PHASE_LEAVE),
        at(30, WORK, CUNEI_PHASE_LEAVE),
    };
    struct cunei_observer observer = {0};
    (void)state;

    cunei_observer_read(&observer, BEGIN, words, sizeof(words) / sizeof(words[0]));

    const struct cunei_observed *leaf = cunei_observer_find(&observer, LEAF);
    const struct cunei_observed *work = cunei_observer_find(&observer, WORK);
    assert_int_equal(leaf->calls, 2);
    assert_int_equal(leaf->events, 4);
    assert_int_equal(leaf->self, 7);
    assert_int_equal(leaf->callers[0].function, WORK);
    assert_int_equal(leaf->callers[0].calls, 2);
    assert_int_equal(leaf->callers[0].self, 7);
    assert_int_equal(work->self, 13);
    assert_int_equal(work->total, 20);
    assert_int_equal(work->inner, 4);
    assert_int_equal(work->callers[0].function, MAIN);
    assert_int_equal(cunei_observer_find(&observer, MAIN)->self, 10);
    assert_int_equal(observer.events, 6);
    assert_int_equal(leaf->first, BEGIN + 15);
    assert_int_equal(observer.last, BEGIN + 30);
    cunei_observer_fini(&observer);
}

/* The stack was at the packet's begin, in a part that was read before. */
static void an_unknown_caller_is_reported(void **state)
{
    const uint64_t words[] = {
        at(1, LEAF, CUNEI_PHASE_ENTER), at(4, LEAF, CUNEI_PHASE_LEAVE),
        at(5, WORK, CUNEI_PHASE_ENTER), at(6, LEAF, CUNEI_PHASE_ENTER),
        at(8, LEAF, CUNEI_PHASE_LEAVE), at(9, WORK, CUNEI_PHASE_LEAVE),
    };
    struct cunei_observer observer = {0};
    (void)state;

    cunei_observer_read(&observer, BEGIN, words, sizeof(words) / sizeof(words[0]));

    const struct cunei_observed *leaf = cunei_observer_find(&observer, LEAF);
    assert_int_equal(leaf->calls, 2);
    assert_int_equal(leaf->alone_calls, 1);
    assert_int_equal(leaf->alone_self, 3);
    assert_int_equal(leaf->callers[0].calls, 1);
    assert_int_equal(leaf->callers[0].self, 2);
    cunei_observer_fini(&observer);
}

static void recursion_counts_once_and_a_yield_ends_a_stretch(void **state)
{
    const uint64_t words[] = {
        at(0, CUNEI_CLASS_STACK, 0),      0,
        at(1, WORK, CUNEI_PHASE_ENTER),   at(2, WORK, CUNEI_PHASE_ENTER),
        at(5, WORK, CUNEI_PHASE_LEAVE),   at(6, WORK, CUNEI_PHASE_LEAVE),
        at(10, LEAF, CUNEI_PHASE_RESUME), at(12, LEAF, CUNEI_PHASE_YIELD),
    };
    struct cunei_observer observer = {0};
    (void)state;

    cunei_observer_read(&observer, BEGIN, words, sizeof(words) / sizeof(words[0]));

    assert_int_equal(cunei_observer_find(&observer, WORK)->total, 5);
    assert_int_equal(cunei_observer_find(&observer, WORK)->self, 5);
    assert_int_equal(cunei_observer_find(&observer, LEAF)->resumes, 1);
    assert_int_equal(cunei_observer_find(&observer, LEAF)->self, 2);
    cunei_observer_clear(&observer);
    assert_null(cunei_observer_find(&observer, WORK));
    cunei_observer_fini(&observer);
}

static void deep_stacks_and_ends_without_a_beginning_do_no_harm(void **state)
{
    struct cunei_observer observer = {0};
    uint64_t words[1000];
    (void)state;

    words[0] = at(0, LEAF, CUNEI_PHASE_LEAVE);
    for (uint64_t i = 1; i < 1000; i++)
        words[i] = at(i, WORK, i < 600 ? CUNEI_PHASE_ENTER : CUNEI_PHASE_LEAVE);
    cunei_observer_read(&observer, BEGIN, words, 1000);

    assert_int_equal(cunei_observer_find(&observer, WORK)->calls, 599);
    assert_int_equal(cunei_observer_find(&observer, LEAF)->self, 0);
    cunei_observer_fini(&observer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_times_are_those_of_the_packet),
        cmocka_unit_test(an_unknown_caller_is_reported),
        cmocka_unit_test(recursion_counts_once_and_a_yield_ends_a_stretch),
        cmocka_unit_test(deep_stacks_and_ends_without_a_beginning_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
