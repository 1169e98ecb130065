// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/import_system.h"
#include "wire/metadata.h"

static struct cunei_function function(const char *module, const char *qualname,
                                      const char *file)
{
    return (struct cunei_function){
        .module = module, .qualname = qualname, .file = file};
}

static void the_import_system_is_known_by_its_files(void **state)
{
    (void)state;
    struct cunei_function find = function("_frozen_importlib", "_find_and_load",
                                          "<frozen importlib._bootstrap>");
    struct cunei_function import = function("builtins", "__import__", "");
    struct cunei_function own = function("app", "_find_and_load", "app.py");

    assert_true(cunei_is_import_system(&find));
    assert_true(cunei_is_import_system(&import));
    assert_false(cunei_is_import_system(&own));
}

static void code_from_a_text_is_no_module(void **state)
{
    (void)state;
    struct cunei_function json = function("json", "<module>", "json/__init__.py");
    struct cunei_function frozen = function("abc", "<module>", "<frozen abc>");
    struct cunei_function program = function("__main__", "<module>", "app.py");
    struct cunei_function text = function("app", "<module>", "<string>");

    assert_true(cunei_is_imported_module(&json));
    assert_true(cunei_is_imported_module(&frozen));
    assert_false(cunei_is_imported_module(&program));
    assert_false(cunei_is_imported_module(&text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_import_system_is_known_by_its_files),
        cmocka_unit_test(code_from_a_text_is_no_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
