// SPDX-License-Identifier: MIT
/* Triggers on traces made by hand: which fire, when, where, and with what value. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/units.h"
#include "opened.h"
#include "trace/process/process.h"
#include "trigger/triggers.h"
#include "trigger/watch.h"
#include "wire/event.h"

#define F        1024u
#define G        1025u
#define START_NS (FIXTURE_START_S * UINT64_C(1000000000))

static struct cunei_triggers triggers;
static struct cunei_trigger_watch *watch;
static struct cunei_buffer fired, offered;

/* "120 exception:E f:3 E raised" */
static void note_firing(void *context, const struct cunei_trigger_firing *firing)
{
    const struct cunei_cause *cause = firing->cause;

    (void)context;
    cunei_buffer_format(&fired, "%s%" PRId64 " %s %s:%" PRIu32 " %" PRIu64 " %s",
                        fired.size ? "\n" : "", (int64_t)(cause->time_ns - START_NS),
                        cause->trigger, cause->function, cause->line, cause->value,
                        cause->what);
}

static void note_name(void *context, size_t trigger, const char *name)
{
    (void)context;
    cunei_buffer_format(&offered, "%s%zu %s", offered.size ? ", " : "", trigger, name);
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

static void watch_for(const char *text)
{
    struct cunei_buffer reason = {0};

    assert_int_equal(cunei_triggers_add(&triggers, text, &reason), 0);
}

static void open_watch(void)
{
    const struct cunei_trigger_listener listener = {note_firing, note_name, NULL};

    assert_int_equal(cunei_trigger_watch_open(&watch, fixture.directory, &triggers,
                                              &listener, &error),
                     0);
}

/* All that fires in the fixture's trace, one line for each. */
static const char *run(void)
{
    int rc;

    open_watch();
    do
        rc = cunei_trigger_watch_poll(watch);
    while (rc == 2);
    assert_true(rc >= 0);
    assert_int_equal(cunei_trigger_watch_finish(watch), 0);
    return cunei_buffer_text(&fired);
}

static int stop(void **state)
{
    cunei_trigger_watch_close(watch);
    watch = NULL;
    cunei_triggers_fini(&triggers);
    cunei_buffer_fini(&fired);
    cunei_buffer_fini(&offered);
    if (mapped)
        munmap(mapped, CUNEI_LIVE_HEAD_SIZE);
    mapped = NULL;
    return tear_down(state);
}

static void put_exception(uint64_t time, const char *type, int phase)
{
    uint64_t words[8] = {cunei_record(time, CUNEI_CLASS_EXCEPTION, (uint32_t)phase),
                         F | UINT64_C(3) << 32, 0,
                         (uint64_t)((strlen(type) + 7) / 8 * 8) << 32};

    memcpy(&words[4], type, strlen(type));
    fixture_put_words(&fixture, time, words, 4 + (strlen(type) + 7) / 8);
}

static void put_mark(uint64_t time, const char *name, int64_t value)
{
    size_t size = (strlen(name) + 7) / 8 * 8;
    uint64_t words[8] = {cunei_record(time, CUNEI_CLASS_MARK, 0), (uint64_t)value,
                         CUNEI_VALUE_INT | (uint64_t)strlen(name) << 32,
                         (uint64_t)size << 32};

    memcpy(&words[4], name, strlen(name));
    fixture_put_words(&fixture, time, words, 4 + size / 8);
}

/* f from 1010 to 1060, g in it from 1020 to 1030. */
static void record_calls(void)
{
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1020, G, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1030, G, CUNEI_PHASE_LEAVE);
    fixture_put(&fixture, 1060, F, CUNEI_PHASE_LEAVE);
    fixture_append(&fixture);
}

static void an_exception_fires_where_it_is_raised(void **state)
{
    (void)state;
    fixture_packet_begin(&fixture, 0, 0, 1000);
    put_exception(1010, "app.errors.Failed", CUNEI_PHASE_ENTER);
    put_exception(1020, "app.errors.Failed", CUNEI_PHASE_LEAVE);
    put_exception(1030, "ValueError", CUNEI_PHASE_ENTER);
    fixture_append(&fixture);
    watch_for("exception:Failed");
    watch_for("exception:app.*");
    watch_for("exception:KeyError");

    assert_string_equal(run(),
                        "1010 exception:Failed a:f:3 0 app.errors.Failed raised\n"
                        "1010 exception:app.* a:f:3 0 app.errors.Failed raised");
    assert_string_equal(offered.data,
                        "2 app.errors.Failed, 0 ValueError, 1 ValueError, "
                        "2 ValueError");
}

static void a_call_fires_if_it_took_longer(void **state)
{
    (void)state;
    record_calls();
    watch_for("slow:a:f>49ns");
    watch_for("slow:a:f>50ns");
    watch_for("slow::g>9ns");
    watch_for("slow::h>1ns");

    assert_string_equal(run(), "1030 slow::g>9ns a:g:0 10 call took 10 ns\n"
                               "1060 slow:a:f>49ns a:f:0 50 call took 50 ns");
    assert_int_equal(cunei_trigger_watch_functions(watch, 0), 1);
    assert_int_equal(cunei_trigger_watch_functions(watch, 3), 0);
}

static void a_call_that_the_end_cuts_off_fires(void **state)
{
    (void)state;
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_put(&fixture, 1100, G, CUNEI_PHASE_ENTER);
    fixture_append(&fixture);
    watch_for("slow:a>20ns");

    assert_string_equal(run(),
                        "1100 slow:a>20ns a:f:0 90 call still running after 90 ns");
}

static void a_call_that_does_not_end_fires_once(void **state)
{
    (void)state;
    create_live();
    fixture_packet_begin(&fixture, 0, 0, 1000);
    fixture_put(&fixture, 1010, F, CUNEI_PHASE_ENTER);
    fixture_live_store(&fixture, 0);
    watch_for("slow:a:f>1us");
    open_watch();

    assert_int_equal(cunei_trigger_watch_poll(watch), 1);
    cunei_trigger_watch_look(watch, START_NS + 9 * CUNEI_NS_PER_S);
    assert_int_equal(fired.size, 0);
    cunei_trigger_watch_look(watch, START_NS + 20 * CUNEI_NS_PER_S);
    cunei_trigger_watch_look(watch, START_NS + 30 * CUNEI_NS_PER_S);

    assert_string_equal(fired.data, "20000000000 slow:a:f>1us a:f:0 19999998990 call "
                                    "still running after 20.0 s");
}

static void a_mark_fires_with_its_value(void **state)
{
    (void)state;
    fixture_packet_begin(&fixture, 0, 0, 1000);
    put_mark(1010, "paid", -7);
    put_mark(1020, "sent", 1);
    fixture_append(&fixture);
    watch_for("mark:pa*");

    assert_string_equal(run(), "1010 mark:pa* :0 0 mark 'paid' = -7");
    assert_string_equal(offered.data, "0 sent");
}

static void describe_end(const char *lines)
{
    fixture_describe(&fixture, true);
    fixture_append_file(fixture_path(&fixture, CUNEI_PROCESS_NAME), lines,
                        strlen(lines));
}

static void an_exit_status_other_than_0_fires(void **state)
{
    (void)state;
    record_calls();
    describe_end("exit_status 3\nexited 1\n");
    watch_for("exit!=0");
    watch_for("crash");

    assert_string_equal(run(), "1000000 exit!=0 :0 3 exit status 3");
}

static void an_exit_status_of_0_does_not_fire(void **state)
{
    (void)state;
    record_calls();
    describe_end("exit_status 0\nexited 1\n");
    watch_for("exit!=0");

    assert_string_equal(run(), "");
}

static void a_signal_is_a_crash(void **state)
{
    (void)state;
    record_calls();
    fixture_live_create(&fixture, 1, false);
    fixture_describe(&fixture, false);
    fixture_append_file(fixture_path(&fixture, CUNEI_PROCESS_NAME),
                        "signal 11\nend_ns 1704067200000005000\n",
                        strlen("signal 11\nend_ns 1704067200000005000\n"));
    watch_for("exit!=0");
    watch_for("crash");

    assert_string_equal(run(), "5000 crash :0 11 killed by SIGSEGV");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_exception_fires_where_it_is_raised, set_up,
                                        stop),
        cmocka_unit_test_setup_teardown(a_call_fires_if_it_took_longer, set_up, stop),
        cmocka_unit_test_setup_teardown(a_call_that_the_end_cuts_off_fires, set_up,
                                        stop),
        cmocka_unit_test_setup_teardown(a_call_that_does_not_end_fires_once, set_up,
                                        stop),
        cmocka_unit_test_setup_teardown(a_mark_fires_with_its_value, set_up, stop),
        cmocka_unit_test_setup_teardown(an_exit_status_other_than_0_fires, set_up,
                                        stop),
        cmocka_unit_test_setup_teardown(an_exit_status_of_0_does_not_fire, set_up,
                                        stop),
        cmocka_unit_test_setup_teardown(a_signal_is_a_crash, set_up, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
