// SPDX-License-Identifier: MIT
/*
 * Snapshots of traces that change while they are read, into folders that change while
 * they are made.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "opened.h"
#include "trace/packet/packet_scan.h"
#include "trace/recovery/snapshot.h"

static const char secret[] = "not yours\n";
static char other[200];      /* a folder that takes the place of one just made */
static const char *moved_to; /* where the one just made goes; NULL: it stays */

/* The one of the C library, and then what another user does before it is opened. */
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): reserved names
int mkdirat(int at, const char *name, mode_t mode)
{
    int rc = (int)syscall(SYS_mkdirat, at, name, mode);

    if (rc == 0 && moved_to) {
        assert_int_equal(renameat(at, name, AT_FDCWD, moved_to), 0);
        assert_int_equal(renameat(AT_FDCWD, other, at, name), 0);
        moved_to = NULL;
    }
    return rc;
}

/* The packet's size changes in the file after its head was checked. */
static void change_size(uint64_t bits)
{
    const off_t at = offsetof(struct cunei_packet, packet_bits);

    int fd = open(fixture_path(&fixture, "s0"), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &bits, sizeof(bits), at), sizeof(bits));
    close(fd);
}

static void a_packet_that_changed_since_it_was_checked_is_not_copied(void **state)
{
    (void)state;
    uint64_t sizes[] = {8 * UINT64_C(1) << 40, 64, UINT64_MAX};
    struct cunei_packet *packet = malloc(CUNEI_PACKET_SIZE);
    struct cunei_trace_scan scan;
    assert_non_null(packet);
    fixture_append_calls(&fixture, 0, 1000, 3);
    open_trace();

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(cunei_trace_scan_open(&scan, &trace.processes[0],
                                               &trace.processes[0].streams[0]),
                         0);
        assert_int_equal(cunei_trace_scan_next(&scan), 1);
        assert_int_equal(cunei_trace_scan_read(&scan, packet), 0);
        change_size(sizes[i]);
        assert_int_equal(cunei_trace_scan_read(&scan, packet), -EBADMSG);
        change_size(scan.head.packet_bits);
        fixture_cut_file(fixture_path(&fixture, "s0"), sizeof(*packet) + 8);
        assert_int_equal(cunei_trace_scan_read(&scan, packet), -EBADMSG);
        cunei_trace_scan_close(&scan);
        fixture_cut_file(fixture_path(&fixture, "s0"), 0);
        fixture_append_calls(&fixture, 0, 1000, 3);
    }
    free(packet);
}

/* What another user has prepared: a description that everybody may read and write. */
static void prepare_other(mode_t mode)
{
    char path[300];

    (void)snprintf(other, sizeof(other), "%s/other", fixture.directory);
    assert_int_equal(mkdir(other, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/.process", other);
    fixture_write_file(path, secret, strlen(secret));
    assert_int_equal(chmod(other, mode), 0);
}

static void assert_other_is_unchanged(const char *folder)
{
    char path[400], text[64] = "";

    (void)snprintf(path, sizeof(path), "%s/.process", folder);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(secret));
    (void)fclose(file);
    assert_string_equal(text, secret);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
}

static void a_folder_in_the_place_of_the_one_made_is_not_written_to(void **state)
{
    (void)state;
    static const mode_t modes[] = {0700, 0777};
    const struct cunei_snapshot_options now = {.wall_ns = 1};
    struct cunei_snapshot snapshot;
    char made[64] = "/tmp/cunei-snapshot-XXXXXX", aside[100], place[300];
    assert_non_null(mkdtemp(made));
    (void)snprintf(aside, sizeof(aside), "%s/aside", made);
    (void)snprintf(place, sizeof(place), "%s%s", made, strrchr(fixture.folder, '/'));
    fixture_append_calls(&fixture, 0, 1000, 3);
    int to = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(to >= 0);

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        prepare_other(modes[i]);
        moved_to = aside;
        assert_int_equal(
            cunei_trace_snapshot(fixture.folder, to, &now, &snapshot, &error), -ESTALE);
        assert_non_null(strstr(error.text, "another has its place"));
        assert_other_is_unchanged(place);
        assert_int_equal(rmdir(aside), 0);
    }

    close(to);
    assert_int_equal(rmdir(made), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_packet_that_changed_since_it_was_checked_is_not_copied),
        TEST(a_folder_in_the_place_of_the_one_made_is_not_written_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
