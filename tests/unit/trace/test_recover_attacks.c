// SPDX-License-Identifier: MIT
/* Recovery where somebody wants it to write, cut or remove another file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"

#define OTHER_USER 65534
#define EVENTS     (7 + 2)

static char victim[300]; /* a file beside the folder, which must stay as it is */
static const char secret[] = "not yours\n";

/* A killed process with a packet in s0 and one in the live file. */
static void kill_process(void)
{
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 1, 3000);
    fixture_put(&fixture, 3001, 1025, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    (void)snprintf(victim, sizeof(victim), "%s/victim", fixture.directory);
    fixture_write_file(victim, secret, strlen(secret));
}

static void assert_victim_is_unharmed(void)
{
    char text[64] = "";

    FILE *file = fopen(victim, "re");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(secret));
    (void)fclose(file);
    assert_string_equal(text, secret);
}

/* Put a link, or another name of the victim, in the place of a file. */
static void replace(const char *name, int (*make)(const char *, const char *))
{
    const char *path = fixture_path(&fixture, name);

    (void)unlink(path);
    assert_int_equal(make(victim, path), 0);
}

static int try_to_recover(void)
{
    return cunei_trace_recover(fixture.folder, &options, &recovery, &error);
}

static void links_in_the_folder_are_not_followed(void **state)
{
    (void)state;
    static const char *const names[] = {"s0", "s1", ".process", ".process.new",
                                        "metadata"};
    kill_process();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        replace(names[i], symlink);
        (void)try_to_recover();
        assert_victim_is_unharmed();
    }
}

static void other_names_of_a_file_are_not_written_to(void **state)
{
    (void)state;
    kill_process();
    assert_int_equal(unlink(victim), 0);
    assert_int_equal(link(fixture_path(&fixture, "s0"), victim), 0);
    uint64_t size = fixture_file_size(victim);

    assert_int_equal(try_to_recover(), -EPERM);

    assert_int_equal(fixture_file_size(victim), size);
    assert_int_equal(count_events(), EVENTS);
}

static void a_link_in_place_of_the_live_file_is_removed_alone(void **state)
{
    (void)state;
    kill_process();
    replace(".live", symlink);

    recover(CUNEI_RECOVER_DONE);

    assert_victim_is_unharmed();
}

static void a_link_in_place_of_the_folder_is_not_followed(void **state)
{
    (void)state;
    char moved[300];
    kill_process();
    (void)snprintf(moved, sizeof(moved), "%s.moved", fixture.folder);
    assert_int_equal(rename(fixture.folder, moved), 0);
    assert_int_equal(symlink(moved, fixture.folder), 0);

    assert_int_equal(try_to_recover(), -ENOTDIR);

    assert_int_equal(unlink(fixture.folder), 0);
    assert_int_equal(rename(moved, fixture.folder), 0);
    assert_int_equal(count_events(), EVENTS);
    recover(CUNEI_RECOVER_DONE);
}

static void the_folder_of_another_user_is_read_and_not_written(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a folder away */
    kill_process();
    uint64_t size = fixture_file_size(fixture_path(&fixture, "s0"));
    assert_int_equal(chown(fixture.folder, OTHER_USER, OTHER_USER), 0);

    recover(CUNEI_RECOVER_FOREIGN);

    assert_int_equal(fixture_file_size(fixture_path(&fixture, "s0")), size);
    assert_int_equal(access(fixture_path(&fixture, ".live"), F_OK), 0);
    assert_int_equal(count_events(), EVENTS);
}

/* Reading the zeros of a terabyte would take minutes. */
static void holes_in_a_stream_file_are_skipped(void **state)
{
    (void)state;
    const off_t terabyte = (off_t)1 << 40;
    kill_process();
    if (truncate(fixture_path(&fixture, "s0"), terabyte) < 0)
        skip(); /* not on this file system */

    assert_int_equal(try_to_recover(), -EBADMSG);

    assert_non_null(strstr(error.text, "is damaged"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(links_in_the_folder_are_not_followed),
        TEST(other_names_of_a_file_are_not_written_to),
        TEST(a_link_in_place_of_the_live_file_is_removed_alone),
        TEST(a_link_in_place_of_the_folder_is_not_followed),
        TEST(the_folder_of_another_user_is_read_and_not_written),
        TEST(holes_in_a_stream_file_are_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
