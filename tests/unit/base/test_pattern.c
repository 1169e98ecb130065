// SPDX-License-Identifier: MIT
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/pattern.h"

static const struct {
    const char *pattern;
    const char *module, *qualname, *file;
    bool matches;
} rows[] = {
    {"json", "json", "loads", "/lib/json/__init__.py", true},
    {"json", "json.decoder", "scan", "/lib/json/decoder.py", true},
    {"json", "jsonschema", "f", "/lib/jsonschema.py", false},
    {"json", "app.json", "f", "/app/json.py", false},
    {"js*", "jsonschema", "f", "/lib/jsonschema.py", true},
    {"json.decoder", "json", "loads", "/lib/json/__init__.py", false},
    {"importlib.*", "_frozen_importlib", "f", "<frozen importlib._bootstrap>", true},
    {"importlib", "_frozen_importlib", "f", "<frozen importlib._bootstrap>", true},
    {"importlib._bootstrap:f", "_frozen_importlib", "f",
     "<frozen importlib._bootstrap>", true},
    {"_frozen_importlib", "_frozen_importlib", "f", "<frozen importlib._bootstrap>",
     true},
    {"re:^importlib", "_frozen_importlib", "f", "<frozen importlib._bootstrap>", true},
    {"!importlib", "_frozen_importlib", "f", "<frozen importlib._bootstrap>", false},
    {"importlib", "m", "f", "/frozen importlib>", false},
    {"importlib", "m", "f", "<frozen importlib", false},
    {"*", "m", "f", "<frozen >", true},
    {"app:main", "app", "main", "/app.py", true},
    {"app:main", "app", "main.<locals>.f", "/app.py", false},
    {"app:main*", "app", "main.<locals>.f", "/app.py", true},
    {":main", "app", "main", "/app.py", true},
    {"app:", "app", "anything", "/app.py", true},
    {"app:", "app.sub", "anything", "/app.py", false},
    {"/usr/lib/*", "os", "walk", "/usr/lib/python3/os.py", true},
    {"/usr/lib/*", "os", "walk", "/home/usr/lib/os.py", false},
    {"app.py", "x", "f", "/home/a/app.py", true},
    {"app.py", "x", "f", "/home/a/myapp.py", false},
    {"a/app.py", "x", "f", "/home/a/app.py", true},
    {"./app.py", "x", "f", "/home/a/app.py", true},
    {"././a/*", "x", "f", "/home/a/app.py", true},
    {"tests/*", "x", "f", "/home/tests/test_a.py", true},
    {":na?ve_[\xc3\xa4-\xc3\xbc]", "m", "na\xc3\xafve_\xc3\xbc", "/m.py", true},
    {"?.b", "\xc3\xb6.b.c", "f", "/c.py", true},
    {"?/app.py", "m", "f", "/x/\xc3\xb6/app.py", true},
    {"re:^_", "app", "_private", "/app.py", false},
    {"re-name:^na.ve$", "m", "na\xc3\xafve", "/m.py", true},
    {"re-name:^[\xc3\xa4\xc3\xb6]$", "m", "\xc3\xb6", "/m.py", true},
    {"re::_", "app", "_private", "/app.py", true},
    {"re:a(b|c)$", "m", "ac", "/x.py", true},
    {"re:site-packages/", "m", "f", "/v/site-packages/m.py", true},
    {"re-name:^f$", "m", "A.f", "/x.py", true},
    {"re-name:^f$", "m", "A.<locals>.f", "/x.py", true},
    {"re-name:f", "f", "g", "/f.py", false},
    {"re-file:^/a", "m", "f", "/a/b.py", true},
    {"re-file:b", "b", "b", "/a.py", false},
    {"!re-name:^f$", "m", "A.f", "/x.py", false},
    {"!re-name:^f$", "m", "g", "/x.py", true},
    {"!json", "json.decoder", "f", "/x.py", false},
    {"!json", "app", "f", "/x.py", true},
    {"in-project:/home/a", "m", "f", "/home/a/b/c.py", true},
    {"in-project:/home/a/", "m", "f", "/home/a/c.py", true},
    {"in-project:/home/a", "m", "f", "/home/ab/c.py", false},
    {"in-project:/home/a", "m", "f", "/home/a/v/lib/python3.13/os.py", false},
    {"in-project:/home/a", "m", "f", "/home/a/v/lib64/python3.13/os.py", false},
    {"in-project:/home/a", "m", "f", "/home/a/x/site-packages/m.py", false},
    {"in-project:/usr/lib/python3/dist-packages/m", "m", "f",
     "/usr/lib/python3/dist-packages/m/a.py", true},
    {"in-project:/home/a", "m", "f", "/home/a/__pypackages__/3.9/lib/m.py", false},
    {"in-project:/home/a", "m", "f", "/home/a/lib/python3/m.py", true},
    {"in-project:/home/a", "m", "f", "/home/a/../b/nowhere.py", false},
    {"in-project:/", "m", "f", "/a.py", true},
    {"in-project:/home/a", "__main__", "f", "<string>", true},
    {"in-project:/home/a", "m", "f", "<string>", false},
    {"in-project:/home/a", "builtins", "len", "", false},
    {"in-project:/home/a", "__main__", "f", "/tmp/ipykernel_7/12.py", true},
    {"in-project:/home/a", "m", "f", "/tmp/ipykernel_7/12.py", false},
    {"in-project:", "m", "f", "/home/a.py", true},
    {"in-project:", "m", "f", "/usr/lib/python3.12/json/decoder.py", false},
    {"in-project:", "m", "f", "<frozen runpy>", false},
};

static bool includes(const struct cunei_patterns *patterns, const char *file)
{
    return cunei_patterns_include(patterns, "m", "f", file);
}

static void a_project_is_first_and_may_get_its_folder_later(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    assert_int_equal(cunei_patterns_add(&patterns, false, "/home/a/x.py", NULL, 0), 0);
    assert_int_equal(
        cunei_patterns_add(&patterns, true, CUNEI_PATTERN_PROJECT, NULL, 0), 0);
    assert_false(cunei_patterns_have_project(&patterns));

    cunei_patterns_project_first(&patterns);
    patterns.project = "/home/a";

    assert_true(cunei_patterns_have_project(&patterns));
    assert_true(includes(&patterns, "/home/a/y.py"));
    assert_false(includes(&patterns, "/home/a/x.py"));
    assert_false(includes(&patterns, "/home/b/y.py"));
    cunei_patterns_fini(&patterns);
}

static void a_pattern_matches_what_its_form_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_patterns patterns = {0};
        assert_int_equal(cunei_patterns_add(&patterns, true, rows[i].pattern, NULL, 0),
                         0);
        bool matches = cunei_patterns_include(&patterns, rows[i].module,
                                              rows[i].qualname, rows[i].file);
        if (matches != rows[i].matches)
            print_error("'%s' and %s:%s in %s: got %d\n", rows[i].pattern,
                        rows[i].module, rows[i].qualname, rows[i].file, matches);
        assert_int_equal(matches, rows[i].matches);
        cunei_patterns_fini(&patterns);
    }
}

static void without_patterns_everything_is_included(void **state)
{
    (void)state;
    const struct cunei_patterns patterns = {0};
    assert_true(cunei_patterns_include(&patterns, "m", "f", "/m.py"));
}

static void after_an_exclude_the_rest_is_included(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    assert_int_equal(cunei_patterns_add(&patterns, false, "json", NULL, 0), 0);

    assert_false(cunei_patterns_include(&patterns, "json", "f", "/j.py"));
    assert_true(cunei_patterns_include(&patterns, "app", "f", "/a.py"));
    cunei_patterns_fini(&patterns);
}

static void the_last_pattern_that_matches_decides(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    assert_int_equal(cunei_patterns_add(&patterns, true, "app", NULL, 0), 0);
    assert_int_equal(cunei_patterns_add(&patterns, false, "app.slow", NULL, 0), 0);
    assert_int_equal(cunei_patterns_add(&patterns, true, "app.slow:main", NULL, 0), 0);

    assert_true(cunei_patterns_include(&patterns, "app.fast", "f", "/f.py"));
    assert_false(cunei_patterns_include(&patterns, "app.slow", "f", "/s.py"));
    assert_true(cunei_patterns_include(&patterns, "app.slow", "main", "/s.py"));
    assert_false(cunei_patterns_include(&patterns, "json", "loads", "/j.py"));
    cunei_patterns_fini(&patterns);
}

static void a_bad_expression_is_refused_with_its_reason(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    char error[128] = "";

    assert_int_equal(
        cunei_patterns_add(&patterns, true, "re:a(b", error, sizeof(error)), -EINVAL);
    assert_true(strlen(error) > 0);
    assert_int_equal(cunei_patterns_add(&patterns, true, "re:[", NULL, 0), -EINVAL);
    assert_int_equal(patterns.count, 0);
    cunei_patterns_fini(&patterns);
}

static void an_expression_that_costs_too_much_is_refused(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    char error[128] = "";

    assert_int_equal(cunei_patterns_add(&patterns, true,
                                        "re:((a{1,255}){1,255}){1,255}", error,
                                        sizeof(error)),
                     -EINVAL);
    assert_non_null(strstr(error, "it needs too much memory; use smaller"));
    cunei_patterns_fini(&patterns);
}

static void expressions_that_cost_too_much_together_are_refused(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    const char *text = "re:(a?){1000}";
    char error[128] = "";
    int rc = 0;

    while (rc == 0 && patterns.count < 100)
        rc = cunei_patterns_add(&patterns, true, text, error, sizeof(error));

    assert_int_equal(rc, -EINVAL);
    assert_non_null(strstr(error, "needs too much memory; use fewer"));
    cunei_patterns_remove(&patterns, 0, text);
    assert_int_equal(cunei_patterns_add(&patterns, true, text, NULL, 0), 0);
    cunei_patterns_fini(&patterns);
}

static void a_meaningless_pattern_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    char error[128] = "";

    assert_int_equal(cunei_patterns_add(&patterns, true, "!", error, sizeof(error)),
                     -EINVAL);
    assert_string_equal(error, "nothing follows the '!'");
    assert_int_equal(
        cunei_patterns_add(&patterns, true, "in-project:a", error, sizeof(error)),
        -EINVAL);
    assert_non_null(strstr(error, "an absolute path"));
    static const char *const open[] = {"[", "JSON[Decoder*", "m:f[", "a/[b", "!["};
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        error[0] = '\0';
        assert_int_equal(
            cunei_patterns_add(&patterns, false, open[i], error, sizeof(error)),
            -EINVAL);
        assert_string_equal(error, "a '[' has no ']'; write \\[ for a literal one");
    }
    assert_int_equal(patterns.count, 0);
    cunei_patterns_fini(&patterns);
}

static void patterns_are_reported_as_they_were_given(void **state)
{
    (void)state;
    struct cunei_patterns patterns = {0};
    bool include = true;
    assert_int_equal(cunei_patterns_add(&patterns, false, "re:^x", NULL, 0), 0);

    assert_string_equal(cunei_patterns_text(&patterns, 0, &include), "re:^x");
    assert_false(include);
    cunei_patterns_fini(&patterns);
}

static void a_removed_pattern_has_no_effect(void **state)
{
    struct cunei_patterns patterns = {0};
    static const char *const texts[] = {"a", "b", "re:^a", "b", "a"};
    bool include;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(cunei_patterns_add(&patterns, i == 0, texts[i], NULL, 0), 0);

    cunei_patterns_remove(&patterns, 1, "a");
    cunei_patterns_remove(&patterns, 1, "b");
    cunei_patterns_remove(&patterns, 1, "other");

    assert_int_equal(patterns.count, 2);
    assert_string_equal(cunei_patterns_text(&patterns, 0, &include), "a");
    assert_true(include);
    assert_string_equal(cunei_patterns_text(&patterns, 1, &include), "re:^a");
    assert_false(cunei_patterns_include(&patterns, "a", "f", "/a.py"));
    cunei_patterns_remove(&patterns, 0, "re:^a");
    assert_true(cunei_patterns_include(&patterns, "a", "f", "/a.py"));
    cunei_patterns_fini(&patterns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_matches_what_its_form_says),
        cmocka_unit_test(a_project_is_first_and_may_get_its_folder_later),
        cmocka_unit_test(without_patterns_everything_is_included),
        cmocka_unit_test(after_an_exclude_the_rest_is_included),
        cmocka_unit_test(the_last_pattern_that_matches_decides),
        cmocka_unit_test(a_bad_expression_is_refused_with_its_reason),
        cmocka_unit_test(an_expression_that_costs_too_much_is_refused),
        cmocka_unit_test(expressions_that_cost_too_much_together_are_refused),
        cmocka_unit_test(a_meaningless_pattern_is_refused_with_the_reason),
        cmocka_unit_test(patterns_are_reported_as_they_were_given),
        cmocka_unit_test(a_removed_pattern_has_no_effect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
