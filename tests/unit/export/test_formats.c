// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/formats.h"

static void every_format_says_how_it_is_opened(void **state)
{
    const struct cunei_export_format *format = cunei_export_formats;

    (void)state;
    for (; format->name; format++) {
        assert_true(format->extension && format->extension[0] == '.');
        assert_non_null(format->viewers);
        assert_non_null(format->how);
        /* It can be written, or it is known what that would take. */
        assert_true(!format->write == (format->missing != NULL));
        assert_ptr_equal(cunei_export_find(format->name, strlen(format->name)), format);
    }
    assert_in_range(format - cunei_export_formats, 11, 100);
}

static void a_name_is_found_as_a_whole(void **state)
{
    (void)state;
    assert_non_null(cunei_export_find("csv:rows.csv", 3));
    assert_null(cunei_export_find("csv", 2));
    assert_null(cunei_export_find("csvx", 4));
    assert_null(cunei_export_find("", 0));
}

static void what_became_too_large_has_a_better_format(void **state)
{
    const struct cunei_export_format *chrome = cunei_export_find("chrome", 6);
    const struct cunei_export_format *perfetto = cunei_export_find("perfetto", 8);

    (void)state;
    assert_null(cunei_export_instead(chrome, 200000000));
    assert_ptr_equal(cunei_export_instead(chrome, 200000001), perfetto);
    assert_null(cunei_export_instead(perfetto, UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_says_how_it_is_opened),
        cmocka_unit_test(a_name_is_found_as_a_whole),
        cmocka_unit_test(what_became_too_large_has_a_better_format),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
