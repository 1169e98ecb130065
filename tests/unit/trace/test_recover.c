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
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "opened.h"
#include "wire/live_place.h"

/* The lines that babeltrace2 prints for the trace; -1 where it is not content. */
static long count_lines_of_babeltrace(void)
{
    char command[256], line[4096];
    long count = 0;

    (void)snprintf(command, sizeof(command), "babeltrace2 %s", fixture.directory);
    FILE *lines = popen(command, "re"); // NOLINT(cert-env33-c)
    assert_non_null(lines);
    while (fgets(line, sizeof(line), lines))
        count += strchr(line, '\n') != NULL;
    return pclose(lines) == 0 ? count : -1;
}

static bool has_babeltrace(void)
{
    return system("babeltrace2 --version >/dev/null 2>&1") == 0; // NOLINT
}

static bool exists(const char *name)
{
    struct stat file;
    return lstat(fixture_path(&fixture, name), &file) == 0;
}

/* A killed process: a packet in the file, a torn one, two live, a torn line. */
static void kill_process(void)
{
    static const char torn[] = "event { name = \"a:h (x";
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_append_calls(&fixture, 1, 2000, 4);
    fixture_live_create(&fixture, 2, false);
    fixture_live_store(&fixture, 1);
    fixture_cut_file(fixture_path(&fixture, "s0"),
                     fixture_file_size(fixture_path(&fixture, "s0")) - 11);
    fixture_packet_begin(&fixture, 0, 2, 3000);
    fixture_put(&fixture, 3001, 1025, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    fixture_packet_begin(&fixture, 1, 0, 3000);
    fixture_put(&fixture, 3002, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    fixture_append_file(fixture_path(&fixture, "metadata"), torn, strlen(torn));
}

#define KILLED_EVENTS (7 + 9 + 2 + 2)

static void a_killed_process_is_made_whole(void **state)
{
    (void)state;
    kill_process();
    assert_int_equal(count_events(), KILLED_EVENTS);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(recovery.packets, 3);
    assert_true(recovery.cut_bytes > 0);
    assert_int_equal(recovery.damaged, 0);
    assert_int_equal(count_events(), KILLED_EVENTS);
    assert_false(exists(CUNEI_LIVE_NAME));
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_KILLED);
    assert_int_equal(trace.processes[0].streams[0].torn, 0);
    recover(CUNEI_RECOVER_NOTHING);
}

static void babeltrace_reads_what_was_recovered(void **state)
{
    (void)state;
    if (!has_babeltrace())
        skip();
    kill_process();

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(count_lines_of_babeltrace(), KILLED_EVENTS);
}

static void an_interrupted_recovery_is_done_again(void **state)
{
    (void)state;
    struct cunei_buffer live = {0};
    kill_process();
    char bytes[4096];
    FILE *file = fopen(fixture_path(&fixture, CUNEI_LIVE_NAME), "re");
    assert_non_null(file);
    for (size_t size; (size = fread(bytes, 1, sizeof(bytes), file)) > 0;)
        cunei_buffer_append(&live, bytes, size);
    (void)fclose(file);
    recover(CUNEI_RECOVER_DONE);
    uint64_t whole = fixture_file_size(fixture_path(&fixture, "s0"));

    /* As if it had stopped at any point of what it appends behind the first packet. */
    for (uint64_t size = whole; size >= sizeof(struct cunei_packet) + 64; size -= 8) {
        fixture_write_file(fixture_path(&fixture, CUNEI_LIVE_NAME), live.data,
                           live.size);
        fixture_cut_file(fixture_path(&fixture, "s0"), size);
        recover(CUNEI_RECOVER_DONE);
        assert_int_equal(fixture_file_size(fixture_path(&fixture, "s0")), whole);
        assert_int_equal(count_events(), KILLED_EVENTS);
    }
    cunei_buffer_fini(&live);
}

static void a_process_that_ended_is_left_as_it_is(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 3);

    recover(CUNEI_RECOVER_NOTHING);
}

static void what_an_ended_process_could_not_write_is_appended(void **state)
{
    (void)state;
    kill_process();
    fixture_describe(&fixture, true);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(count_events(), KILLED_EVENTS);
    assert_int_equal(trace.processes[0].state, CUNEI_TRACE_ENDED);
}

static void a_running_process_is_never_touched(void **state)
{
    (void)state;
    kill_process();
    fixture_live_create(&fixture, 2, true);
    uint64_t size = fixture_file_size(fixture_path(&fixture, "s0"));
    int fd = open(fixture_path(&fixture, CUNEI_LIVE_NAME), O_RDWR | O_CLOEXEC);
    void *memory = mmap(NULL, CUNEI_LIVE_HEAD_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(memory, MAP_FAILED);

    recover(CUNEI_RECOVER_RUNNING);

    assert_int_equal(fixture_file_size(fixture_path(&fixture, "s0")), size);
    assert_true(exists(CUNEI_LIVE_NAME));
    munmap(memory, CUNEI_LIVE_HEAD_SIZE);
}

static void a_locked_live_file_is_never_touched(void **state)
{
    (void)state;
    kill_process();
    int fd = open(fixture_path(&fixture, CUNEI_LIVE_NAME), O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);

    recover(CUNEI_RECOVER_RUNNING);
    close(fd);
    recover(CUNEI_RECOVER_DONE);
}

static void two_recoveries_do_not_meet(void **state)
{
    (void)state;
    kill_process();
    int fd = open(fixture.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);

    recover(CUNEI_RECOVER_RUNNING);
    close(fd);
}

static void a_process_of_another_machine_is_recovered_only_on_demand(void **state)
{
    (void)state;
    kill_process();
    FILE *file = fopen(fixture_path(&fixture, "metadata"), "r+e");
    assert_non_null(file);
    char text[8192] = "";
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    char *host = strstr(text, "hostname = \"");
    assert_non_null(host);
    host[strlen("hostname = \"")] ^= 1;
    rewind(file);
    (void)fputs(text, file);
    (void)fclose(file);

    recover(CUNEI_RECOVER_ELSEWHERE);
    options.elsewhere = true;
    recover(CUNEI_RECOVER_DONE);
    assert_int_equal(count_events(), KILLED_EVENTS);
}

static void the_description_keeps_what_the_live_file_counted(void **state)
{
    (void)state;
    kill_process();
    fixture_live_count(&fixture, CUNEI_LIVE_LOST, 7);
    fixture_live_count(&fixture, CUNEI_LIVE_LOST_NO_STREAM, 7);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(count_events(), KILLED_EVENTS);
    assert_int_equal(trace.processes[0].description.lost, 7);
    assert_int_equal(trace.processes[0].description.lost_no_stream, 7);
    assert_string_equal(trace.processes[0].description.python, "CPython 3.13.0");
    assert_false(trace.processes[0].description.ended);
}

static void of_a_damaged_live_packet_the_beginning_is_kept(void **state)
{
    (void)state;
    fixture_live_create(&fixture, 1, false);
    fixture_packet_begin(&fixture, 0, 0, 3000);
    fixture_put(&fixture, 3001, 1024, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 3002, 9999, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 3003, 1024, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(recovery.damaged, 1);
    assert_int_equal(count_events(), 2);
}

static void behind_a_damaged_file_nothing_is_appended(void **state)
{
    (void)state;
    char junk[1000];
    memset(junk, 'x', sizeof(junk));
    kill_process();
    fixture_append_file(fixture_path(&fixture, "s0"), junk, sizeof(junk));
    uint64_t size = fixture_file_size(fixture_path(&fixture, "s0"));

    int rc = cunei_trace_recover(fixture.folder, &options, &recovery, &error);

    assert_int_equal(rc, -EBADMSG);
    assert_non_null(strstr(error.text, "s0' is damaged"));
    assert_int_equal(fixture_file_size(fixture_path(&fixture, "s0")), size);
    assert_true(exists(CUNEI_LIVE_NAME));
    assert_true(exists("s1"));
}

static void zeros_that_a_machine_left_when_it_went_down_are_cut(void **state)
{
    (void)state;
    static const char zeros[5000];
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_append_file(fixture_path(&fixture, "s0"), zeros, sizeof(zeros));
    fixture_describe(&fixture, false);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(recovery.cut_bytes, sizeof(zeros));
    assert_int_equal(count_events(), 7);
}

/* Move the live file into memory, and name it where it was. */
static void move_to_memory(struct cunei_live_place *place)
{
    struct cunei_buffer text = {0}, bytes = {0};
    char folder[64], part[4096];
    struct stat status;

    (void)snprintf(folder, sizeof(folder), CUNEI_LIVE_MEMORY_FOLDER,
                   (unsigned)geteuid());
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        skip(); /* there is no /dev/shm */
    (void)snprintf(place->path, sizeof(place->path), "%s/live-%d-test", folder,
                   (int)getpid());
    FILE *file = fopen(fixture_path(&fixture, CUNEI_LIVE_NAME), "re");
    assert_non_null(file);
    for (size_t size; (size = fread(part, 1, sizeof(part), file)) > 0;)
        cunei_buffer_append(&bytes, part, size);
    (void)fclose(file);
    fixture_write_file(place->path, bytes.data, bytes.size);
    assert_int_equal(stat(place->path, &status), 0);
    place->id = cunei_file_id_of(&status);
    cunei_live_place_format(place, &text);
    fixture_write_file(fixture_path(&fixture, CUNEI_LIVE_NAME), text.data, text.size);
    cunei_buffer_fini(&text);
    cunei_buffer_fini(&bytes);
}

static void a_live_file_in_memory_and_the_pointer_to_it_are_removed(void **state)
{
    (void)state;
    struct cunei_live_place place;
    char target[256], pointer[300];
    kill_process();
    move_to_memory(&place);
    (void)snprintf(pointer, sizeof(pointer), "%s/4711", fixture.directory);
    assert_int_equal(symlink(fixture_path(&fixture, CUNEI_LIVE_NAME), pointer), 0);
    options.pointers[1] = fixture.directory;
    assert_int_equal(count_events(), KILLED_EVENTS);

    recover(CUNEI_RECOVER_DONE);

    assert_false(exists(CUNEI_LIVE_NAME));
    assert_int_equal(access(place.path, F_OK), -1);
    assert_int_equal(readlink(pointer, target, sizeof(target)), -1);
    assert_int_equal(count_events(), KILLED_EVENTS);
}

static void another_file_in_memory_is_not_read_and_not_removed(void **state)
{
    (void)state;
    struct cunei_live_place place;
    char saved[300];
    kill_process();
    move_to_memory(&place);
    (void)snprintf(saved, sizeof(saved), "%s.saved", place.path);
    assert_int_equal(rename(place.path, saved), 0);
    fixture_write_file(place.path, "another", 7);

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(recovery.packets, 0);
    assert_int_equal(access(place.path, F_OK), 0);
    assert_int_equal(unlink(place.path), 0);
    assert_int_equal(unlink(saved), 0);
}

static void a_pointer_to_another_process_stays(void **state)
{
    (void)state;
    char pointer[300];
    kill_process();
    (void)snprintf(pointer, sizeof(pointer), "%s/4711", fixture.directory);
    assert_int_equal(symlink(fixture_path(&fixture, "metadata"), pointer), 0);
    options.pointers[0] = fixture.directory;

    recover(CUNEI_RECOVER_DONE);

    assert_int_equal(access(pointer, F_OK), 0);
}

static void a_link_that_leads_nowhere_is_removed(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_describe(&fixture, false);
    assert_int_equal(symlink("/nowhere/at/all", fixture_path(&fixture, ".live")), 0);

    recover(CUNEI_RECOVER_DONE);

    assert_false(exists(CUNEI_LIVE_NAME));
    assert_int_equal(count_events(), 7);
}

static void garbage_in_place_of_a_live_file_is_removed(void **state)
{
    (void)state;
    fixture_append_calls(&fixture, 0, 1000, 3);
    fixture_describe(&fixture, false);
    fixture_write_file(fixture_path(&fixture, ".live"), "garbage", 7);

    recover(CUNEI_RECOVER_DONE);

    assert_false(exists(CUNEI_LIVE_NAME));
    assert_int_equal(count_events(), 7);
}

static void a_trace_that_cannot_be_written_stays_readable(void **state)
{
    (void)state;
    kill_process();
    if (geteuid() == 0)
        skip(); /* root may write anything */
    assert_int_equal(chmod(fixture_path(&fixture, "metadata"), 0400), 0);
    assert_int_equal(chmod(fixture_path(&fixture, "s0"), 0400), 0);
    assert_int_equal(chmod(fixture.folder, 0500), 0);

    int rc = cunei_trace_recover(fixture.folder, &options, &recovery, &error);

    assert_int_equal(rc, -EACCES);
    assert_non_null(strstr(error.text, "cannot be written"));
    assert_int_equal(count_events(), KILLED_EVENTS);
    assert_int_equal(chmod(fixture.folder, 0700), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_killed_process_is_made_whole),
        TEST(babeltrace_reads_what_was_recovered),
        TEST(an_interrupted_recovery_is_done_again),
        TEST(a_process_that_ended_is_left_as_it_is),
        TEST(what_an_ended_process_could_not_write_is_appended),
        TEST(a_running_process_is_never_touched),
        TEST(a_locked_live_file_is_never_touched),
        TEST(two_recoveries_do_not_meet),
        TEST(a_process_of_another_machine_is_recovered_only_on_demand),
        TEST(the_description_keeps_what_the_live_file_counted),
        TEST(of_a_damaged_live_packet_the_beginning_is_kept),
        TEST(behind_a_damaged_file_nothing_is_appended),
        TEST(zeros_that_a_machine_left_when_it_went_down_are_cut),
        TEST(a_live_file_in_memory_and_the_pointer_to_it_are_removed),
        TEST(another_file_in_memory_is_not_read_and_not_removed),
        TEST(a_pointer_to_another_process_stays),
        TEST(a_link_that_leads_nowhere_is_removed),
        TEST(garbage_in_place_of_a_live_file_is_removed),
        TEST(a_trace_that_cannot_be_written_stays_readable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
