// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/armed/hidden_thread.h"
#include "probe/armed/own_descriptors.h"

static size_t count_entries(const char *path)
{
    size_t count = 0;

    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count;
}

static void note_mask(void *argument)
{
    (void)pthread_sigmask(SIG_SETMASK, NULL, argument);
}

static void it_takes_no_signal(void **state)
{
    struct cunei_hidden_thread thread;
    sigset_t before, after, mask;
    (void)state;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(cunei_hidden_thread_begin(&thread, note_mask, &mask), 0);
    cunei_hidden_thread_end(&thread);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);

    static const int numbers[] = {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGPWR, SIGUSR1};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        assert_true(sigismember(&mask, numbers[i]));
        assert_int_equal(sigismember(&before, numbers[i]),
                         sigismember(&after, numbers[i]));
    }
}

static void nothing(void *argument)
{
    (void)argument;
}

/* The kernel forgets a thread a little later than pthread_join(3) returns. */
static void one_that_has_ended_is_not_counted(void **state)
{
    size_t before = count_entries("/proc/self/task");
    (void)state;

    for (int i = 0; i < 500; i++) {
        struct cunei_hidden_thread thread;
        assert_int_equal(cunei_hidden_thread_begin(&thread, nothing, NULL), 0);
        assert_int_equal(thread.pid, getpid());
        cunei_hidden_thread_end(&thread);
        assert_int_equal(count_entries("/proc/self/task"), before);
    }
}

struct table {
    int rc;
    size_t count;    /* in the thread */
    int first, next; /* descriptors that it got */
};

static void take_table(void *argument)
{
    struct table *table = argument;
    char path[64];

    table->rc = cunei_own_descriptors_take();
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/fd",
                   (int)syscall(SYS_gettid));
    table->first = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fdopendir(table->first);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        table->count += entry->d_name[0] != '.';
    table->next = dup(0);
    if (folder)
        (void)closedir(folder);
    /* None of these are the program's. */
    for (int fd = 0; fd < 64; fd++)
        (void)close(fd);
}

static void its_own_descriptors_are_no_concern_of_the_program(void **state)
{
    struct cunei_hidden_thread thread;
    struct table table = {.rc = -1};
    (void)state;

    int ours = open("/dev/null", O_RDWR | O_CLOEXEC);
    size_t before = count_entries("/proc/self/fd");
    assert_int_equal(cunei_hidden_thread_begin(&thread, take_table, &table), 0);
    cunei_hidden_thread_end(&thread);

    assert_int_equal(table.rc, 0);
    assert_int_equal(table.first, 3);
    assert_int_equal(table.count, 4);
    assert_int_equal(table.next, 4);
    assert_int_equal(count_entries("/proc/self/fd"), before);
    assert_int_equal(fcntl(ours, F_GETFD), FD_CLOEXEC);
    close(ours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_no_signal),
        cmocka_unit_test(one_that_has_ended_is_not_counted),
        cmocka_unit_test(its_own_descriptors_are_no_concern_of_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
