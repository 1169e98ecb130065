// SPDX-License-Identifier: MIT
/* Writing into a trace's folder in a program that does as it pleases. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/file.h"
#include "rt/live.h"
#include "rt/run_in_child.h"
#include "rt/state.h"
#include "scratch.h"
#include "wire/live.h"

static const struct cunei_file_id any;

struct fixture {
    struct scratch scratch;
    struct cunei_folder folder;
    struct cunei_file_end end;
    char path[256]; /* of what path_of was asked last */
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    scratch_make(&fixture->scratch);
    assert_int_equal(
        cunei_folder_open(&fixture->folder, fixture->scratch.directory, &any), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    cunei_folder_close(&fixture->folder);
    scratch_remove(&fixture->scratch);
    free(fixture);
    return 0;
}

static const char *path_of(struct fixture *fixture, const char *name)
{
    (void)snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->folder.path,
                   name);
    return fixture->path;
}

static void assert_holds(struct fixture *fixture, const char *name, const char *wanted)
{
    char got[256] = "";

    FILE *file = fopen(path_of(fixture, name), "re");
    assert_non_null(file);
    size_t size = fread(got, 1, sizeof(got) - 1, file);
    (void)fclose(file);
    assert_int_equal(size, strlen(wanted));
    assert_string_equal(got, wanted);
}

static int append(struct fixture *fixture, const char *text)
{
    return cunei_file_append(&fixture->folder, "s0", text, strlen(text), &fixture->end);
}

static void limit(int what, rlim_t value, struct rlimit *before)
{
    struct rlimit changed;

    assert_int_equal(getrlimit(what, before), 0);
    changed = *before;
    changed.rlim_cur = value;
    assert_int_equal(setrlimit(what, &changed), 0);
}

static void each_recording_gets_a_folder_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_folder other;
    struct stat status;

    assert_int_equal(cunei_folder_open(&other, fixture->scratch.directory, &any), 0);

    assert_string_not_equal(other.path, fixture->folder.path);
    assert_int_equal(stat(other.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(other.fd, -1);
    cunei_folder_close(&other);
}

static void a_folder_is_made_with_one_descriptor_left(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_folder other;
    struct rlimit before;

    int next = dup(STDERR_FILENO);
    assert_true(next >= 0);
    close(next);
    limit(RLIMIT_NOFILE, (rlim_t)next + 1, &before);
    int rc = cunei_folder_open(&other, fixture->scratch.directory, &any);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
#if CUNEI_RUN_IN_CHILD_WORKS
    assert_int_equal(rc, 0);
    assert_string_equal(strrchr(other.path, '-'), "-1"); /* no folder was left empty */
    cunei_folder_close(&other);
#else
    assert_int_equal(rc, -EMFILE);
#endif
}

static void no_folder_is_made_in_the_place_of_the_parent(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_folder other;
    struct stat status;
    char place[256];

    assert_int_equal(stat(fixture->scratch.directory, &status), 0);
    const struct cunei_file_id id = cunei_file_id_of(&status);
    (void)snprintf(place, sizeof(place), "%s/place", fixture->scratch.directory);
    assert_int_equal(mkdir(place, 0700), 0);

    assert_int_equal(cunei_folder_open(&other, place, &id), -EXDEV);

    assert_int_equal(rmdir(place), 0); /* it is empty */
    assert_int_equal(cunei_folder_open(&other, fixture->scratch.directory, &id), 0);
    cunei_folder_close(&other);
}

static void what_is_appended_stands_behind_what_was_there(void **state)
{
    struct stat status;

    assert_int_equal(append(*state, "one "), 0);
    assert_int_equal(append(*state, "two"), 0);

    assert_holds(*state, "s0", "one two");
    assert_int_equal(((struct fixture *)*state)->end.length, 7);
    assert_int_equal(stat(path_of(*state, "s0"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void a_text_that_does_not_fit_is_not_appended_in_part(void **state)
{
    struct rlimit before;

    assert_int_equal(append(*state, "one "), 0);
    limit(RLIMIT_FSIZE, 6, &before);
    assert_int_equal(append(*state, "two"), -EFBIG);
    assert_int_equal(
        cunei_file_patch(&((struct fixture *)*state)->folder, "s0", "xyz", 3, 5),
        -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_holds(*state, "s0", "one ");

    assert_int_equal(append(*state, "two"), 0);
    assert_holds(*state, "s0", "one two");
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_file_end end;
    struct rlimit before;

    assert_int_equal(cunei_file_replace(&fixture->folder, "x", "old", 3, &end), 0);
    limit(RLIMIT_FSIZE, 2, &before);
    assert_int_equal(cunei_file_replace(&fixture->folder, "x", "new", 3, &end), -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_holds(fixture, "x", "old");
    assert_int_equal(access(path_of(fixture, ".x.new"), F_OK), -1);

    assert_int_equal(cunei_file_replace(&fixture->folder, "x", "new", 3, &end), 0);
    assert_holds(fixture, "x", "new");
}

static void bytes_are_patched_in_place(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(append(fixture, "one two"), 0);
    assert_int_equal(cunei_file_patch(&fixture->folder, "s0", "2", 1, 4), 0);

    assert_holds(fixture, "s0", "one 2wo");
}

static void a_held_descriptor_that_the_program_closed_is_done_without(void **state)
{
    struct fixture *fixture = *state;

    cunei_folder_hold(&fixture->folder);
    assert_true(fcntl(fixture->folder.fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(append(fixture, "one "), 0);
    assert_int_equal(close(fixture->folder.fd), 0);
    assert_int_equal(append(fixture, "two"), 0);

    assert_holds(fixture, "s0", "one two");
}

static void a_held_descriptor_that_the_program_took_over_is_left_to_it(void **state)
{
    struct fixture *fixture = *state;
    struct stat theirs, now;

    cunei_folder_hold(&fixture->folder);
    int number = fixture->folder.fd;
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(dup3(fd, number, O_CLOEXEC), number);
    assert_int_equal(fstat(number, &theirs), 0);
    assert_int_equal(append(fixture, "one"), 0);
    cunei_folder_close(&fixture->folder);

    assert_int_equal(fstat(number, &now), 0);
    assert_int_equal(now.st_ino, theirs.st_ino);
    assert_int_equal(access("/s0", F_OK), -1);
    close(number);
    close(fd);
}

static void a_held_folder_is_found_where_its_path_does_not_lead(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_file_end end;
    char moved[300];

    (void)snprintf(moved, sizeof(moved), "%s.moved", fixture->folder.path);
    cunei_folder_hold(&fixture->folder);
    assert_int_equal(rename(fixture->folder.path, moved), 0);
    assert_int_equal(append(fixture, "one"), 0);
    assert_int_equal(cunei_file_replace(&fixture->folder, "x", "new", 3, &end), 0);
    assert_int_equal(rename(moved, fixture->folder.path), 0);

    assert_holds(fixture, "s0", "one");
    assert_holds(fixture, "x", "new");
}

static void a_folder_is_found_wherever_the_program_goes(void **state)
{
    struct fixture *fixture = *state;
    char *before = getcwd(NULL, 0);

    assert_int_equal(chdir("/"), 0);
    assert_int_equal(append(fixture, "one"), 0);
    assert_int_equal(chdir(before), 0);
    free(before);

    assert_holds(fixture, "s0", "one");
}

static void a_folder_that_is_moved_is_found_by_what_is_mapped_of_it(void **state)
{
    struct fixture *fixture = *state;
    char moved[300];

    assert_int_equal(append(fixture, "one "), 0);
    int fd = open(path_of(fixture, "s0"), O_RDONLY | O_CLOEXEC);
    void *mapped = mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    close(fd);
    fixture->folder.mapped = mapped;
    (void)snprintf(moved, sizeof(moved), "%s moved", fixture->folder.path);
    assert_int_equal(rename(fixture->folder.path, moved), 0);
    assert_int_equal(append(fixture, "two"), 0);
    assert_int_equal(rename(moved, fixture->folder.path), 0);

    assert_holds(fixture, "s0", "one two");
    munmap(mapped, 4);
}

/* Take every descriptor there is; returns how many that were. */
static size_t take_all(int *taken, size_t max)
{
    size_t count = 0;

    while (count < max && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    return count;
}

static void a_program_that_takes_every_descriptor_does_not_stop_us(void **state)
{
    enum {
        MAX = 256
    };
    struct fixture *fixture = *state;
    struct rlimit before;
    int taken[MAX];

    if (!CUNEI_RUN_IN_CHILD_WORKS)
        skip();
    limit(RLIMIT_NOFILE, MAX / 2, &before);
    size_t count = take_all(taken, MAX);
    int first = append(fixture, "one ");
    int second = append(fixture, "two");
    int more = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool has_children = waitpid(-1, NULL, WNOHANG | __WALL) >= 0 || errno != ECHILD;
    bool is_same = fcntl(0, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
    for (size_t i = 0; i < count; i++)
        close(taken[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

    assert_true(count > MAX / 4 && count < MAX);
    assert_int_equal(first, 0);
    assert_int_equal(second, 0);
    assert_int_equal(more, -1);
    assert_false(has_children);
    assert_true(is_same);
    assert_holds(fixture, "s0", "one two");
}

/* A recording whose live file is at this path; a file in the folder names it. */
static struct cunei_recorder_state *record_in_memory(struct fixture *fixture,
                                                     char *path)
{
    struct cunei_recorder_state *recording = calloc(1, sizeof(*recording));
    struct stat status;

    assert_non_null(recording);
    int fd = cunei_safe_open_file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, &status);
    assert_true(fd >= 0);
    close(fd);
    recording->folder = fixture->folder;
    recording->live_file = (struct cunei_hidden_file){
        .name = CUNEI_LIVE_NAME,
        .folder = &recording->folder,
        .id = cunei_file_id_of(&status),
        .path = path,
    };
    assert_int_equal(cunei_file_append(&recording->folder, CUNEI_LIVE_NAME, path,
                                       strlen(path), &recording->live_file.place),
                     0);
    return recording;
}

static void a_live_file_in_memory_is_removed_without_a_descriptor(void **state)
{
    enum {
        MAX = 256
    };
    struct fixture *fixture = *state;
    struct rlimit before;
    int taken[MAX];
    char path[300];

    if (!CUNEI_RUN_IN_CHILD_WORKS)
        skip();
    (void)snprintf(path, sizeof(path), "%s/memory", fixture->scratch.directory);
    struct cunei_recorder_state *recording = record_in_memory(fixture, path);
    limit(RLIMIT_NOFILE, MAX / 2, &before);
    size_t count = take_all(taken, MAX);
    cunei_live_remove(recording);
    for (size_t i = 0; i < count; i++)
        close(taken[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(path_of(fixture, CUNEI_LIVE_NAME), F_OK), -1);
    free(recording);
}

static void a_live_file_that_stays_in_memory_keeps_its_name(void **state)
{
    struct fixture *fixture = *state;
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/memory", fixture->scratch.directory);
    struct cunei_recorder_state *recording = record_in_memory(fixture, path);
    assert_int_equal(chmod(fixture->scratch.directory, 0770), 0);
    cunei_live_remove(recording); /* others may write there: it is not removed */
    assert_int_equal(chmod(fixture->scratch.directory, 0700), 0);

    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(path_of(fixture, CUNEI_LIVE_NAME), F_OK), 0);
    free(recording);
}

static void a_folder_that_is_gone_is_an_error(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(rmdir(fixture->folder.path), 0);

    assert_int_equal(append(fixture, "one"), -ENOENT);
}

/* Move the folder away; the path of a folder that takes its place goes to `other`. */
static void move_away(struct fixture *fixture, char moved[300], char other[300])
{
    (void)snprintf(moved, 300, "%s.moved", fixture->folder.path);
    (void)snprintf(other, 300, "%s.other", fixture->folder.path);
    assert_int_equal(rename(fixture->folder.path, moved), 0);
    assert_int_equal(mkdir(other, 0700), 0);
}

static void put_back(struct fixture *fixture, const char *moved, const char *other)
{
    (void)unlink(fixture->folder.path);
    (void)rmdir(fixture->folder.path); /* what was written there would be left */
    (void)rmdir(other);
    assert_int_equal(rename(moved, fixture->folder.path), 0);
}

static void a_link_in_place_of_the_folder_is_not_followed(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_file_end end = {0};
    struct statvfs space;
    char moved[300], other[300];

    assert_int_equal(append(fixture, "one "), 0);
    move_away(fixture, moved, other);
    assert_int_equal(symlink(other, fixture->folder.path), 0);
    assert_int_equal(append(fixture, "two"), -ESTALE);
    assert_int_equal(cunei_file_replace(&fixture->folder, "x", "new", 3, &end),
                     -ESTALE);
    assert_int_equal(cunei_file_patch(&fixture->folder, "s0", "2", 1, 0), -ESTALE);
    assert_int_equal(cunei_file_remove(&fixture->folder, "s0", &fixture->end.id),
                     -ESTALE);
    assert_int_equal(cunei_folder_space(&fixture->folder, &space), -ESTALE);
    assert_true(cunei_folder_is_away(&fixture->folder));
    put_back(fixture, moved, other);
    assert_false(cunei_folder_is_away(&fixture->folder));

    assert_int_equal(append(fixture, "three"), 0);
    assert_holds(fixture, "s0", "one three");
}

static void another_folder_at_its_path_is_not_written_to(void **state)
{
    struct fixture *fixture = *state;
    char moved[300], other[300];

    move_away(fixture, moved, other);
    assert_int_equal(rename(other, fixture->folder.path), 0);
    assert_int_equal(append(fixture, "one"), -ESTALE);
    put_back(fixture, moved, other);

    assert_int_equal(append(fixture, "one"), 0);
    assert_holds(fixture, "s0", "one");
}

static void a_folder_that_others_may_write_to_is_not_used(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(chmod(fixture->folder.path, 0755), 0);
    assert_int_equal(append(fixture, "one"), 0);
    assert_int_equal(chmod(fixture->folder.path, 0775), 0);
    assert_int_equal(append(fixture, "two"), -ESTALE);

    assert_holds(fixture, "s0", "one");
}

static void what_bears_the_name_of_a_file_is_not_taken_over(void **state)
{
    struct fixture *fixture = *state;
    char victim[300];

    (void)snprintf(victim, sizeof(victim), "%s/victim", fixture->scratch.directory);
    assert_int_equal(symlink(victim, path_of(fixture, "s0")), 0);
    assert_int_equal(append(fixture, "one"), -EEXIST);
    assert_int_equal(unlink(path_of(fixture, "s0")), 0);
    assert_int_equal(append(fixture, "one"), 0);
    assert_int_equal(unlink(path_of(fixture, "s0")), 0);
    assert_int_equal(append(fixture, "two"), -ENOENT);
    assert_int_equal(symlink(victim, path_of(fixture, "s0")), 0);
    assert_int_equal(append(fixture, "two"), -EBADMSG);
    assert_int_equal(unlink(path_of(fixture, "s0")), 0);
    assert_int_equal(mkfifo(path_of(fixture, "s0"), 0600), 0);
    assert_int_equal(append(fixture, "two"), -EBADMSG);

    assert_int_equal(access(victim, F_OK), -1);
    assert_false(cunei_folder_is_away(&fixture->folder));
}

static void a_parent_that_cannot_be_is_an_error(void **state)
{
    struct cunei_folder folder;
    (void)state;

    assert_int_equal(cunei_folder_open(&folder, "/nowhere/at/all", &any), -ENOENT);
    assert_int_equal(cunei_folder_open(&folder, "/dev/null", &any), -ENOTDIR);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_recording_gets_a_folder_of_its_own),
        TEST(a_folder_is_made_with_one_descriptor_left),
        TEST(no_folder_is_made_in_the_place_of_the_parent),
        TEST(what_is_appended_stands_behind_what_was_there),
        TEST(a_text_that_does_not_fit_is_not_appended_in_part),
        TEST(a_file_is_replaced_whole_or_not_at_all),
        TEST(bytes_are_patched_in_place),
        TEST(a_held_descriptor_that_the_program_closed_is_done_without),
        TEST(a_held_descriptor_that_the_program_took_over_is_left_to_it),
        TEST(a_held_folder_is_found_where_its_path_does_not_lead),
        TEST(a_folder_is_found_wherever_the_program_goes),
        TEST(a_folder_that_is_moved_is_found_by_what_is_mapped_of_it),
        TEST(a_program_that_takes_every_descriptor_does_not_stop_us),
        TEST(a_live_file_in_memory_is_removed_without_a_descriptor),
        TEST(a_live_file_that_stays_in_memory_keeps_its_name),
        TEST(a_folder_that_is_gone_is_an_error),
        TEST(a_link_in_place_of_the_folder_is_not_followed),
        TEST(another_folder_at_its_path_is_not_written_to),
        TEST(a_folder_that_others_may_write_to_is_not_used),
        TEST(what_bears_the_name_of_a_file_is_not_taken_over),
        TEST(a_parent_that_cannot_be_is_an_error),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
