// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "export/escaped_name.h"
#include "wire/metadata.h"

static void names_stay_one_line_of_utf8(void **state)
{
    static const struct {
        const char *text;
        const char *wanted;
    } rows[] = {
        {"", ""},
        {"f.<locals>.<lambda>", "f.<locals>.<lambda>"},
        {"na\xc3\xafve \"x\"", "na\xc3\xafve \"x\""},
        {"a\nb\t\x7f", "a\\x0ab\\x09\\x7f"},
        {"a;b;", "a\\x3bb\\x3b"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xed\xb3\xbf", "\\xed\\xb3\\xbf"},
        {"a\\x0a", "a\\x0a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer out = {0};
        cunei_buffer_append_text(&out, "");
        cunei_escaped_name_put(&out, rows[i].text, strlen(rows[i].text), ';');
        assert_string_equal(out.data, rows[i].wanted);
        cunei_buffer_fini(&out);
    }
}

static void a_function_is_reported_with_its_module(void **state)
{
    const struct cunei_function function = {.module = "a.b", .qualname = "C.d;"};
    struct cunei_buffer out = {0};

    (void)state;
    cunei_escaped_name_put_function(&out, &function, '\0');
    assert_string_equal(out.data, "a.b:C.d;");
    cunei_buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay_one_line_of_utf8),
        cmocka_unit_test(a_function_is_reported_with_its_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
