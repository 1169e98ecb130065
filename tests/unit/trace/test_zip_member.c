// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/source_code/zip_member.h"

/* "x = 1\n" as a.py, stored, in an archive with a #! line before it. */
static const char archive[] =
    "#!python\n"
    "PK\3\4\24\0\0\0\0\0\0\0!\0\0\0\0\0\6\0\0\0\6\0\0\0\4\0\0\0a.pyx = 1\n"
    "PK\1\2\24\3\24\0\0\0\0\0\0\0!\0\0\0\0\0\6\0\0\0\6\0\0\0\4\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0a.py"
    "PK\5\6\0\0\0\0\1\0\1\0\62\0\0\0\50\0\0\0\0\0";

enum {
    SIZE = sizeof(archive) - 1,
    ENTRY = 9 + 40, /* where the table of members begins */
};

static int read_member(const char *zip, size_t size, const char *name, size_t max)
{
    char *text = NULL;
    size_t text_size = 0;

    int rc = cunei_zip_member_read(zip, size, name, max, &text, &text_size);
    if (rc == 0) {
        assert_int_equal(text_size, 6);
        assert_string_equal(text, "x = 1\n");
    }
    free(text);
    return rc;
}

static void a_member_is_found_behind_a_first_line(void **state)
{
    (void)state;

    assert_int_equal(read_member(archive, SIZE, "a.py", 6), 0);
    assert_int_equal(read_member(archive, SIZE, "a.py", 5), -EFBIG);
    assert_int_equal(read_member(archive, SIZE, "b.py", 6), -ENOENT);
}

static void an_archive_that_was_cut_is_damaged(void **state)
{
    (void)state;

    for (size_t size = 0; size < SIZE; size++) {
        char *part = malloc(size + 1); /* of this size, so that its end is watched */
        assert_non_null(part);
        memcpy(part, archive, size);
        assert_int_equal(read_member(part, size, "a.py", 6), -EBADMSG);
        free(part);
    }
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    char copy[SIZE];

    for (size_t at = 0; at < SIZE; at++) {
        for (int value = 0; value < 256; value += 17) {
            char *text = NULL;
            size_t size = 0;
            memcpy(copy, archive, SIZE);
            copy[at] = (char)value;
            if (cunei_zip_member_read(copy, SIZE, "a.py", 99, &text, &size) == 0)
                assert_true(size <= 99);
            free(text);
        }
    }
}

static void encryption_and_other_methods_are_not_supported(void **state)
{
    (void)state;
    char copy[SIZE];

    memcpy(copy, archive, SIZE);
    copy[ENTRY + 8] = 1;
    assert_int_equal(read_member(copy, SIZE, "a.py", 6), -ENOTSUP);
    copy[ENTRY + 8] = 0;
    copy[ENTRY + 10] = 14;
    assert_int_equal(read_member(copy, SIZE, "a.py", 6), -ENOTSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_found_behind_a_first_line),
        cmocka_unit_test(an_archive_that_was_cut_is_damaged),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(encryption_and_other_methods_are_not_supported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
