// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/safe_open.h"
#include "base/units.h"
#include "python/refusal_reason.h"
#include "python/refusals.h"
#include "rt/clock.h"
#include "rt/refusal.h"
#include "scratch.h"
#include "wire/record_env.h"

#define OTHER_USER 65534

static char missing[] = "/nowhere/at/all";

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

/* The session of a recording into the directory, which is borrowed. */
static struct cunei_record_env session_in(char *directory)
{
    return (struct cunei_record_env){.directory = directory};
}

/* As so many processes: a file is named after its process. */
static void leave_from_children(const struct cunei_record_env *session, int error,
                                int count)
{
    for (int i = 0; i < count; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            cunei_refusal_leave(session, getpid(), error);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

/* As the launcher of the session does, whose trace directory this is. */
static void receive_all(const char *directory, int listener,
                        const struct cunei_record_env *session,
                        struct cunei_refusals *refusals)
{
    struct stat status = {0};

    (void)stat(directory, &status);
    const struct cunei_file_id id = cunei_file_id_of(&status);
    cunei_refusal_receive(directory, &id, listener, session->launcher.secret, refusals);
}

static void words_in_the_directory_are_counted_by_reason(void **state)
{
    struct scratch *scratch = *state;
    const struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};

    leave_from_children(&session, ENOSPC, 2);
    leave_from_children(&session, EMFILE, 1);
    cunei_refusal_read(scratch->directory, &refusals);

    assert_int_equal(refusals.count, 3);
    assert_int_equal(cunei_refusals_count(&refusals, ENOSPC), 2);
    assert_int_equal(cunei_refusals_count(&refusals, EMFILE), 1);
    cunei_refusals_fini(&refusals);
}

/* Who owns the trace directory may put files into it. */
static void a_launcher_ignores_files_of_another_user(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};
    char path[PATH_MAX];

    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    int listener = cunei_refusal_listen(&session.launcher);
    cunei_refusal_leave(&session, 1, EMFILE);
    cunei_refusal_leave(&session, 2, ENOSPC);
    (void)snprintf(path, sizeof(path), "%s/%s2-%d", scratch->directory,
                   CUNEI_REFUSAL_NAME, ENOSPC);
    assert_int_equal(chown(path, OTHER_USER, OTHER_USER), 0);
    receive_all(scratch->directory, listener, &session, &refusals);

    assert_int_equal(refusals.count, 1);
    assert_int_equal(refusals.items[0].reason, EMFILE);
    close(listener);
    cunei_refusals_fini(&refusals);
}

/* Its file could be made by whoever may write there, so it sends a message as well. */
static void a_process_of_another_user_is_counted_once(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};
    int status = 0;

    if (geteuid() != 0)
        skip(); /* only root can become another user */
    int listener = cunei_refusal_listen(&session.launcher);
    assert_int_equal(chmod(scratch->directory, 0777), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setuid(OTHER_USER) == 0)
            cunei_refusal_leave(&session, getpid(), EMFILE);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    receive_all(scratch->directory, listener, &session, &refusals);

    assert_int_equal(refusals.count, 1);
    assert_int_equal(refusals.items[0].pid, pid);
    assert_int_equal(refusals.items[0].reason, EMFILE);
    cunei_refusals_fini(&refusals);
    close(listener);
}

static void a_file_and_a_message_are_one_reason(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};

    if (geteuid() != 0)
        skip(); /* only root can give a directory away */
    int listener = cunei_refusal_listen(&session.launcher);
    assert_int_equal(chown(scratch->directory, OTHER_USER, OTHER_USER), 0);
    cunei_refusal_leave(&session, getpid(), EMFILE);
    receive_all(scratch->directory, listener, &session, &refusals);

    assert_int_equal(refusals.count, 1);
    cunei_refusals_fini(&refusals);
    close(listener);
}

static void without_the_directory_they_go_to_whoever_listens(void **state)
{
    (void)state;
    struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    assert_true(listener > STDERR_FILENO);
    leave_from_children(&session, EACCES, 300);
    receive_all(missing, listener, &session, &refusals);

    assert_int_equal(refusals.count, 300);
    assert_int_equal(cunei_refusals_count(&refusals, EACCES), 300);
    close(listener);
    cunei_refusals_fini(&refusals);
}

static void a_process_that_repeats_itself_counts_once(void **state)
{
    (void)state;
    struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    for (int i = 0; i < 3; i++)
        cunei_refusal_leave(&session, getpid(), EACCES);
    leave_from_children(&session, EACCES, 1);
    receive_all(missing, listener, &session, &refusals);

    assert_int_equal(refusals.count, 2);
    close(listener);
    cunei_refusals_fini(&refusals);
}

static void each_child_that_a_process_reports_counts(void **state)
{
    (void)state;
    struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    for (pid_t child = 1001; child <= 1003; child++) {
        cunei_refusal_leave(&session, child, CUNEI_REFUSAL_NO_SITE);
        cunei_refusal_leave(&session, child, CUNEI_REFUSAL_NO_SITE);
    }
    receive_all(missing, listener, &session, &refusals);

    assert_int_equal(refusals.count, 3);
    assert_int_equal(cunei_refusals_count(&refusals, CUNEI_REFUSAL_NO_SITE), 3);
    close(listener);
    cunei_refusals_fini(&refusals);
}

static void a_message_is_kept_for_other_commands(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0}, kept = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    cunei_refusal_leave(&session, 1001, EACCES);
    receive_all(scratch->directory, listener, &session, &refusals);
    cunei_refusal_read(scratch->directory, &kept);

    assert_int_equal(refusals.count, 1);
    assert_int_equal(kept.count, 1);
    assert_int_equal(kept.items[0].pid, 1001);
    assert_int_equal(kept.items[0].reason, EACCES);
    cunei_refusals_fini(&refusals);
    cunei_refusals_fini(&kept);
    close(listener);
}

static void nothing_is_kept_in_the_place_of_the_directory(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_record_env session = session_in(missing);
    const struct cunei_file_id other = {.inode = 1};
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    cunei_refusal_leave(&session, 1001, EACCES);
    cunei_refusal_receive(scratch->directory, &other, listener, session.launcher.secret,
                          &refusals);
    assert_int_equal(refusals.count, 1);
    cunei_refusals_fini(&refusals);
    cunei_refusal_read(scratch->directory, &refusals);
    assert_int_equal(refusals.count, 0);
    close(listener);
}

static void a_file_that_is_there_needs_no_message(void **state)
{
    struct scratch *scratch = *state;
    struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    for (int i = 0; i < 2; i++)
        cunei_refusal_leave(&session, getpid(), EACCES);
    receive_all(scratch->directory, listener, &session, &refusals);

    assert_int_equal(refusals.count, 1);
    close(listener);
    cunei_refusals_fini(&refusals);
}

static void a_message_without_the_secret_is_ignored(void **state)
{
    (void)state;
    struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    struct cunei_record_env guessed = session;
    guessed.launcher.secret++;
    leave_from_children(&guessed, ENOSPC, 2);
    leave_from_children(&session, EACCES, 1);
    receive_all(missing, listener, &session, &refusals);

    assert_int_equal(refusals.count, 1);
    assert_int_equal(refusals.items[0].reason, EACCES);
    cunei_refusals_fini(&refusals);
    close(listener);
}

static int connect_silently(int listener)
{
    struct sockaddr_un address;
    socklen_t size = sizeof(address);

    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, size), 0);
    return fd;
}

static void silent_connections_delay_a_second_at_most_and_hide_nothing(void **state)
{
    (void)state;
    struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0};
    int silent[100];

    int listener = cunei_refusal_listen(&session.launcher);
    for (size_t i = 0; i < 100; i++)
        silent[i] = connect_silently(listener);
    leave_from_children(&session, EACCES, 1);
    uint64_t begin_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    receive_all(missing, listener, &session, &refusals);
    uint64_t end_ns = cunei_clock_ns(CLOCK_MONOTONIC);

    assert_int_equal(refusals.count, 1);
    assert_in_range(end_ns - begin_ns, 0, CUNEI_NS_PER_S);
    for (size_t i = 0; i < 100; i++)
        close(silent[i]);
    cunei_refusals_fini(&refusals);
    close(listener);
}

/* A message as it is sent, and where to. */
static struct {
    char bytes[64];
    size_t size;
    int fd;
} late;

static void send_late(int signal)
{
    (void)signal;
    (void)!write(late.fd, late.bytes, late.size);
}

static void catch_message(const struct cunei_record_env *session)
{
    struct cunei_record_env other = *session;

    int listener = cunei_refusal_listen(&other.launcher);
    other.launcher.secret = session->launcher.secret;
    cunei_refusal_leave(&other, getpid(), EACCES);
    int fd = accept(listener, NULL, NULL);
    ssize_t size = recv(fd, late.bytes, sizeof(late.bytes), 0);
    assert_true(size > 0);
    late.size = (size_t)size;
    close(fd);
    close(listener);
}

static void a_signal_while_a_message_is_awaited_does_not_lose_it(void **state)
{
    (void)state;
    struct cunei_record_env session = session_in(missing);
    const struct sigaction action = {.sa_handler = send_late};
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    struct sigaction before;
    struct cunei_refusals refusals = {0};

    int listener = cunei_refusal_listen(&session.launcher);
    catch_message(&session);
    late.fd = connect_silently(listener);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    receive_all(missing, listener, &session, &refusals);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);

    assert_int_equal(refusals.count, 1);
    assert_int_equal(refusals.items[0].reason, EACCES);
    close(late.fd);
    close(listener);
    cunei_refusals_fini(&refusals);
}

static void two_launchers_have_other_sockets_and_secrets(void **state)
{
    (void)state;
    struct cunei_record_env one = session_in(missing), two = session_in(missing);

    int first = cunei_refusal_listen(&one.launcher);
    int second = cunei_refusal_listen(&two.launcher);

    assert_true(first > 0 && second > 0);
    assert_int_not_equal(one.launcher.socket, two.launcher.socket);
    assert_int_not_equal(one.launcher.secret, two.launcher.secret);
    close(first);
    close(second);
}

static void reasons_that_are_no_errno_arrive_and_say_what_they_mean(void **state)
{
    struct scratch *scratch = *state;
    const struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};

    leave_from_children(&session, CUNEI_REFUSAL_TORCH, 1);
    cunei_refusal_read(scratch->directory, &refusals);

    assert_int_equal(refusals.items[0].reason, CUNEI_REFUSAL_TORCH);
    assert_non_null(strstr(cunei_refusal_reason_text(CUNEI_REFUSAL_TORCH), "torch"));
    for (int reason = CUNEI_REFUSAL_PYDEVD; reason <= CUNEI_REFUSAL_FORBIDDEN; reason++)
        assert_null(strstr(cunei_refusal_reason_text(reason), "Unknown error"));
    assert_string_equal(cunei_refusal_reason_text(EACCES), strerror(EACCES));
    cunei_refusals_fini(&refusals);
}

static void a_refusal_without_a_listener_does_no_harm(void **state)
{
    (void)state;
    const struct cunei_record_env session = session_in(missing);
    struct cunei_refusals refusals = {0};

    cunei_refusal_leave(&session, getpid(), EACCES);
    cunei_refusal_read(missing, &refusals);

    assert_int_equal(refusals.count, 0);
    cunei_refusals_fini(&refusals);
}

/* What another process may write to the socket, or name a file, is not believed. */
static void nonsense_is_another_reason(void **state)
{
    struct scratch *scratch = *state;
    const struct cunei_record_env session = session_in(scratch->directory);
    struct cunei_refusals refusals = {0};
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/" CUNEI_REFUSAL_NAME "1-x",
                   scratch->directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    leave_from_children(&session, -5, 1);
    leave_from_children(&session, 1 << 20, 1);
    cunei_refusal_read(scratch->directory, &refusals);

    assert_int_equal(refusals.count, 3);
    for (size_t i = 0; i < refusals.count; i++) {
        int reason = refusals.items[i].reason;
        assert_true(reason == 0 || reason == 5); /* "-5" has a dash of its own */
    }
    cunei_refusals_fini(&refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(words_in_the_directory_are_counted_by_reason,
                                        make, remove_all),
        cmocka_unit_test_setup_teardown(a_launcher_ignores_files_of_another_user, make,
                                        remove_all),
        cmocka_unit_test_setup_teardown(a_process_of_another_user_is_counted_once, make,
                                        remove_all),
        cmocka_unit_test_setup_teardown(a_file_and_a_message_are_one_reason, make,
                                        remove_all),
        cmocka_unit_test_setup_teardown(
            without_the_directory_they_go_to_whoever_listens, make, remove_all),
        cmocka_unit_test_setup_teardown(
            reasons_that_are_no_errno_arrive_and_say_what_they_mean, make, remove_all),
        cmocka_unit_test(a_process_that_repeats_itself_counts_once),
        cmocka_unit_test(each_child_that_a_process_reports_counts),
        cmocka_unit_test_setup_teardown(a_message_is_kept_for_other_commands, make,
                                        remove_all),
        cmocka_unit_test_setup_teardown(nothing_is_kept_in_the_place_of_the_directory,
                                        make, remove_all),
        cmocka_unit_test_setup_teardown(a_file_that_is_there_needs_no_message, make,
                                        remove_all),
        cmocka_unit_test(a_message_without_the_secret_is_ignored),
        cmocka_unit_test(silent_connections_delay_a_second_at_most_and_hide_nothing),
        cmocka_unit_test(a_signal_while_a_message_is_awaited_does_not_lose_it),
        cmocka_unit_test(two_launchers_have_other_sockets_and_secrets),
        cmocka_unit_test(a_refusal_without_a_listener_does_no_harm),
        cmocka_unit_test_setup_teardown(nonsense_is_another_reason, make, remove_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
