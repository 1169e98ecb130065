// SPDX-License-Identifier: MIT
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/ecmascript_regex.h"

/* An expression, a text it is found in, and one it is not. */
static const struct {
    const char *expression, *found, *missing;
} rows[] = {
    {"prime", "nextprime", "prim"},
    {"^a.*z$", "abcz", "abczy"},
    {"\\d+", "f12", "f"},
    {"^\\D+$", "abc", "a1c"},
    {"^\\w\\s\\w$", "a b", "a-b"},
    {"<frozen.*", "<frozen importlib>", "frozen"},
    {"/usr/lib/python.*", "/usr/lib/python3.11/os.py", "/opt/python"},
    {"^(?:ab)+?$", "abab", "aba"},
    {"^a*?b$", "aab", "aac"},
    {"^a{2,3}?$", "aaa", "aaaa"},
    {"^x??$", "x", "xx"},
    {"[\\d.]+z", "1.5z", "-z"},
    {"^[^\\w]$", "-", "w"},
    {"^[\\]a]+$", "]a]", "b"},
    {"^[\\^]$", "^", "a"},
    {"^[\\^-]$", "-", "a"},
    {"^[^^]$", "a", "^"},
    {"^[a^-]+$", "a^-", "b"},
    {"^[\\[.]+$", "[.", "]"},
    {"^[a-f\\-]+$", "a-f", "g"},
    {"^[[:digit:]x]+$", "1x", "y"},
    {"^[\\x41-C]$", "B", "D"},
    {"\\x2e\\u0041", ".A", "xA"},
    {"\\u00e4", "\xc3\xa4", "a"},
    {"\\(\\)\\{\\}\\/", "(){}/", "()"},
    {"^a}]$", "a}]", "a"},
    {"\\bmain\\b", "a main b", "domain"},
    {"a|b", "b", "c"},
    {"^\\W$", "-", "w"},
    {"^\\S\\s$", "a ", "  "},
    {"^[\\D]$", "a", "1"},
    {"^[\\W]+$", "-.", "-a"},
    {"^[\\S]b$", "ab", " b"},
    {"^[\\s\\S]{2}$", "a ", "a"},
    {"^[1\\D]+$", "a1", "2"},
    {"^[\\^\\D]+$", "^a", "2"},
    {"^[^\\D]+$", "12", "1a"},
    {"^[^\\S]$", " ", "a"},
    {"^[^\\W]$", "_", "-"},
    {"^a[^]b$", "a\nb", "ab"},
    {"^\\cA\\cz$", "\x01\x1a", "cA"},
    {"^[\\cA]$", "\x01", "A"},
    {"", "anything", NULL},
};

static void what_ecmascript_finds_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer posix = {0};
        const char *problem = NULL;
        size_t place = 0;
        regex_t regex;

        assert_int_equal(cunei_ecmascript_regex_translate(rows[i].expression, &posix,
                                                          &place, &problem),
                         0);
        const char *text = posix.data ? posix.data : "";
        if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
            fail_msg("'%s' became '%s'", rows[i].expression, text);
        if (regexec(&regex, rows[i].found, 0, NULL, 0) != 0)
            fail_msg("'%s' is '%s' and not in '%s'", rows[i].expression, text,
                     rows[i].found);
        if (rows[i].missing && regexec(&regex, rows[i].missing, 0, NULL, 0) == 0)
            fail_msg("'%s' is '%s' and in '%s'", rows[i].expression, text,
                     rows[i].missing);
        regfree(&regex);
        cunei_buffer_fini(&posix);
    }
}

static const struct {
    const char *expression;
    size_t place;
    const char *problem; /* a part of it */
} bad[] = {
    {"ab(", 3, "has no ')'"},
    {"a)b", 1, "has no '('"},
    {"a[b", 1, "has no ']'"},
    {"[]", 0, "nothing between"},
    {"*a", 0, "nothing to repeat"},
    {"a**", 2, "nothing to repeat"},
    {"(|+)", 2, "nothing to repeat"},
    {"a{", 1, "braces"},
    {"a{x}", 1, "braces"},
    {"a{1000}", 1, "braces"},
    {"a(?=b)", 1, "(?:"},
    {"(?<n>a)", 0, "(?:"},
    {"(a)\\1", 3, "not supported"},
    {"a\\", 1, "nothing follows"},
    {"[^\\Da]", 0, "must be the only item"},
    {"[^\\D\\S]", 0, "must be the only item"},
    {"[a-\\d]", 3, "not supported there"},
    {"[\\b]", 1, "not supported there"},
    {"[[=a=]]", 1, "[=…=]"},
    {"[a[.hyphen.]]", 2, "[=…=]"},
    {"a\\0", 1, "NUL"},
    {"\\c1", 0, "not supported"},
    {"[z-a]", 1, "range"},
    {"\\x4", 0, "hexadecimal"},
    {"\\u0000", 0, "hexadecimal"},
};

static void syntax_that_posix_lacks_is_refused_with_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cunei_buffer posix = {0};
        const char *problem = "";
        size_t place = 99;

        int rc = cunei_ecmascript_regex_translate(bad[i].expression, &posix, &place,
                                                  &problem);

        if (rc != -EINVAL || place != bad[i].place || !strstr(problem, bad[i].problem))
            fail_msg("'%s': got %d at %zu, '%s'", bad[i].expression, rc, place,
                     problem);
        cunei_buffer_fini(&posix);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ecmascript_finds_is_found),
        cmocka_unit_test(syntax_that_posix_lacks_is_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
