// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"

static struct cunei_refusals refusals;

static int forget_all(void **state)
{
    (void)state;
    cunei_refusals_fini(&refusals);
    return 0;
}

static void a_process_that_was_not_seen_and_gave_a_reason_counts_once(void **state)
{
    (void)state;
    cunei_refusals_add(&refusals, 1001, CUNEI_REFUSAL_UNSEEN);
    cunei_refusals_add(&refusals, 1001, EACCES);
    cunei_refusals_add(&refusals, 1002, ENOSPC);
    cunei_refusals_add(&refusals, 1002, CUNEI_REFUSAL_UNSEEN);

    assert_int_equal(refusals.count, 2);
    assert_int_equal(cunei_refusals_count(&refusals, CUNEI_REFUSAL_UNSEEN), 0);
}

static void a_process_that_the_trace_has_was_seen_and_recorded(void **state)
{
    (void)state;
    cunei_refusals_add(&refusals, 1001, CUNEI_REFUSAL_UNSEEN);
    cunei_refusals_add(&refusals, 1002, CUNEI_REFUSAL_MOVED);
    cunei_refusals_add(&refusals, 1003, CUNEI_REFUSAL_MOVED);
    /* A program that a recorded one became, in the same process. */
    cunei_refusals_add(&refusals, 1004, CUNEI_REFUSAL_NO_SITE);
    for (int64_t pid = 1001; pid <= 1004; pid++) {
        if (pid != 1003)
            cunei_refusals_remove_recorded(&refusals, pid);
    }

    assert_int_equal(refusals.count, 2);
    assert_int_equal(refusals.items[0].pid, 1003);
    assert_int_equal(refusals.items[1].pid, 1004);
}

static void reasons_have_a_number_where_there_are_several(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};

    cunei_refusals_add(&refusals, 1001, ENOSPC);
    cunei_refusals_add(&refusals, 1002, ENOSPC);
    cunei_refusals_format(&refusals, &text);
    assert_string_equal(cunei_buffer_text(&text), "No space left on device");
    cunei_buffer_clear(&text);
    cunei_refusals_add(&refusals, 1003, EACCES);
    cunei_refusals_format(&refusals, &text);
    assert_string_equal(cunei_buffer_text(&text),
                        "No space left on device (2), Permission denied (1)");
    cunei_buffer_fini(&text);
}

static void the_number_that_is_kept_is_bounded(void **state)
{
    (void)state;
    for (int64_t pid = 1; pid <= CUNEI_REFUSALS_MAX + 10; pid++)
        cunei_refusals_add(&refusals, pid, EACCES);

    assert_int_equal(refusals.count, CUNEI_REFUSALS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            a_process_that_was_not_seen_and_gave_a_reason_counts_once, forget_all),
        cmocka_unit_test_teardown(a_process_that_the_trace_has_was_seen_and_recorded,
                                  forget_all),
        cmocka_unit_test_teardown(reasons_have_a_number_where_there_are_several,
                                  forget_all),
        cmocka_unit_test_teardown(the_number_that_is_kept_is_bounded, forget_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
