// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/armed/controller.h"
#include "wire/control_message.h"

struct pair {
    struct cunei_controller controller;
    int other; /* the end of who asks */
};

static int open_pair(void **state)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    int ends[2];

    assert_non_null(pair);
    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    cunei_controller_open(&pair->controller, ends[0]);
    pair->other = ends[1];
    *state = pair;
    return 0;
}

static int close_pair(void **state)
{
    struct pair *pair = *state;

    if (pair->controller.fd >= 0)
        cunei_controller_close(&pair->controller);
    if (pair->other >= 0)
        close(pair->other);
    free(pair);
    return 0;
}

static void say(struct pair *pair, const char *text)
{
    assert_int_equal(write(pair->other, text, strlen(text)), strlen(text));
    assert_true(cunei_controller_read(&pair->controller));
}

static void take_line(struct pair *pair, const char *wanted)
{
    size_t size = cunei_controller_line(&pair->controller);

    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(pair->controller.in.data, wanted, size);
    cunei_controller_drop_line(&pair->controller, size);
}

static void half_a_line_waits_for_its_other_half(void **state)
{
    struct pair *pair = *state;

    say(pair, "one\ntw");
    take_line(pair, "one");
    assert_int_equal(cunei_controller_line(&pair->controller), SIZE_MAX);

    say(pair, "o\n\nthree\n");
    take_line(pair, "two");
    take_line(pair, "");
    take_line(pair, "three");
    assert_int_equal(cunei_controller_line(&pair->controller), SIZE_MAX);
}

static void nothing_to_read_is_no_end(void **state)
{
    struct pair *pair = *state;

    assert_true(cunei_controller_read(&pair->controller));
    assert_int_equal(cunei_controller_line(&pair->controller), SIZE_MAX);
}

static void the_other_end_may_leave(void **state)
{
    struct pair *pair = *state;

    assert_false(cunei_controller_has_left(&pair->controller));
    close(pair->other);
    pair->other = -1;
    assert_true(cunei_controller_has_left(&pair->controller));
    assert_false(cunei_controller_read(&pair->controller));
}

static void it_may_leave_in_one_direction_alone(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(shutdown(pair->other, SHUT_WR), 0);
    assert_true(cunei_controller_has_left(&pair->controller));
}

/* What is read for a line without an end has a limit. */
static void an_endless_line_is_given_as_it_is(void **state)
{
    struct pair *pair = *state;
    static char some[4096];

    memset(some, 'x', sizeof(some));
    while (cunei_controller_line(&pair->controller) == SIZE_MAX) {
        assert_true(write(pair->other, some, sizeof(some)) > 0);
        assert_true(cunei_controller_read(&pair->controller));
    }
    size_t size = cunei_controller_line(&pair->controller);
    assert_in_range(size, CUNEI_CONTROL_LINE_MAX + 1,
                    CUNEI_CONTROL_LINE_MAX + sizeof(some));

    assert_true(write(pair->other, some, sizeof(some)) > 0);
    assert_true(cunei_controller_read(&pair->controller));
    assert_int_equal(pair->controller.in.size, size);
    cunei_controller_drop_line(&pair->controller, size);
    assert_int_equal(pair->controller.in.size, 0);
}

static void answers_that_do_not_fit_wait(void **state)
{
    struct pair *pair = *state;
    static char line[100000], got[sizeof(line)];
    size_t written = 0, read_bytes = 0;

    memset(line, 'y', sizeof(line));
    while (pair->controller.out.size == 0) {
        cunei_buffer_append(&pair->controller.out, line, sizeof(line));
        written += sizeof(line);
        assert_true(cunei_controller_write(&pair->controller));
    }
    while (read_bytes < written) {
        ssize_t n = read(pair->other, got, sizeof(got));
        assert_true(n > 0);
        read_bytes += (size_t)n;
        assert_true(cunei_controller_write(&pair->controller));
    }
    assert_int_equal(pair->controller.out.size, 0);
}

static void one_that_never_reads_is_given_up(void **state)
{
    struct pair *pair = *state;
    static char line[100000];
    bool is_open = true;

    for (int i = 0; i < 100 && is_open; i++) {
        cunei_buffer_append(&pair->controller.out, line, sizeof(line));
        is_open = cunei_controller_write(&pair->controller);
    }
    assert_false(is_open);
}

static void writing_to_one_that_has_left_ends_it(void **state)
{
    struct pair *pair = *state;

    close(pair->other);
    pair->other = -1;
    cunei_buffer_append_text(&pair->controller.out, "answer\n");
    assert_false(cunei_controller_write(&pair->controller));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(half_a_line_waits_for_its_other_half),
        TEST(nothing_to_read_is_no_end),
        TEST(the_other_end_may_leave),
        TEST(it_may_leave_in_one_direction_alone),
        TEST(an_endless_line_is_given_as_it_is),
        TEST(answers_that_do_not_fit_wait),
        TEST(one_that_never_reads_is_given_up),
        TEST(writing_to_one_that_has_left_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
