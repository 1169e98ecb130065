// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/text.h"

/* What a quoting function makes of text; the caller frees it by the buffer. */
static const char *made(struct cunei_buffer *out,
                        void (*quote)(struct cunei_buffer *, const char *, size_t),
                        const char *text)
{
    cunei_buffer_clear(out);
    quote(out, text, strlen(text));
    assert_false(out->failed);
    return out->data;
}

static void quoting_leaves_no_space_or_control_character(void **state)
{
    (void)state;
    struct cunei_buffer out = {0};

    assert_string_equal(made(&out, cunei_text_quote,
                             "a b\n%\x7f"
                             "c"),
                        "a%20b%0A%25%7Fc");
    cunei_buffer_fini(&out);
}

static void quoted_text_comes_back_unchanged(void **state)
{
    (void)state;
    struct cunei_buffer out = {0};
    static const char text[] = "100 %\t\"ä\" /tmp/x%41";

    made(&out, cunei_text_quote, text);
    size_t size = cunei_text_unquote(out.data, out.size);

    assert_int_equal(size, sizeof(text) - 1);
    assert_memory_equal(out.data, text, size);
    cunei_buffer_fini(&out);
}

static void a_bad_escape_stays_as_it_is(void **state)
{
    (void)state;
    char text[] = "50% of %zz%4";

    size_t size = cunei_text_unquote(text, strlen(text));

    assert_int_equal(size, strlen("50% of %zz%4"));
    assert_string_equal(text, "50% of %zz%4");
}

static void escaping_makes_control_characters_visible(void **state)
{
    (void)state;
    struct cunei_buffer out = {0};

    assert_string_equal(made(&out, cunei_text_escape, "a\\b\n\t\x01\xc2\x85"),
                        "a\\\\b\\n\\t\\x01\\xc2\\x85");
    cunei_buffer_fini(&out);
}

static void escaped_text_comes_back_unchanged(void **state)
{
    (void)state;
    struct cunei_buffer out = {0};
    static const char text[] = "\\n is no \n, \\x41 no A, \xc2\x9f\x1b[0m";

    made(&out, cunei_text_escape, text);
    size_t size = cunei_text_unescape(out.data, out.size);

    assert_int_equal(size, sizeof(text) - 1);
    assert_memory_equal(out.data, text, size);
    cunei_buffer_fini(&out);
}

static void a_backslash_at_the_end_stays(void **state)
{
    (void)state;
    char text[] = "a\\";
    assert_int_equal(cunei_text_unescape(text, 2), 2);
    assert_string_equal(text, "a\\");
}

static const struct {
    const char *text;
    const char *shown; /* NULL: as it is */
} unsafe[] = {
    {"", NULL},
    {"plain \\", NULL},
    {"a\\\nb", "a\\\\nb"},
    {"\x7f", "\\x7f"},
    {"\x1b[0m", "\\x1b[0m"},
    /* C1, as a character and as a byte. */
    {"\xc2\x9b", "\\xc2\\x9b"},
    {"\x9b", "\\x9b"},
    {"\xc2\xa0", NULL},
    {"ä", NULL},
    {"cut short\xc2", "cut short\\xc2"},
    {"cut short\xe2\x80", "cut short\\xe2\\x80"},
    /* What turns the direction, and its neighbours. */
    {"\u202e", "\\xe2\\x80\\xae"},
    {"\u2069", "\\xe2\\x81\\xa9"},
    {"\u200f", "\\xe2\\x80\\x8f"},
    {"\u061c", "\\xd8\\x9c"},
    {"\u2010", NULL},
    {"\u202f", NULL},
    /* Line breaks of Unicode, and what is invisible. */
    {"\u2028", "\\xe2\\x80\\xa8"},
    {"\u2029", "\\xe2\\x80\\xa9"},
    {"\u200b", "\\xe2\\x80\\x8b"},
    {"\ufeff", "\\xef\\xbb\\xbf"},
    {"\U000e0041", "\\xf3\\xa0\\x81\\x81"},
    /* Joiners belong to scripts and emoji. */
    {"👩\u200d💻", NULL},
};

static void only_safe_text_is_shown_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++) {
        struct cunei_buffer out = {0};
        const char *text = unsafe[i].text;

        cunei_text_show(&out, text, strlen(text));

        assert_string_equal(cunei_buffer_text(&out),
                            unsafe[i].shown ? unsafe[i].shown : text);
        assert_true(cunei_text_is_safe(out.data ? out.data : "", out.size));
        assert_int_equal(cunei_text_is_safe(text, strlen(text)), !unsafe[i].shown);
        cunei_buffer_fini(&out);
    }
}

static const struct {
    const char *text;
    const char *json;
} strings[] = {
    {"", "\"\""},
    {"a\"b\\", "\"a\\\"b\\\\\""},
    {"\n\x7f", "\"\\u000a\\u007f\""},
    {"ä€😀", "\"ä€😀\""},
    {"\xc2\x9b\u202e\u2028", "\"\\u009b\\u202e\\u2028\""},
    {"\U000e0041", "\"\\udb40\\udc41\""},
    {"\xff\xe4", "\"\\udcff\\udce4\""},
    {"\xed\xa0\x80", "\"\\udced\\udca0\\udc80\""}, /* a surrogate is no character */
    {"\xc0\x80", "\"\\udcc0\\udc80\""},            /* nor is an overlong form */
    {"\xf5\x80\x80\x80", "\"\\udcf5\\udc80\\udc80\\udc80\""},
    {"\xe2\x82", "\"\\udce2\\udc82\""},
};

static void json_strings_are_valid_whatever_the_bytes(void **state)
{
    (void)state;
    struct cunei_buffer out = {0};
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        assert_string_equal(made(&out, cunei_text_json, strings[i].text),
                            strings[i].json);
    cunei_buffer_fini(&out);
}

static void cutting_spares_characters(void **state)
{
    (void)state;
    assert_int_equal(cunei_text_cut("aäb", 4, 4), 4);
    assert_int_equal(cunei_text_cut("aäb", 4, 3), 3);
    assert_int_equal(cunei_text_cut("aäb", 4, 2), 1);
    assert_int_equal(cunei_text_cut("ä", 2, 1), 0);
    /* Bytes that are no character are not taken for the rest of one. */
    assert_int_equal(cunei_text_cut("\x80\x80\x80\x80\x80\x80", 6, 4), 4);
    assert_int_equal(cunei_text_cut("a\xf0\x9f\x90\x8d", 5, 4), 1);
}

static void a_buffer_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct cunei_buffer buffer = {0};

    for (int i = 0; i < 1000; i++)
        cunei_buffer_format(&buffer, "%03d", i);

    assert_int_equal(buffer.size, 3000);
    assert_int_equal(strlen(buffer.data), 3000);
    assert_memory_equal(buffer.data + 2997, "999", 3);
    cunei_buffer_fini(&buffer);
}

static void a_failed_buffer_ignores_what_follows(void **state)
{
    (void)state;
    struct cunei_buffer buffer = {0};
    cunei_buffer_append_text(&buffer, "a");

    cunei_buffer_append(&buffer, "b", SIZE_MAX / 2 + 1);
    cunei_buffer_append_text(&buffer, "c");

    assert_true(buffer.failed);
    assert_string_equal(buffer.data, "a");
    cunei_buffer_fini(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoting_leaves_no_space_or_control_character),
        cmocka_unit_test(quoted_text_comes_back_unchanged),
        cmocka_unit_test(a_bad_escape_stays_as_it_is),
        cmocka_unit_test(escaping_makes_control_characters_visible),
        cmocka_unit_test(escaped_text_comes_back_unchanged),
        cmocka_unit_test(a_backslash_at_the_end_stays),
        cmocka_unit_test(only_safe_text_is_shown_as_it_is),
        cmocka_unit_test(json_strings_are_valid_whatever_the_bytes),
        cmocka_unit_test(cutting_spares_characters),
        cmocka_unit_test(a_buffer_grows_and_stays_terminated),
        cmocka_unit_test(a_failed_buffer_ignores_what_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
