// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/filter_file.h"

static int parse(struct cunei_patterns *patterns, const char *text,
                 struct cunei_syntax_error *error)
{
    *patterns = (struct cunei_patterns){0};
    return cunei_filter_file_parse(patterns, text, strlen(text), error);
}

static void assert_pattern(const struct cunei_patterns *patterns, size_t index,
                           bool included, const char *text)
{
    bool include = !included;

    assert_true(index < patterns->count);
    assert_string_equal(cunei_patterns_text(patterns, index, &include), text);
    assert_int_equal(include, included);
}

static void lines_are_patterns_in_their_order(void **state)
{
    struct cunei_patterns patterns;
    struct cunei_syntax_error error;
    (void)state;

    int rc = parse(&patterns,
                   "\xef\xbb\xbf# a comment\n"
                   "\n"
                   "+ app\r\n"
                   "  -app.vector:Vector.*   # cheap and often\n"
                   "\t# another\n"
                   "+ a b#c.py\t\n"
                   "- re:^x",
                   &error);

    assert_int_equal(rc, 0);
    assert_int_equal(patterns.count, 4);
    assert_pattern(&patterns, 0, true, "app");
    assert_pattern(&patterns, 1, false, "app.vector:Vector.*");
    assert_pattern(&patterns, 2, true, "a b#c.py");
    assert_pattern(&patterns, 3, false, "re:^x");
    for (size_t i = 0; i < patterns.count; i++) {
        size_t line = 0;
        assert_null(cunei_patterns_file(&patterns, i, &line));
        assert_int_equal(line, ((const size_t[]){3, 4, 6, 7})[i]);
    }
    cunei_patterns_fini(&patterns);
}

/* What the documentation of PerfStubs' own filter says of it. */
static const struct {
    const char *json;
    const char *qualname, *file;
    bool recorded;
} rows[] = {
    {"{}", "f", "/a.py", true},
    {"{\"exclude_timers\":[\"^_find\"]}", "_find_and_load", "/a.py", false},
    {"{\"exclude_timers\":[\"^_find\"]}", "A._find_and_load", "/a.py", false},
    {"{\"exclude_timers\":[\"^_find\"]}", "a_find", "/_find.py", true},
    {"{\"exclude_files\":[\"<frozen.*\",\"/usr/lib/python.*\"]}", "f",
     "<frozen importlib>", false},
    {"{\"exclude_files\":[\"<frozen.*\",\"/usr/lib/python.*\"]}", "f",
     "/usr/lib/python3/os.py", false},
    {"{\"exclude_files\":[\"<frozen.*\",\"/usr/lib/python.*\"]}", "f", "/home/a.py",
     true},
    {"{\"include_timers\":[\"First\",\"prime\"]}", "isprime", "/a.py", true},
    {"{\"include_timers\":[\"First\",\"prime\"]}", "main", "/a.py", false},
    {"{\"include_timers\":[\"prime\"],\"exclude_timers\":[\"is\"]}", "isprime", "/a.py",
     false},
    {"{\"include_timers\":[\"prime\"],\"include_files\":[\"^/b\"]}", "isprime", "/a.py",
     false},
    {"{\"include_timers\":[\"prime\"],\"include_files\":[\"^/a\"]}", "isprime", "/a.py",
     true},
    {"{\"include_files\":[]}", "f", "/a.py", false},
    {"{\"include_timers_disabled\":[\"x\"],\"a comment\":{\"b\":[1,-2.5e3,null]}}", "f",
     "/a.py", true},
    {" {\n\"exclude_timers\" : [ \"\\u0066\\\\d\" ] , \"x\":true}\n", "f1", "/a.py",
     false},
};

static void the_json_of_perfstubs_means_what_it_does_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_patterns patterns;
        struct cunei_syntax_error error;

        int rc = parse(&patterns, rows[i].json, &error);
        if (rc != 0)
            fail_msg("%s: %d, %s", rows[i].json, rc, error.text);
        bool recorded =
            cunei_patterns_include(&patterns, "app", rows[i].qualname, rows[i].file);

        if (recorded != rows[i].recorded)
            fail_msg("%s and %s in %s: got %d", rows[i].json, rows[i].qualname,
                     rows[i].file, recorded);
        cunei_patterns_fini(&patterns);
    }
}

static const struct {
    const char *text;
    size_t line, column;
    const char *message;
} bad[] = {
    {"+ app\nmodule\n", 2, 1,
     "expected '+ PATTERN', '- PATTERN' or a comment with '#', not 'm'"},
    {"[\"a\"]", 1, 1, "expected '{' where JSON begins, or '+ PATTERN', not '['"},
    {"+ !\n", 1, 3, "invalid pattern: nothing follows the '!'"},
    {"  + ", 1, 5, "expected a pattern after the '+', but the file ends"},
    {"- \n+ a\n", 1, 3, "expected a pattern after the '-', but the line ends"},
    {"- # nothing\n", 1, 3, "expected a pattern after the '-', not '#'"},
    {"# \xc3\xa4\n\xc3\xa4", 2, 1,
     "expected '+ PATTERN', '- PATTERN' or a comment with '#', not '\xc3\xa4'"},
    {"- re:(", 1, 3, "invalid pattern: Unmatched ( or \\("},
    {"\x01", 1, 1,
     "expected '+ PATTERN', '- PATTERN' or a comment with '#', not byte 0x01"},
    {"{", 1, 2, "expected a string in double quotes, but the file ends"},
    {"{\"a\" 1}", 1, 6, "expected ':' after the key, not '1'"},
    {"{\"a\": 1,}", 1, 9,
     "expected another element after the ',' (JSON needs one), not '}'"},
    {"{\"a\": x}", 1, 7,
     "expected a value: a string, number, array, object, true, false or null, not 'x'"},
    {"{\"a\": 1.}", 1, 9, "expected a digit after the '.', not '}'"},
    {"{\"a\": 1} x", 1, 10, "expected the end of the file, not 'x'"},
    {"{\"exclude_files\": \"x\"}", 1, 19,
     "expected '[' and an array of strings, not '\"'"},
    {"{\n \"exclude_files\": [\"x\", 3]}", 2, 25,
     "expected a string in double quotes, not '3'"},
    {"{\"exclude_files\": [\"x\" \"y\"]}", 1, 24, "expected ',' or ']', not '\"'"},
    {"{\"exclude_files\": [\"a\\d\"]}", 1, 23,
     "expected one of \" \\ / b f n r t u after the backslash (write \\\\ for a "
     "backslash), not 'd'"},
    {"{\"exclude_files\": [\"a\n\"]}", 1, 22,
     "expected '\"' at the end of the string, but the line ends"},
    {"{\"exclude_files\": [\"a(\"]}", 1, 20,
     "invalid regular expression: at its byte 3, a '(' has no ')'"},
    {"{\"include_timers\": [\"(?!a)\"]}", 1, 21,
     "invalid regular expression: at its byte 1, (?:\xe2\x80\xa6) is the "
     "only supported group that begins with (?"},
    {"{\"a\": \"\\ud800\"}", 1, 8, "this is half of a surrogate pair"},
    {"{\"a\": \"\\u0000\"}", 1, 8, "a string must not contain a NUL here"},
};

static void errors_are_reported_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cunei_patterns patterns;
        struct cunei_syntax_error error;

        int rc = parse(&patterns, bad[i].text, &error);

        if (rc != -EINVAL || error.line != bad[i].line ||
            error.column != bad[i].column || strcmp(error.text, bad[i].message) != 0)
            fail_msg("%s: got %d, %zu:%zu: %s", bad[i].text, rc, error.line,
                     error.column, error.text);
        cunei_patterns_fini(&patterns);
    }
}

static void values_in_each_other_have_an_end(void **state)
{
    char text[400] = "{\"a\":";
    struct cunei_patterns patterns;
    struct cunei_syntax_error error;
    (void)state;

    memset(text + 5, '[', 300);

    assert_int_equal(parse(&patterns, text, &error), -EINVAL);
    assert_string_equal(error.text, "values are nested deeper than 100");
    cunei_patterns_fini(&patterns);
}

static void a_nul_is_no_part_of_a_pattern(void **state)
{
    static const char text[] = "+ a\0b\n";
    struct cunei_patterns patterns = {0};
    struct cunei_syntax_error error;
    (void)state;

    assert_int_equal(cunei_filter_file_parse(&patterns, text, sizeof(text) - 1, &error),
                     -EINVAL);
    assert_int_equal(error.column, 4);
    cunei_patterns_fini(&patterns);
}

static void a_file_that_is_not_there_is_an_error_of_its_own(void **state)
{
    struct cunei_patterns patterns = {0};
    struct cunei_syntax_error error;
    (void)state;

    assert_int_equal(cunei_filter_file_read(&patterns, "/nowhere/x", &error), -ENOENT);
    assert_int_equal(cunei_filter_file_read(&patterns, "/", &error), -EISDIR);
    assert_int_equal(cunei_filter_file_read(&patterns, "/dev/zero", &error), -EBADMSG);
}

static void a_file_of_more_than_a_mebibyte_is_too_long(void **state)
{
    char path[] = "/tmp/cunei-filter-XXXXXX";
    struct cunei_patterns patterns = {0};
    struct cunei_syntax_error error;
    int fd = mkstemp(path);
    (void)state;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, CUNEI_FILTER_MAX + 1), 0);
    close(fd);
    int rc = cunei_filter_file_read(&patterns, path, &error);
    (void)unlink(path);
    assert_int_equal(rc, -EFBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_patterns_in_their_order),
        cmocka_unit_test(the_json_of_perfstubs_means_what_it_does_there),
        cmocka_unit_test(errors_are_reported_with_their_place),
        cmocka_unit_test(values_in_each_other_have_an_end),
        cmocka_unit_test(a_nul_is_no_part_of_a_pattern),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error_of_its_own),
        cmocka_unit_test(a_file_of_more_than_a_mebibyte_is_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
