// SPDX-License-Identifier: MIT
/* Following traces made by hand: parts, gaps, and what is damaged. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"
#include "trace/follow/follow.h"
#include "trace/packet/packet_part.h"

#define F 1024u

static struct cunei_trace_follow *follow;

/* What the parts of all polls were, one character for each: a part that begins ( and
 * ends ) a packet, and the number of its words. */
static char parts[256];

static int note_part(void *context, const struct cunei_trace_part *part)
{
    size_t length = strlen(parts);

    (void)context;
    assert_true(length < sizeof(parts) - 32);
    (void)snprintf(parts + length, sizeof(parts) - length, "%s%zu%s ",
                   part->is_first ? "(" : "", part->word_count,
                   part->is_closed ? ")" : "");
    return 0;
}

static int poll_once(void)
{
    parts[0] = '\0';
    return cunei_trace_follow_poll(follow, note_part, NULL);
}

static void follow_fixture(void)
{
    assert_int_equal(cunei_trace_follow_open(&follow, fixture.directory, NULL, &error),
                     0);
}

/* A live file that this process maps, as its writer does. */
static void *mapped;

static void create_live(void)
{
    fixture_live_create(&fixture, 1, true);
    int fd = open(fixture_path(&fixture, CUNEI_LIVE_NAME), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    mapped = mmap(NULL, CUNEI_LIVE_HEAD_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(mapped != MAP_FAILED);
    close(fd);
}

static int end_following(void **state)
{
    cunei_trace_follow_close(follow);
    follow = NULL;
    if (mapped)
        munmap(mapped, CUNEI_LIVE_HEAD_SIZE);
    mapped = NULL;
    return tear_down(state);
}

static size_t damages(void)
{
    return cunei_trace_follow_trace(follow)->damage_count;
}

static void new_words_of_an_open_packet_come_once(void **state)
{
    (void)state;
    create_live();
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    follow_fixture();

    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "(3 ");
    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "");
    fixture_put(&fixture, 1020, F, CUNEI_PHASE_LEAVE);
    fixture_live_store(&fixture, 0);
    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "1 ");
}

static void an_unwind_comes_with_its_leave(void **state)
{
    (void)state;
    create_live();
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_put_unwind(&fixture, 1020, 1);
    fixture_live_store(&fixture, 0);
    follow_fixture();

    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "(3 ");
    fixture_put(&fixture, 1020, F, CUNEI_PHASE_LEAVE);
    fixture_live_store(&fixture, 0);
    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "3 ");
}

static void a_packet_ends_when_the_file_has_it(void **state)
{
    (void)state;
    create_live();
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    follow_fixture();
    assert_int_equal(poll_once(), 1);
    fixture_put(&fixture, 1020, F, CUNEI_PHASE_LEAVE);
    fixture_append(&fixture);
    fixture_packet_begin(&fixture, 0, 1, 1030);
    fixture_live_store(&fixture, 0); /* in its place */

    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "1) (2 ");
    assert_int_equal(damages(), 0);
}

static void a_dead_process_ends_with_its_live_packets(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, false);
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_packet_begin(&fixture, 0, 1, 2000);
    fixture_put(&fixture, 2010, F, CUNEI_PHASE_ENTER);
    fixture_put_unwind(&fixture, 2020, 1);
    fixture_live_store(&fixture, 1);
    follow_fixture();

    assert_int_equal(poll_once(), 2);
    assert_string_equal(parts, "(6) (5) ");
    assert_int_equal(poll_once(), 0);
    assert_string_equal(parts, "");
}

static void damage_in_a_file_is_noted_and_passed(void **state)
{
    (void)state;
    static const char garbage[512] = "no packet";
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_append_file(fixture_path(&fixture, "s0"), garbage, sizeof(garbage));
    fixture_append_calls(&fixture, 2, 3000, 2);
    fixture_describe(&fixture, true);
    follow_fixture();

    assert_int_equal(poll_once(), 2);
    assert_string_equal(parts, "(6) (6) ");
    assert_int_equal(damages(), 1);
    assert_int_equal(poll_once(), 0);
}

static void numbers_that_go_back_are_damage(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 5, 1000, 2);
    fixture_append_calls(&fixture, 3, 3000, 2);
    fixture_describe(&fixture, true);
    follow_fixture();

    while (poll_once() > 0)
        assert_string_equal(parts, "(6) ");
    assert_int_equal(damages(), 1);
}

static void a_live_packet_that_is_damaged_is_read_up_to_there(void **state)
{
    (void)state;
    create_live();
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1020, F + 700, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1030, F, CUNEI_PHASE_LEAVE);
    fixture_live_store(&fixture, 0);
    follow_fixture();

    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "(3 ");
    assert_int_equal(damages(), 1);
    fixture_put(&fixture, 1040, F, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "");
    assert_int_equal(damages(), 1);
}

static void a_gap_before_a_live_packet_is_one_if_it_is_found_again(void **state)
{
    (void)state;
    create_live();
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_packet_begin(&fixture, 0, 2, 2000);
    fixture_put(&fixture, 2010, F, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    follow_fixture();

    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "(6) ");
    assert_int_equal(poll_once(), 1);
    assert_string_equal(parts, "(3 ");
}

static void a_packet_that_is_being_written_is_not_damage(void **state)
{
    (void)state;
    uint64_t size;
    create_live();
    fixture_append_calls(&fixture, 0, 1000, 2);
    size = fixture_file_size(fixture_path(&fixture, "s0"));
    fixture_append_calls(&fixture, 1, 2000, 2);
    fixture_live_store(&fixture, 1);
    fixture_cut_file(fixture_path(&fixture, "s0"), size + 100);
    follow_fixture();

    assert_int_equal(poll_once(), 1);
    assert_int_equal(damages(), 0);
}

static void a_process_that_starts_later_is_found(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 2);
    fixture_describe(&fixture, true);
    follow_fixture();
    while (poll_once() > 0)
        continue;

    fixture_add_process(&fixture, 4242);
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_describe(&fixture, true);
    assert_int_equal(poll_once(), 2);
    assert_string_equal(parts, "(8) ");
    assert_int_equal(cunei_trace_follow_trace(follow)->process_count, 2);
}

static void a_folder_without_a_trace_is_refused(void **state)
{
    (void)state;
    assert_int_equal(cunei_trace_follow_open(&follow, "/etc", NULL, &error), -ENODATA);
    assert_int_equal(cunei_trace_follow_open(&follow, "/nowhere", NULL, &error),
                     -ENOENT);
    assert_int_equal(cunei_trace_follow_open(&follow, "/etc/passwd", NULL, &error),
                     -ENOTDIR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, end_following)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_words_of_an_open_packet_come_once),
        TEST(an_unwind_comes_with_its_leave),
        TEST(a_packet_ends_when_the_file_has_it),
        TEST(a_dead_process_ends_with_its_live_packets),
        TEST(damage_in_a_file_is_noted_and_passed),
        TEST(numbers_that_go_back_are_damage),
        TEST(a_live_packet_that_is_damaged_is_read_up_to_there),
        TEST(a_gap_before_a_live_packet_is_one_if_it_is_found_again),
        TEST(a_packet_that_is_being_written_is_not_damage),
        TEST(a_process_that_starts_later_is_found),
        TEST(a_folder_without_a_trace_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
