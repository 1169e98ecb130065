// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "python/refusal_reason.h"
#include "rt/refusal.h"
#include "scratch.h"

static int make(void **state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));

    assert_non_null(scratch);
    scratch_make(scratch);
    *state = scratch;
    return 0;
}

static int remove_all(void **state)
{
    scratch_remove(*state);
    free(*state);
    return 0;
}

/* As so many processes: a file is named after its process. */
static void leave_from_children(const char *directory, int error, int count)
{
    for (int i = 0; i < count; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            cunei_refusal_leave(directory, error);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

static void words_in_the_directory_are_counted_by_reason(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_refusals refusals;

    leave_from_children(scratch->directory, ENOSPC, 2);
    leave_from_children(scratch->directory, EMFILE, 1);
    cunei_refusal_collect(scratch->directory, -1, &refusals);

    assert_int_equal(refusals.count, 3);
    unsigned full = refusals.reasons[0].error == ENOSPC ? 0 : 1;
    assert_int_equal(refusals.reasons[full].error, ENOSPC);
    assert_int_equal(refusals.reasons[full].count, 2);
    assert_int_equal(refusals.reasons[!full].error, EMFILE);
    assert_int_equal(refusals.reasons[!full].count, 1);
    assert_int_equal(refusals.reasons[2].count, 0);
}

static void without_the_directory_they_go_to_whoever_listens(void **state)
{
    (void)state;
    char missing[64];
    struct cunei_refusals refusals;

    (void)snprintf(missing, sizeof(missing), "/nowhere/at/all/%d", (int)getpid());
    int listener = cunei_refusal_listen(missing);
    assert_true(listener > STDERR_FILENO);
    leave_from_children(missing, EACCES, 300);
    cunei_refusal_collect(missing, listener, &refusals);

    assert_int_equal(refusals.count, 300);
    assert_int_equal(refusals.reasons[0].error, EACCES);
    assert_int_equal(refusals.reasons[0].count, 300);
    close(listener);
}

static void reasons_that_are_no_errno_arrive_and_say_what_they_mean(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_refusals refusals;

    leave_from_children(scratch->directory, CUNEI_REFUSAL_TORCH, 1);
    cunei_refusal_collect(scratch->directory, -1, &refusals);

    assert_int_equal(refusals.reasons[0].error, CUNEI_REFUSAL_TORCH);
    assert_non_null(strstr(cunei_refusal_reason_text(CUNEI_REFUSAL_TORCH), "torch"));
    for (int reason = CUNEI_REFUSAL_PYDEVD; reason <= CUNEI_REFUSAL_FORBIDDEN; reason++)
        assert_null(strstr(cunei_refusal_reason_text(reason), "Unknown error"));
    assert_string_equal(cunei_refusal_reason_text(EACCES), strerror(EACCES));
}

static void a_refusal_without_a_listener_does_no_harm(void **state)
{
    (void)state;
    struct cunei_refusals refusals;

    cunei_refusal_leave("/nowhere/at/all", EACCES);
    cunei_refusal_collect("/nowhere/at/all", -1, &refusals);

    assert_int_equal(refusals.count, 0);
}

/* What another process may write to the socket, or name a file, is not believed. */
static void nonsense_is_another_reason(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_refusals refusals;
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/" CUNEI_REFUSAL_NAME "1-x",
                   scratch->directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    leave_from_children(scratch->directory, -5, 1);
    leave_from_children(scratch->directory, 1 << 20, 1);
    cunei_refusal_collect(scratch->directory, -1, &refusals);

    assert_int_equal(refusals.count, 3);
    for (size_t i = 0; i < CUNEI_REFUSAL_REASONS; i++) {
        int error = refusals.reasons[i].error;
        assert_true(error == 0 || error == 5); /* "-5" has a dash of its own */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_in_the_directory_are_counted_by_reason,
                                        make, remove_all),
        cmocka_unit_test_setup_teardown(
            without_the_directory_they_go_to_whoever_listens, make, remove_all),
        cmocka_unit_test_setup_teardown(
            reasons_that_are_no_errno_arrive_and_say_what_they_mean, make, remove_all),
        cmocka_unit_test(a_refusal_without_a_listener_does_no_harm),
        cmocka_unit_test_setup_teardown(nonsense_is_another_reason, make, remove_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
