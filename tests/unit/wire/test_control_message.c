// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/syntax_error.h"
#include "wire/control_message.h"

#define TEXT_AND_SIZE(text) text, sizeof(text) - 1

static void requests_are_parsed_back(void **state)
{
    (void)state;
    for (int i = 0; i < CUNEI_CONTROL_ACTIONS; i++) {
        char record[] = "v=1 dir=/tmp/\"a\\b\"\n\x01\xc3\xa9 100%";
        const struct cunei_control_request request = {
            .action = (enum cunei_control_action)i,
            .session = UINT64_C(1) << 59,
            .stay = i % 2 == 0,
            .record = i == CUNEI_CONTROL_START ? record : NULL,
        };
        struct cunei_control_request parsed;
        struct cunei_syntax_error error;
        struct cunei_buffer text = {0};

        cunei_control_request_format(&request, &text);
        assert_null(memchr(text.data, '\n', text.size));
        assert_int_equal(
            cunei_control_request_parse(&parsed, text.data, text.size, &error), 0);

        assert_int_equal(parsed.action, request.action);
        assert_int_equal(parsed.session, request.session);
        assert_int_equal(parsed.stay, request.stay);
        if (request.record)
            assert_string_equal(parsed.record, request.record);
        else
            assert_null(parsed.record);
        cunei_control_request_fini(&parsed);
        assert_null(parsed.record);
        cunei_buffer_fini(&text);
    }
}

static void answers_are_parsed_back(void **state)
{
    (void)state;
    char error_text[] = "no: \"x\"", version[] = "0.9", python[] = "3.13.0",
         armed_by[] = "cunei arm", directory[] = "/tmp/\t/caf\xc3\xa9";
    const struct cunei_control_answer answer = {
        error_text, 4711, version, python, armed_by, directory, 17, true, true};
    struct cunei_control_answer parsed;
    struct cunei_syntax_error error;
    struct cunei_buffer text = {0};

    cunei_control_answer_format(&answer, &text);
    assert_int_equal(cunei_control_answer_parse(&parsed, text.data, text.size, &error),
                     0);

    assert_string_equal(parsed.error, answer.error);
    assert_int_equal(parsed.pid, 4711);
    assert_string_equal(parsed.version, answer.version);
    assert_string_equal(parsed.python, answer.python);
    assert_string_equal(parsed.armed_by, answer.armed_by);
    assert_string_equal(parsed.directory, answer.directory);
    assert_int_equal(parsed.session, 17);
    assert_true(parsed.stay);
    assert_true(parsed.has_controller);
    cunei_control_answer_fini(&parsed);
    cunei_buffer_fini(&text);
}

static void an_answer_without_anything_has_defaults(void **state)
{
    (void)state;
    struct cunei_control_answer parsed;
    struct cunei_syntax_error error;

    assert_int_equal(
        cunei_control_answer_parse(&parsed, TEXT_AND_SIZE("{\"cunei\":1}"), &error), 0);

    assert_null(parsed.error);
    assert_null(parsed.directory);
    assert_int_equal(parsed.pid, 0);
    assert_int_equal(parsed.session, 0);
    assert_false(parsed.stay);
    assert_false(parsed.has_controller);
    cunei_control_answer_fini(&parsed);
}

/* Spaces, an order of its own, and members of later versions. */
static void what_is_not_known_is_skipped(void **state)
{
    (void)state;
    struct cunei_control_request parsed;
    struct cunei_syntax_error error;

    assert_int_equal(cunei_control_request_parse(
                         &parsed,
                         TEXT_AND_SIZE(" { \"new\" : [1, {\"do\": \"stop\"}, null] , "
                                       "\"do\" :\t\"resume\", \"x\":-1.5e9,"
                                       "\"session\": 3 ,\"cunei\": 1 } \r"),
                         &error),
                     0);

    assert_int_equal(parsed.action, CUNEI_CONTROL_RESUME);
    assert_int_equal(parsed.session, 3);
    cunei_control_request_fini(&parsed);
}

static void the_last_of_two_members_counts(void **state)
{
    (void)state;
    struct cunei_control_request parsed;
    struct cunei_syntax_error error;

    assert_int_equal(
        cunei_control_request_parse(
            &parsed,
            TEXT_AND_SIZE("{\"cunei\":2,\"record\":\"a\",\"do\":\"stop\",\"session\":1,"
                          "\"record\":\"b\",\"do\":\"start\",\"session\":2,"
                          "\"cunei\":1}"),
            &error),
        0);

    assert_string_equal(parsed.record, "b");
    assert_int_equal(parsed.action, CUNEI_CONTROL_START);
    assert_int_equal(parsed.session, 2);
    cunei_control_request_fini(&parsed);
}

static void numbers_up_to_a_limit_are_taken(void **state)
{
    (void)state;
    struct cunei_control_request parsed;
    struct cunei_syntax_error error;

    assert_int_equal(cunei_control_request_parse(
                         &parsed,
                         TEXT_AND_SIZE("{\"cunei\":1,\"session\":1844674407370955160}"),
                         &error),
                     0);
    assert_int_equal(parsed.session, UINT64_C(1844674407370955160));
}

struct malformed {
    const char *text;
    size_t size;
    int rc;
    size_t column; /* 0: none is given */
};

#define MALFORMED(text, rc, column)        \
    {                                      \
        text, sizeof(text) - 1, rc, column \
    }

static const struct malformed malformed[] = {
    MALFORMED("", -EINVAL, 1),
    MALFORMED("   ", -EINVAL, 4),
    MALFORMED("null", -EINVAL, 1),
    MALFORMED("[]", -EINVAL, 1),
    MALFORMED("{", -EINVAL, 2),
    MALFORMED("{}", -EPROTO, 0),
    MALFORMED("{\"cunei\":0}", -EPROTO, 0),
    MALFORMED("{\"cunei\":2}", -EPROTO, 0),
    MALFORMED("{\"cunei\":true}", -EINVAL, 10),
    MALFORMED("{\"cunei\":\"1\"}", -EINVAL, 10),
    MALFORMED("{\"cunei\":1,}", -EINVAL, 12),
    MALFORMED("{\"cunei\":1}}", -EINVAL, 12),
    MALFORMED("{\"cunei\":1} {}", -EINVAL, 13),
    MALFORMED("{\"cunei\" 1}", -EINVAL, 10),
    MALFORMED("{cunei:1}", -EINVAL, 2),
    MALFORMED("{\"cunei\":1,\"do\":1}", -EINVAL, 17),
    MALFORMED("{\"cunei\":1,\"do\":\"\"}", -EINVAL, 17),
    MALFORMED("{\"cunei\":1,\"do\":\"Stop\"}", -EINVAL, 17),
    MALFORMED("{\"cunei\":1,\"do\":\"stop", -EINVAL, 22),
    MALFORMED("{\"cunei\":1,\"stay\":1}", -EINVAL, 19),
    MALFORMED("{\"cunei\":1,\"stay\":tru}", -EINVAL, 19),
    MALFORMED("{\"cunei\":1,\"session\":}", -EINVAL, 22),
    MALFORMED("{\"cunei\":1,\"session\":-1}", -EINVAL, 22),
    MALFORMED("{\"cunei\":1,\"session\":18446744073709551616}", -EINVAL, 22),
    MALFORMED("{\"cunei\":1,\"session\":99999999999999999999999}", -EINVAL, 22),
    MALFORMED("{\"cunei\":1,\"session\":1.5}", -EINVAL, 23),
    MALFORMED("{\"cunei\":1,\"record\":null}", -EINVAL, 21),
    MALFORMED("{\"cunei\":1,\"record\":\"a\\u0000b\"}", -EINVAL, 0),
    MALFORMED("{\"cunei\":1,\"record\":\"a\0b\"}", -EINVAL, 0),
    MALFORMED("{\"cunei\":1,\"record\":\"\\ud800\"}", -EINVAL, 0),
    MALFORMED("{\"cunei\":1,\"record\":\"\xff\"}", -EINVAL, 0),
    MALFORMED("{\"cunei\":1,\"record\":\"\xc3\"}", -EINVAL, 0),
    MALFORMED("{\"cunei\":1,\"new\":[[[[}", -EINVAL, 0),
    MALFORMED("\0{\"cunei\":1}", -EINVAL, 1),
};

/* A text is on the heap, so that reading behind its end is noticed. */
static void malformed_lines_are_refused_and_own_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        const struct malformed *row = &malformed[i];
        struct cunei_control_request request;
        struct cunei_syntax_error error;
        char *line = malloc(row->size ? row->size : 1);
        assert_non_null(line);
        memcpy(line, row->text, row->size);

        int rc = cunei_control_request_parse(&request, line, row->size, &error);
        if (rc != row->rc || (row->column && error.column != row->column))
            fail_msg("%s: got %d in column %zu, wanted %d in %zu (%s)", row->text, rc,
                     error.column, row->rc, row->column, error.text);
        assert_true(rc == -EPROTO || error.text[0]);
        assert_null(request.record);
        free(line);
    }
}

/* Each place where a connection may break. */
static void every_part_of_a_request_is_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"cunei\":1,\"do\":\"start\",\"session\":17,\"stay\":true,"
        "\"record\":\"v=1 dir=/tmp/\\u00e9\",\"more\":[{\"a\":1}]}";

    for (size_t size = 0; size < sizeof(whole) - 1; size++) {
        struct cunei_control_request request;
        struct cunei_syntax_error error;
        char *line = malloc(size ? size : 1);
        assert_non_null(line);
        memcpy(line, whole, size);

        assert_int_equal(cunei_control_request_parse(&request, line, size, &error),
                         -EINVAL);
        assert_null(request.record);
        free(line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_parsed_back),
        cmocka_unit_test(answers_are_parsed_back),
        cmocka_unit_test(an_answer_without_anything_has_defaults),
        cmocka_unit_test(what_is_not_known_is_skipped),
        cmocka_unit_test(the_last_of_two_members_counts),
        cmocka_unit_test(numbers_up_to_a_limit_are_taken),
        cmocka_unit_test(malformed_lines_are_refused_and_own_nothing),
        cmocka_unit_test(every_part_of_a_request_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
