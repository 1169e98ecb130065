// SPDX-License-Identifier: MIT
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "text/typed_value.h"
#include "wire/event.h"

static struct cunei_buffer out;

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void expect_text(const char *wanted)
{
    cunei_buffer_append(&out, "", 1);
    assert_string_equal(out.data, wanted);
    cunei_buffer_fini(&out);
}

static void numbers_are_written_so_that_they_can_be_read_back(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *wanted;
    } rows[] = {
        {0.1, "0.1"},
        {1, "1.0"},
        {-2.5, "-2.5"},
        {1e300, "1e+300"},
        {NAN, "\"nan\""},
        {INFINITY, "\"inf\""},
        {-INFINITY, "\"-inf\""},
        {0.1 + 0.2, "0.30000000000000004"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cunei_typed_value_format_number(bits_of(rows[i].number), true, true, &out);
        expect_text(rows[i].wanted);
    }
    cunei_typed_value_format_number((uint64_t)INT64_MIN, false, true, &out);
    expect_text("-9223372036854775808");
}

static void a_text_is_quoted_in_json(void **state)
{
    (void)state;
    const struct cunei_typed_value value = {
        .kind = CUNEI_VALUE_TEXT, .text = "c\"d", .size = 3};

    cunei_typed_value_format(&value, true, &out);
    expect_text("\"c\\\"d\"");
    cunei_typed_value_format(&value, false, &out);
    expect_text("c\"d");
}

static void a_value_of_no_kind_is_null(void **state)
{
    (void)state;
    const struct cunei_typed_value value = {.kind = CUNEI_VALUE_NONE};

    cunei_typed_value_format(&value, true, &out);
    expect_text("null");
    cunei_typed_value_format(&value, false, &out);
    expect_text("");
}

/* An event with `a=b` behind its head, which is a name of one letter and a text. */
static void an_event_is_written_without_its_name(void **state)
{
    (void)state;
    union {
        struct cunei_user_value event;
        uint64_t words[sizeof(struct cunei_user_value) / sizeof(uint64_t) + 1];
    } written = {.event = {.kind = CUNEI_VALUE_TEXT, .name_length = 1, .length = 8}};

    memcpy((char *)&written + offsetof(struct cunei_user_value, text), "a=b", 3);
    cunei_typed_value_format_event(&written.event, false, &out);
    expect_text("b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_so_that_they_can_be_read_back),
        cmocka_unit_test(a_text_is_quoted_in_json),
        cmocka_unit_test(a_value_of_no_kind_is_null),
        cmocka_unit_test(an_event_is_written_without_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
