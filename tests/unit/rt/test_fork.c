// SPDX-License-Identifier: MIT
/* A forked child that continues recording, and the ways out of a process. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rt/recorder.h"
#include "scratch.h"

/* As the probe does it in a child; 0, or which of the expectations failed. */
static int go_on(const struct scratch *scratch)
{
    struct cunei_process process = {.forked = true, .name = strdup("worker")};
    struct cunei_recorder_options options = {.directory = scratch->directory};

    if (cunei_recorder_is_on() || cunei_recorder_start(&options, &process) != 0)
        return 1;
    if (scratch_define("f0") != scratch->first) /* ids begin anew */
        return 2;
    scratch_put(scratch, 0);
    return 0;
}

enum way {
    BY_LEAVE,
    BY_EXIT,
    BY_STOP_AND_EXIT,
    BY_KILL,
    BY_EXEC
};

__attribute__((noreturn)) static void act_as_child(const struct scratch *scratch,
                                                   enum way way)
{
    int failed = go_on(scratch);

    if (failed)
        _exit(100 + failed);
    if (way == BY_LEAVE && cunei_recorder_stop_at_exit(0x103) == 0)
        _exit(3);
    if (way == BY_STOP_AND_EXIT && cunei_recorder_stop() < 0)
        _exit(99);
    if (way == BY_KILL)
        (void)raise(SIGKILL);
    if (way == BY_EXEC) {
        cunei_recorder_set_exec("/bin/false");
        (void)execl("/bin/false", "false", NULL);
    }
    exit(4);
}

/* Have a child end in this way; its wait status. */
static int run_child(const struct scratch *scratch, enum way way)
{
    int status = 0;

    scratch_put(scratch, 0);
    pid_t pid = fork();
    if (pid == 0)
        act_as_child(scratch, way);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(cunei_recorder_stop(), 0);
    return status;
}

/* The child is the second of the two: it started later. */
static const struct cunei_trace_process *open_child(const struct scratch *scratch,
                                                    struct cunei_trace *trace)
{
    scratch_open(scratch, trace);
    assert_int_equal(trace->process_count, 2);
    return &trace->processes[1];
}

static void a_child_knows_where_it_comes_from(void **state)
{
    struct cunei_trace trace;

    assert_int_equal(WEXITSTATUS(run_child(*state, BY_LEAVE)), 3);

    const struct cunei_process *child = &open_child(*state, &trace)->description;
    const struct cunei_process *parent = &trace.processes[0].description;
    const char *folder = strrchr(trace.processes[0].path, '/') + 1;
    assert_true(child->forked);
    assert_false(parent->forked);
    assert_int_equal(child->parent, getpid());
    assert_string_equal(child->parent_folder, folder);
    assert_string_equal(child->name, "worker");
    assert_int_equal(trace.processes[1].function_count, 1);
    assert_int_equal(trace.processes[0].function_count, SCRATCH_FUNCTIONS);
    cunei_trace_close(&trace);
}

static void a_child_has_the_clock_that_its_parent_had(void **state)
{
    struct cunei_trace trace;

    /* A killed process cannot measure its own time, however long it took. */
    assert_int_equal(WTERMSIG(run_child(*state, BY_KILL)), SIGKILL);

    assert_int_equal(open_child(*state, &trace)->metadata.frequency, SCRATCH_FREQUENCY);
    cunei_trace_close(&trace);
}

static void each_way_out_is_reported(void **state)
{
    static const struct {
        enum way way;
        enum cunei_trace_state state;
        bool left, exited;
        unsigned status;
    } ways[] = {
        {BY_LEAVE, CUNEI_TRACE_ENDED, true, false, 3},
        {BY_STOP_AND_EXIT, CUNEI_TRACE_ENDED, false, true, 4},
        {BY_EXIT, CUNEI_TRACE_EXITED, false, true, 4},
        {BY_KILL, CUNEI_TRACE_KILLED, false, false, 0},
        {BY_EXEC, CUNEI_TRACE_REPLACED, false, false, 0},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct cunei_trace trace;
        if (i > 0) {
            scratch_tear_down(state);
            scratch_set_up(state);
        }
        (void)run_child(*state, ways[i].way);

        const struct cunei_trace_process *child = open_child(*state, &trace);
        assert_int_equal(child->state, ways[i].state);
        assert_int_equal(child->description.left, ways[i].left);
        assert_int_equal(child->description.exited, ways[i].exited);
        assert_int_equal(child->description.exit_status, ways[i].status);
        /* A kill comes unannounced, and so does exit(3) in the middle. */
        bool is_known =
            ways[i].state != CUNEI_TRACE_KILLED && ways[i].state != CUNEI_TRACE_EXITED;
        assert_int_equal(child->description.cpu_ns > 0, is_known);
        assert_int_equal(child->description.end_ns >= child->description.start_ns,
                         is_known);
        cunei_trace_close(&trace);
    }
}

static void a_name_that_comes_later_is_reported_as_well(void **state)
{
    struct cunei_trace trace;

    cunei_recorder_set_name("early");
    cunei_recorder_set_name("late");
    assert_int_equal(cunei_recorder_stop(), 0);
    cunei_recorder_set_name("too late");

    scratch_open(*state, &trace);
    assert_string_equal(trace.processes[0].description.name, "late");
    cunei_trace_close(&trace);
}

static void interpreters_are_counted(void **state)
{
    struct cunei_trace trace;

    cunei_recorder_count_interpreter();
    cunei_recorder_count_interpreter();
    cunei_recorder_note_interpreters(1);
    assert_int_equal(cunei_recorder_stop(), 0);

    scratch_open(*state, &trace);
    assert_int_equal(trace.processes[0].description.interpreters, 2);
    cunei_trace_close(&trace);
}

/* Where there is no directory any more, a child makes none. */
static void a_directory_that_is_gone_stays_gone(void **state)
{
    struct scratch *scratch = *state;
    int status = 0;

    scratch_remove(scratch);
    pid_t pid = fork();
    if (pid == 0) {
        struct cunei_process process = {.forked = true};
        struct cunei_recorder_options options = {.directory = scratch->directory};
        _exit(cunei_recorder_start(&options, &process) == -ENOENT ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);

    assert_int_equal(status, 0);
    assert_int_equal(access(scratch->directory, F_OK), -1);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_child_knows_where_it_comes_from),
        TEST(a_child_has_the_clock_that_its_parent_had),
        TEST(each_way_out_is_reported),
        TEST(a_name_that_comes_later_is_reported_as_well),
        TEST(interpreters_are_counted),
        TEST(a_directory_that_is_gone_stays_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
