// SPDX-License-Identifier: MIT
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/glob.h"

static const struct {
    const char *glob, *text;
    bool matches;
} rows[] = {
    {"", "", true},
    {"", "a", false},
    {"a", "", false},
    {"abc", "abc", true},
    {"abc", "abcd", false},
    {"*", "", true},
    {"*", "a/.b", true},
    {"a*", "a", true},
    {"a*b*c", "a-b-b-c", true},
    {"a*b*c", "a-b-c-", false},
    {"*.py", "a.py.py", true},
    {"?", "", false},
    {"?", "a", true},
    {"?", "ab", false},
    {"?*", "", false},
    {"**?", "a", true},
    {"w?rker-1", "wörker-1", true},
    {"?", "ö", true},
    {"??", "ö", false},
    {"?", "€", true},
    {"?", "🦊", true},
    {"*ö", "aöbö", true},
    {"[ö]", "ö", true},
    {"[ö]", "ä", false},
    {"[!ö]", "ä", true},
    {"[^ö]", "ö", false},
    {"[ä-ü]", "ö", true},
    {"[а-я]*", "ж1", true},
    {"[a-z]", "é", false},
    {"?", "\xff", true},
    {"\xff", "\xff", true},
    {"[\xff]", "\xff", true},
    {"[ÿ]", "\xff", false},
    {"?", "\xc3", true},
    {"\xc3*", "ö", false},
    {"[abc]x", "bx", true},
    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[!a-c]", "d", true},
    {"[!a]", "", false},
    {"[]a]", "]", true},
    {"[!]]", "]", false},
    {"[a-]", "-", true},
    {"[-a]", "-", true},
    {"[[]", "[", true},
    {"[*]", "*", true},
    {"[*]", "a", false},
    {"[\\]]", "]", true},
    {"[\\\\]", "\\", true},
    {"[[:digit:]x]", "7", true},
    {"[[:digit:]x]", "x", true},
    {"[![:digit:]]", "7", false},
    {"[[:alpha:]]", "ö", false},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\ö", "ö", true},
    {"\\[a]", "[a]", true},
    /* What is not closed stands for itself. */
    {"[", "[", true},
    {"pool[1", "pool[1", true},
    {"pool[?", "pool[1", true},
    {"a\\", "a\\", true},
};

static void check_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cunei_glob_matches(rows[i].glob, rows[i].text) != rows[i].matches)
            fail_msg("'%s' and '%s': got %d", rows[i].glob, rows[i].text,
                     !rows[i].matches);
    }
}

static void a_glob_matches_what_it_says_in_every_locale(void **state)
{
    static const char *const locales[] = {"C", "C.UTF-8", ""};
    (void)state;

    for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
        (void)setlocale(LC_ALL, locales[i]); /* one that is not there is not needed */
        check_rows();
    }
    (void)setlocale(LC_ALL, "C");
}

static void a_part_of_a_text_is_matched_by_itself(void **state)
{
    (void)state;
    assert_true(cunei_glob_matches_part("a*", "a.b", 1));
    assert_false(cunei_glob_matches_part("a.b", "a.b", 1));
    assert_true(cunei_glob_matches_part("?", "ö", 1)); /* half a character */
}

static void many_stars_take_no_more_than_the_lengths_multiplied(void **state)
{
    char glob[2002] = "", text[20001] = "";
    (void)state;
    for (size_t i = 0; i < 2000; i++)
        glob[i] = i % 2 ? 'a' : '*';
    glob[2000] = 'b';
    memset(text, 'a', sizeof(text) - 1);

    /* With a choice at each star there would be more ways than can be tried. */
    assert_false(cunei_glob_matches(glob, text));
    text[sizeof(text) - 2] = 'b';
    assert_true(cunei_glob_matches(glob, text));
}

static void likely_mistakes_are_reported(void **state)
{
    static const struct {
        const char *glob, *problem;
    } bad[] = {
        {"[", "has no ']'"},
        {"a[b", "has no ']'"},
        {"[]", "has no ']'"},
        {"[!]", "has no ']'"},
        {"[a\\]", "has no ']'"},
        {"[ab]c[", "has no ']'"},
        {"a\\", "nothing follows the backslash"},
        {"[z-a]", "the smaller character first"},
        {"[[=a=]]", "classes"},
        {"[[.a.]]", "classes"},
        {"[[:no:]]", "classes"},
    };
    static const char *const good[] = {"",     "*", "a\\[b", "[[]",   "[]]",
                                       "[!]]", "]", "\\\\",  "[ä-ü]", "[[:alpha:]]"};
    (void)state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *problem = cunei_glob_check(bad[i].glob);
        if (!problem || !strstr(problem, bad[i].problem))
            fail_msg("'%s': got '%s'", bad[i].glob, problem ? problem : "nothing");
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const char *problem = cunei_glob_check(good[i]);
        if (problem)
            fail_msg("'%s': got '%s'", good[i], problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_glob_matches_what_it_says_in_every_locale),
        cmocka_unit_test(a_part_of_a_text_is_matched_by_itself),
        cmocka_unit_test(many_stars_take_no_more_than_the_lengths_multiplied),
        cmocka_unit_test(likely_mistakes_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
