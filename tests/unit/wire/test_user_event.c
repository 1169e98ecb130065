// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/metadata.h"
#include "wire/user_event.h"

static void a_definition_is_known_by_its_file_and_having_no_place(void **state)
{
    (void)state;
    static const struct {
        struct cunei_function function;
        enum cunei_definition wanted;
    } rows[] = {
        {{.module = "", .file = CUNEI_REGION_FILE}, CUNEI_DEFINITION_REGION},
        {{.module = "", .file = CUNEI_COUNTER_FILE}, CUNEI_DEFINITION_COUNTER},
        {{.module = "", .file = CUNEI_TOKENS_FILE}, CUNEI_DEFINITION_TOKENS},
        {{.module = "", .file = "<string>"}, CUNEI_DEFINITION_FUNCTION},
        {{.module = "m", .file = CUNEI_REGION_FILE}, CUNEI_DEFINITION_FUNCTION},
        {{.module = "", .file = CUNEI_REGION_FILE, .line = 1},
         CUNEI_DEFINITION_FUNCTION},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(cunei_definition_of(&rows[i].function), rows[i].wanted);
}

static const char written_text[16] = "a=b=c\"d";

/* With that text behind it. */
union written {
    struct cunei_user_value value;
    char bytes[sizeof(struct cunei_user_value) + sizeof(written_text)];
};

static union written write_value(struct cunei_user_value value)
{
    union written written = {.value = value};

    written.value.length = sizeof(written_text);
    memcpy(written.bytes + offsetof(struct cunei_user_value, text), written_text,
           sizeof(written_text));
    return written;
}

static void a_value_is_taken_apart_by_the_length_of_its_name(void **state)
{
    (void)state;
    union written written = write_value(
        (struct cunei_user_value){.kind = CUNEI_VALUE_TEXT, .name_length = 3});
    const struct cunei_user_value *value = &written.value;

    assert_int_equal(cunei_user_event_name(value).size, 3);
    assert_memory_equal(cunei_user_event_name(value).data, "a=b", 3);
    assert_int_equal(cunei_user_event_text(value).size, 3);
}

static void a_value_of_no_kind_has_no_text(void **state)
{
    (void)state;
    union written written = write_value((struct cunei_user_value){.name_length = 7});

    assert_int_equal(cunei_user_event_text(&written.value).size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_is_known_by_its_file_and_having_no_place),
        cmocka_unit_test(a_value_is_taken_apart_by_the_length_of_its_name),
        cmocka_unit_test(a_value_of_no_kind_has_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
