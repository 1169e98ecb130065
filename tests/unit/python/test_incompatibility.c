// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "python/incompatibility.h"
#include "python/refusal_reason.h"

static const struct cunei_incompatibility_context typed = {.subject =
                                                               "this is CPython 3.11"};

static void check_sentence(const struct cunei_request *request, int minor, bool inside,
                           const char *wanted)
{
    struct cunei_incompatibility_context context = typed;
    struct cunei_buffer out = {0};

    context.inside = inside;
    cunei_incompatibility_format(cunei_incompatibility_find(request, minor), request,
                                 minor, &context, &out);
    assert_string_equal(out.data, wanted);
    cunei_buffer_fini(&out);
}

static void what_a_python_lacks_is_reported_with_what_it_has(void **state)
{
    (void)state;
    const struct cunei_request request = {.instrumenter =
                                              CUNEI_INSTRUMENTER_MONITORING};
    const struct cunei_request frame = {.instrumenter = CUNEI_INSTRUMENTER_FRAME};

    check_sentence(&request, 11, false,
                   "--instrumenter monitoring needs CPython 3.12 or newer, and this is "
                   "CPython 3.11; use profile, trace, frame or none");
    check_sentence(&frame, 13, true,
                   "instrumenter 'frame' needs CPython 3.11 or older, and this is "
                   "CPython 3.11; use monitoring, profile, trace or none");
    assert_int_equal(cunei_incompatibility_find(&request, 12),
                     CUNEI_INCOMPATIBILITY_NONE);
    assert_int_equal(cunei_incompatibility_find(&request, 0),
                     CUNEI_INCOMPATIBILITY_NONE);
}

static void what_a_hook_lacks_is_reported_with_those_that_have_it(void **state)
{
    (void)state;
    const struct cunei_request lines = {.instrumenter = CUNEI_INSTRUMENTER_PROFILE,
                                        .lines = true};
    const struct cunei_request calls = {.instrumenter = CUNEI_INSTRUMENTER_TRACE,
                                        .c_calls = true};

    check_sentence(&lines, 11, false,
                   "--lines cannot be used with --instrumenter profile; use trace or "
                   "frame");
    check_sentence(&lines, 12, true,
                   "lines cannot be used with instrumenter 'profile'; use monitoring "
                   "or trace");
    check_sentence(&calls, 12, false,
                   "--c-calls cannot be used with --instrumenter trace; use "
                   "monitoring or profile");
}

static void nothing_about_functions_goes_with_none(void **state)
{
    (void)state;
    static const struct {
        struct cunei_request request;
        const char *name;
    } rows[] = {
        {{.instrumenter = CUNEI_INSTRUMENTER_NONE, .arguments = true}, "--args"},
        {{.instrumenter = CUNEI_INSTRUMENTER_NONE, .results = true}, "--return"},
        {{.instrumenter = CUNEI_INSTRUMENTER_NONE, .include = true}, "--include"},
        {{.instrumenter = CUNEI_INSTRUMENTER_NONE, .exclude = true}, "--exclude"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer wanted = {0};
        cunei_buffer_format(&wanted,
                            "%s cannot be used with --instrumenter none, which records "
                            "no calls; use only one of them",
                            rows[i].name);
        check_sentence(&rows[i].request, 13, false, wanted.data);
        cunei_buffer_fini(&wanted);
    }
}

static void options_that_exclude_a_budget_are_named(void **state)
{
    (void)state;
    static const char instead[] =
        "instead, exclude the functions that 'cunei filter' suggests";
    struct cunei_buffer wanted = {0};

    check_sentence(&(struct cunei_request){.budget = true, .c_calls = true}, 13, false,
                   "--budget cannot be used with --c-calls; use only one of them");
    check_sentence(&(struct cunei_request){.budget = true, .lines = true}, 0, true,
                   "budget cannot be used with lines; use only one of them");
    check_sentence(&(struct cunei_request){.budget = true,
                                           .instrumenter = CUNEI_INSTRUMENTER_NONE},
                   0, false,
                   "--budget cannot be used with --instrumenter none; use monitoring "
                   "(CPython 3.12 or newer)");
    cunei_buffer_format(&wanted,
                        "--budget needs CPython 3.12 or newer, and this is CPython "
                        "3.11; %s",
                        instead);
    check_sentence(&(struct cunei_request){.budget = true}, 11, false, wanted.data);
    cunei_buffer_clear(&wanted);
    cunei_buffer_format(&wanted,
                        "--budget needs a GIL, and this is CPython 3.11 without one; "
                        "%s",
                        instead);
    check_sentence(&(struct cunei_request){.budget = true, .no_gil = true}, 13, false,
                   wanted.data);
    cunei_buffer_fini(&wanted);
}

static void the_default_gives_all_of_it(void **state)
{
    (void)state;
    const struct cunei_request request = {.c_calls = true,
                                          .lines = true,
                                          .arguments = true,
                                          .results = true,
                                          .include = true,
                                          .exclude = true};

    for (int minor = 8; minor <= 15; minor++)
        assert_int_equal(cunei_incompatibility_find(&request, minor),
                         CUNEI_INCOMPATIBILITY_NONE);
}

static void a_process_reports_its_incompatibility_by_a_number(void **state)
{
    (void)state;
    int reason = cunei_refusal_reason_of_incompatibility(
        CUNEI_INCOMPATIBILITY_LACKING, CUNEI_INSTRUMENTER_MONITORING, 9);
    struct cunei_buffer out = {0};

    assert_in_range(reason, CUNEI_REFUSAL_INCOMPATIBLE, CUNEI_REFUSAL_MAX);
    cunei_refusal_reason_format(reason, &out);
    assert_string_equal(out.data,
                        "--instrumenter monitoring needs CPython 3.12 or newer, and "
                        "the Python that ran is CPython 3.9; use profile, trace, frame "
                        "or none");
    for (reason = CUNEI_REFUSAL_INCOMPATIBLE; reason <= CUNEI_REFUSAL_MAX; reason++) {
        cunei_buffer_clear(&out);
        cunei_refusal_reason_format(reason, &out);
        assert_true(out.size > 0);
    }
    cunei_buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_python_lacks_is_reported_with_what_it_has),
        cmocka_unit_test(what_a_hook_lacks_is_reported_with_those_that_have_it),
        cmocka_unit_test(nothing_about_functions_goes_with_none),
        cmocka_unit_test(options_that_exclude_a_budget_are_named),
        cmocka_unit_test(the_default_gives_all_of_it),
        cmocka_unit_test(a_process_reports_its_incompatibility_by_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
