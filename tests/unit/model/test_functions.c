// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/facts/functions.h"

static struct cunei_function make(const char *module, const char *qualname,
                                  const char *file, uint32_t line)
{
    return (struct cunei_function){
        .module = module, .qualname = qualname, .file = file, .line = line};
}

static void the_same_identity_is_the_same_function(void **state)
{
    (void)state;
    struct cunei_functions functions = {0};
    struct cunei_function one = make("m", "f", "m.py", 1);
    struct cunei_function two = one;
    one.id = 1024;
    two.id = 2000;

    int first = cunei_functions_add(&functions, &one);

    assert_int_equal(cunei_functions_add(&functions, &two), first);
    assert_int_equal(functions.count, 1);
    cunei_functions_fini(&functions);
}

static void any_other_part_is_another_function(void **state)
{
    (void)state;
    const struct cunei_function rows[] = {
        make("m", "f", "m.py", 1), make("n", "f", "m.py", 1), make("m", "g", "m.py", 1),
        make("m", "f", "n.py", 1), make("m", "f", "m.py", 2), make("mf", "", "m.py", 1),
        make("", "mf", "m.py", 1), make("m", "fm", ".py", 1),
    };
    struct cunei_functions functions = {0};

    for (int i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++)
        assert_int_equal(cunei_functions_add(&functions, &rows[i]), i);
    cunei_functions_fini(&functions);
}

static void a_frozen_module_has_two_names(void **state)
{
    (void)state;
    static const char file[] = "<frozen importlib._bootstrap>";
    const struct cunei_function rows[] = {
        make("_frozen_importlib", "_find_and_load", file, 1349),
        make("importlib._bootstrap", "_find_and_load", file, 1349),
    };
    struct cunei_functions functions = {0};

    assert_int_equal(cunei_functions_add(&functions, &rows[0]), 0);
    assert_int_equal(cunei_functions_add(&functions, &rows[1]), 0);
    cunei_functions_fini(&functions);
}

static void many_functions_keep_their_numbers(void **state)
{
    (void)state;
    struct cunei_functions functions = {0};

    for (int round = 0; round < 2; round++) {
        for (uint32_t line = 0; line < 5000; line++) {
            struct cunei_function function = make("m", "<lambda>", "m.py", line);
            assert_int_equal(cunei_functions_add(&functions, &function), line);
        }
    }
    cunei_functions_fini(&functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_identity_is_the_same_function),
        cmocka_unit_test(any_other_part_is_another_function),
        cmocka_unit_test(a_frozen_module_has_two_names),
        cmocka_unit_test(many_functions_keep_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
