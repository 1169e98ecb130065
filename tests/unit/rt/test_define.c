// SPDX-License-Identifier: MIT
/* Functions: one id for each identity, and its definition in the trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rt/recorder.h"
#include "scratch.h"

#define MANY 30000u

static uint32_t define(const char *module, const char *qualname, const char *file,
                       uint32_t line)
{
    struct cunei_function function = {
        .module = module, .qualname = qualname, .file = file, .line = line};
    return cunei_recorder_define(&function);
}

static void the_same_identity_has_the_same_id(void **state)
{
    (void)state;

    uint32_t id = define("a", "f", "a.py", 1);

    assert_int_not_equal(id, 0);
    assert_int_equal(define("a", "f", "a.py", 1), id);
}

static void an_undefined_function_is_not_found(void **state)
{
    (void)state;
    const struct cunei_function function = {
        .module = "", .qualname = "load", .file = "<cunei region>"};

    assert_int_equal(cunei_recorder_find(&function), 0);
    uint32_t id = cunei_recorder_define(&function);

    assert_int_not_equal(id, 0);
    assert_int_equal(cunei_recorder_find(&function), id);
}

static void whatever_differs_has_another_id(void **state)
{
    const uint32_t ids[] = {
        define("a", "f", "a.py", 1),   define("b", "f", "a.py", 1),
        define("a", "g", "a.py", 1),   define("a", "f", "b.py", 1),
        define("a", "f", "a.py", 2),   define("af", "", "a.py", 1),
        define("", "af", "a.py", 1),   define("a", "", "fa.py", 1),
        define("a", "f", "a.py", 257),
    };
    const size_t count = sizeof(ids) / sizeof(ids[0]);
    (void)state;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(ids[i], ids[j]);
    }
}

static void names(uint32_t i, char qualname[32])
{
    (void)snprintf(qualname, 32, "%s%u", i % 1000 == 0 ? "new\nline" : "name", i);
}

static void define_many(void)
{
    char qualname[32];

    for (uint32_t i = 0; i < MANY; i++) {
        names(i, qualname);
        assert_int_equal(define("m", qualname, "m.py", i),
                         CUNEI_FUNCTION_FIRST + SCRATCH_FUNCTIONS + i);
    }
}

static void assert_many_are_read(const struct scratch *scratch)
{
    struct cunei_trace trace;
    char qualname[32];

    scratch_open(scratch, &trace);
    const struct cunei_trace_process *process = &trace.processes[0];
    assert_int_equal(process->function_count, SCRATCH_FUNCTIONS + MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct cunei_function *function =
            cunei_trace_function(process, CUNEI_FUNCTION_FIRST + SCRATCH_FUNCTIONS + i);
        names(i, qualname);
        assert_non_null(function);
        assert_string_equal(function->qualname, qualname);
        assert_int_equal(function->line, i);
    }
    cunei_trace_close(&trace);
}

static void functions_beyond_the_classes_are_read_live_and_after(void **state)
{
    define_many();
    assert_many_are_read(*state);

    assert_int_equal(cunei_recorder_stop(), 0);
    assert_many_are_read(*state);
}

static void a_new_recording_begins_with_new_ids(void **state)
{
    struct scratch *scratch = *state;
    uint32_t id = define("a", "f", "a.py", 1);

    assert_int_equal(cunei_recorder_stop(), 0);
    assert_int_equal(define("a", "f", "a.py", 1), 0);
    scratch_start(scratch);

    assert_int_equal(define("a", "g", "a.py", 1), id);
}

static void the_longest_names_fit(void **state)
{
    enum {
        LENGTH = 4095
    };
    static char name[LENGTH + 1];
    struct cunei_trace trace;

    memset(name, '\n', LENGTH);
    uint32_t first = define(name, name, name, UINT32_MAX);
    memset(name, '\\', LENGTH);
    uint32_t second = define(name, name, name, UINT32_MAX);
    assert_int_equal(cunei_recorder_stop(), 0);

    assert_int_not_equal(first, 0);
    assert_int_equal(second, first + 1);
    scratch_open(*state, &trace);
    const struct cunei_function *function =
        cunei_trace_function(&trace.processes[0], second);
    assert_non_null(function);
    assert_string_equal(function->file, name);
    assert_int_equal(function->line, UINT32_MAX);
    cunei_trace_close(&trace);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_same_identity_has_the_same_id),
        TEST(an_undefined_function_is_not_found),
        TEST(whatever_differs_has_another_id),
        TEST(functions_beyond_the_classes_are_read_live_and_after),
        TEST(a_new_recording_begins_with_new_ids),
        TEST(the_longest_names_fit),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
