// SPDX-License-Identifier: MIT
/* Files for a process whose root, a folder of its own, may be hostile. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/script_file.h"

struct fixture {
    char folder[64]; /* with "root", in which the child lives, and "outside" */
    pid_t child;
    struct cunei_target target;
    struct cunei_attach_error error;
};

static char *in(const struct fixture *fixture, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];

    (void)snprintf(path, PATH_MAX, "%s/%s", fixture->folder, name);
    return path;
}

/* A process in that root; false: this user may not change roots. */
static bool start_child(struct fixture *fixture)
{
    int ready[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    fixture->child = fork();
    assert_true(fixture->child >= 0);
    if (fixture->child == 0) {
        bool may = geteuid() == 0 || unshare(CLONE_NEWUSER) == 0;
        if (may && chroot(in(fixture, "root")) == 0 && chdir("/") == 0)
            byte = 1;
        (void)!write(ready[1], &byte, 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return byte;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    *state = fixture;
    strcpy(fixture->folder, "/tmp/cunei-test-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    assert_int_equal(mkdir(in(fixture, "root"), 0755), 0);
    assert_int_equal(mkdir(in(fixture, "outside"), 0755), 0);
    if (!start_child(fixture))
        skip();
    fixture->target.process = (struct cunei_process_facts){
        .pid = fixture->child,
        .inner_pid = fixture->child,
        .uid = geteuid(),
        .effective_uid = geteuid(),
        .file_uid = geteuid(),
        .file_gid = getegid(),
    };
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char command[128];

    (void)kill(fixture->child, SIGKILL);
    (void)waitpid(fixture->child, NULL, 0);
    (void)snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
    int rc = system(command);
    free(fixture);
    return rc;
}

static unsigned files_in(const struct fixture *fixture, const char *name)
{
    unsigned count = 0;

    DIR *folder = opendir(in(fixture, name));
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int create(struct fixture *fixture, struct cunei_script_file *file)
{
    return cunei_script_file_create(file, &fixture->target, "pass", &fixture->error);
}

static void a_file_is_made_below_the_root_of_the_process(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    struct stat status;
    assert_int_equal(mkdir(in(fixture, "root/tmp"), 0700), 0);

    assert_int_equal(create(fixture, &file), 0);

    assert_memory_equal(file.path, "/tmp/cunei-", 11);
    assert_int_equal(stat(in(fixture, "root/tmp"), &status), 0);
    assert_int_equal(files_in(fixture, "root/tmp"), 1);
    assert_int_equal(fstat(file.fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_size, file.size);
    cunei_script_file_close(&file, false);
    assert_int_equal(files_in(fixture, "root/tmp"), 0);
}

static void a_link_in_place_of_a_folder_is_not_followed(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    const char *const names[] = {"root/tmp", "root/var", "root/dev"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(symlink(in(fixture, "outside"), in(fixture, names[i])), 0);
    strcpy(fixture->target.runtime_directory, "/../outside");

    assert_true(create(fixture, &file) < 0);

    assert_int_equal(files_in(fixture, "outside"), 0);
    assert_non_null(strstr(fixture->error.text, "no file for it can be made"));
}

static void a_pipe_in_place_of_a_folder_is_not_opened(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    assert_int_equal(mkfifo(in(fixture, "root/tmp"), 0666), 0);

    assert_true(create(fixture, &file) < 0);
}

static void a_folder_that_others_may_change_is_not_used(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    assert_int_equal(mkdir(in(fixture, "root/tmp"), 0700), 0);

    assert_int_equal(chmod(in(fixture, "root/tmp"), 0777), 0);
    assert_true(create(fixture, &file) < 0);
    assert_int_equal(files_in(fixture, "root/tmp"), 0);

    assert_int_equal(chmod(in(fixture, "root/tmp"), 01777), 0);
    assert_int_equal(create(fixture, &file), 0);
    cunei_script_file_close(&file, false);
}

static struct cunei_script_marks marks_of(const struct cunei_script_file *file)
{
    struct cunei_script_marks marks;
    cunei_script_file_read_marks(file, &marks);
    return marks;
}

/* As the process does it. */
static void mark(const struct cunei_script_file *file, const char *text)
{
    assert_int_equal(write(file->fd, text, strlen(text)), strlen(text));
}

static void the_first_mark_decides(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    assert_int_equal(mkdir(in(fixture, "root/tmp"), 0700), 0);

    assert_int_equal(create(fixture, &file), 0);
    assert_int_equal(marks_of(&file).state, CUNEI_SCRIPT_WAITING);
    assert_true(cunei_script_file_withdraw(&file));
    cunei_script_file_close(&file, false);

    assert_int_equal(create(fixture, &file), 0);
    mark(&file, "#12");
    assert_false(cunei_script_file_withdraw(&file));
    assert_int_equal(marks_of(&file).state, CUNEI_SCRIPT_BEGUN);
    cunei_script_file_close(&file, false);
}

static void marks_say_who_has_read_and_how_it_ended(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    assert_int_equal(mkdir(in(fixture, "root/tmp"), 0700), 0);
    assert_int_equal(create(fixture, &file), 0);

    mark(&file, "#12#345");
    assert_false(cunei_script_file_withdraw(&file));
    mark(&file, "!Error: no#6");

    struct cunei_script_marks marks = marks_of(&file);
    assert_int_equal(marks.state, CUNEI_SCRIPT_FAILED);
    assert_string_equal(marks.exception.text, "Error: no");
    assert_int_equal(marks.reader_count, 4);
    assert_true(cunei_script_marks_have(&marks, 345));
    assert_true(cunei_script_marks_have(&marks, 6));
    assert_false(cunei_script_marks_have(&marks, 34));
    cunei_script_file_close(&file, false);
}

static void the_file_of_another_has_our_name_and_stays(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    char path[PATH_MAX];
    assert_int_equal(mkdir(in(fixture, "root/tmp"), 0700), 0);
    assert_int_equal(create(fixture, &file), 0);
    (void)snprintf(path, sizeof(path), "%s/root%s", fixture->folder, file.path);

    assert_int_equal(unlink(path), 0);
    int other = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(other >= 0);
    cunei_script_file_close(&file, false);

    assert_int_equal(access(path, F_OK), 0);
    close(other);
}

static void a_script_that_is_too_long_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct cunei_script_file file = {0};
    char *script = malloc(CUNEI_SCRIPT_SIZE_MAX + 1);
    assert_non_null(script);
    memset(script, '#', CUNEI_SCRIPT_SIZE_MAX);
    script[CUNEI_SCRIPT_SIZE_MAX] = '\0';
    assert_int_equal(mkdir(in(fixture, "root/tmp"), 0700), 0);

    int rc = cunei_script_file_create(&file, &fixture->target, script, &fixture->error);

    assert_int_equal(rc, -E2BIG);
    assert_int_equal(files_in(fixture, "root/tmp"), 0);
    free(script);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_made_below_the_root_of_the_process),
        TEST(a_link_in_place_of_a_folder_is_not_followed),
        TEST(a_pipe_in_place_of_a_folder_is_not_opened),
        TEST(a_folder_that_others_may_change_is_not_used),
        TEST(the_first_mark_decides),
        TEST(marks_say_who_has_read_and_how_it_ended),
        TEST(the_file_of_another_has_our_name_and_stays),
        TEST(a_script_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
