// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/directory/cprofile_file.h"

/*
 * marshal.dumps({("a\udcff.py", 3, "f"): (1, 2**40, 0.5, 1.5, {}),
 *                ("~", 0, "len"): (2, 2, 0.25, 0.25, {the key before: (1, 1, 0.0,
 * 0.0)})}, 4), but for marks that nothing refers to.
 */
static const char profile[] =
    "{"
    "\xa9\x03u\x07\0\0\0a\xed\xb3\xbf.pyi\x03\0\0\0\xda\x01"
    "f"
    ")\x05i\x01\0\0\0l\x03\0\0\0\0\0\0\0\0\x04"
    "g\0\0\0\0\0\0\xe0\x3fg\0\0\0\0\0\0\xf8\x3f{0"
    ")\x03z\x01~i\0\0\0\0z\x03len"
    ")\x05i\x02\0\0\0i\x02\0\0\0g\0\0\0\0\0\0\xd0\x3fg\0\0\0\0\0\0\xd0\x3f"
    "{r\0\0\0\0)\x04i\x01\0\0\0i\x01\0\0\0g\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0\0"
    "0"
    "0";

/* From a copy that ends where it says, so that reading behind it is seen. */
static int parse(const char *bytes, size_t size, struct cunei_cprofile *prof,
                 char **copy)
{
    *copy = malloc(size > 0 ? size : 1);
    assert_non_null(*copy);
    memcpy(*copy, bytes, size);
    return cunei_cprofile_parse(prof, *copy, size);
}

static void expect_bad(const char *bytes, size_t size)
{
    struct cunei_cprofile prof;
    char *copy;

    assert_int_equal(parse(bytes, size, &prof, &copy), -EBADMSG);
    assert_null(prof.functions);
    free(copy);
}

static void functions_come_with_their_calls_and_times(void **state)
{
    struct cunei_cprofile prof;
    char *copy;

    (void)state;
    assert_int_equal(parse(profile, sizeof(profile) - 1, &prof, &copy), 0);
    assert_int_equal(prof.count, 2);
    const struct cunei_cprofile_function *f = &prof.functions[0],
                                         *len = &prof.functions[1];
    assert_string_equal(f->file, "a\xff.py");
    assert_string_equal(f->name, "f");
    assert_int_equal(f->line, 3);
    assert_true(f->calls == UINT64_C(1) << 40);
    assert_int_equal(f->self_ns, 500000000);
    assert_int_equal(f->total_ns, 1500000000);
    assert_string_equal(len->file, "~");
    assert_string_equal(len->name, "len");
    assert_int_equal(len->calls, 2);
    free(prof.functions);
    free(copy);
}

static void a_truncated_profile_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof(profile) - 1; size++)
        expect_bad(profile, size);
}

#define EXPECT_BAD(bytes) expect_bad(bytes, sizeof(bytes) - 1)

static void what_else_is_marshalled_is_no_profile(void **state)
{
    (void)state;
    EXPECT_BAD("i\x01\0\0\0");
    EXPECT_BAD("(\x02\0\0\0NN");
    EXPECT_BAD("{N0");                    /* a key without a value */
    EXPECT_BAD("{NN0");                   /* that is no function */
    EXPECT_BAD("{)\x02NN)\x05NNNNN0");    /* of three parts */
    EXPECT_BAD("{r\x07\0\0\0N0");         /* a reference to nothing */
    EXPECT_BAD("\xfbr\0\0\0\0N0");        /* a dictionary in itself */
    EXPECT_BAD("{(\xff\xff\xff\xff");     /* more parts than bytes */
    EXPECT_BAD("{u\xff\xff\xff\xffx");    /* a text longer than all */
    EXPECT_BAD("{l\xff\xff\xff\x7f\0\0"); /* a number of too many digits */
    EXPECT_BAD("{?");                     /* no type */
    EXPECT_BAD("{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{");
}

static void times_that_make_no_sense_are_none(void **state)
{
    static const char odd[] = "{)\x03z\x01xi\0\0\0\0z\x01y)\x04i\x01\0\0\0i\x01\0\0\0"
                              "g\0\0\0\0\0\0\xf8\x7fg\0\0\0\0\0\0\xf0\xbf"
                              "0";
    struct cunei_cprofile prof;
    char *copy;

    (void)state;
    assert_int_equal(parse(odd, sizeof(odd) - 1, &prof, &copy), 0);
    assert_int_equal(prof.count, 1);
    assert_int_equal(prof.functions[0].self_ns, 0);
    assert_int_equal(prof.functions[0].total_ns, 0);
    free(prof.functions);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_come_with_their_calls_and_times),
        cmocka_unit_test(a_truncated_profile_is_refused),
        cmocka_unit_test(what_else_is_marshalled_is_no_profile),
        cmocka_unit_test(times_that_make_no_sense_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
