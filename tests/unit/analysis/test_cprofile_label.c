// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/cprofile_label.h"
#include "base/buffer.h"

static struct cunei_buffer text;

static int release(void **state)
{
    (void)state;
    cunei_buffer_fini(&text);
    return 0;
}

static void expect(const struct cunei_function *got, const char *module,
                   const char *qualname, const char *file, uint32_t line)
{
    assert_string_equal(got->module, module);
    assert_string_equal(got->qualname, qualname);
    assert_string_equal(got->file, file);
    assert_int_equal(got->line, line);
}

static void python_code_is_called_by_the_end_of_its_name(void **state)
{
    const struct cunei_function lambda = {
        .module = "m", .qualname = "f.<locals>.<lambda>", .file = "/x.py", .line = 7};
    const struct cunei_function odd = {.module = "m", .qualname = "ends.", .file = "x"};

    (void)state;
    struct cunei_function label = cunei_label_make(&lambda, &text);
    expect(&label, "", "<lambda>", "/x.py", 7);
    label = cunei_label_make(&odd, &text);
    expect(&label, "", "ends.", "x", 0);
}

/* Names of C, as we have them and as cProfile does. */
static const struct {
    const char *module, *qualname, *label;
} names[] = {
    {"builtins", "len", "<built-in method builtins.len>"},
    {"numpy.core", "dot", "<built-in method numpy.core.dot>"},
    {"builtins", "list.append", "<method 'append' of 'list' objects>"},
    {"_lsprof", "Profiler.disable", "<method 'disable' of '_lsprof.Profiler' objects>"},
};

static void c_code_is_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct cunei_function function = {
            .module = names[i].module, .qualname = names[i].qualname, .file = ""};
        struct cunei_function label = cunei_label_make(&function, &text);
        expect(&label, "", names[i].label, "~", 0);
    }
}

static void descriptions_are_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct cunei_function label = {
            .module = "", .qualname = names[i].label, .file = "~"};
        struct cunei_function function = cunei_label_parse(&label, &text);
        expect(&function, names[i].module, names[i].qualname, "", 0);
    }
}

static void what_says_no_module_stays_as_it_is(void **state)
{
    static const char *const odd[] = {
        "<built-in method fromkeys>",
        "<built-in method __new__ of type object at 0x7f00>",
        "<method ' of 'list' objects>",
        "<method 'append' of 'list'",
        "<built-in method builtins.len",
        "<built-in method ",
        "<method '",
        "",
        "len",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        const struct cunei_function label = {
            .module = "", .qualname = odd[i], .file = "~"};
        struct cunei_function function = cunei_label_parse(&label, &text);
        expect(&function, "", odd[i], "~", 0);
    }
    const struct cunei_function python = {
        .module = "", .qualname = names[0].label, .file = "x.py", .line = 3};
    struct cunei_function same = cunei_label_parse(&python, &text);
    expect(&same, "", names[0].label, "x.py", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_code_is_called_by_the_end_of_its_name),
        cmocka_unit_test(c_code_is_described),
        cmocka_unit_test(descriptions_are_understood),
        cmocka_unit_test(what_says_no_module_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
