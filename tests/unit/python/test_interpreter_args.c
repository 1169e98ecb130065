// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python/interpreter_args.h"

enum {
    WORDS_MAX = 8
};

/* A command line, and what it means. */
struct row {
    const char *words[WORDS_MAX];
    int program;
    int kind;
    const char *flags;
    bool no_site;
    bool prints_and_exits;
};

static const struct row rows[] = {
    {{"python", "app.py", "-S"}, 1, 0, "", false, false},
    {{"python"}, 0, 0, "", false, false},
    {{"python", "-"}, 1, 0, "", false, false},
    {{"python", "-c", "pass", "-S"}, 2, 'c', "", false, false},
    {{"python", "-cpass"}, 1, 'c', "", false, false},
    {{"python", "-m", "http.server"}, 2, 'm', "", false, false},
    {{"python", "-Im", "x"}, 2, 'm', "-I", false, false},
    {{"python", "-S", "app.py"}, 2, 0, "", true, false},
    {{"python", "-BS", "app.py"}, 2, 0, "", true, false},
    {{"python", "-sE", "-P", "app.py"}, 3, 0, "-sEP", false, false},
    {{"python", "-X", "dev", "app.py"}, 3, 0, "", false, false},
    {{"python", "-Xdev", "app.py"}, 2, 0, "", false, false},
    {{"python", "-BW", "ignore::S", "app.py"}, 3, 0, "", false, false},
    {{"python", "-WS", "app.py"}, 2, 0, "", false, false},
    {{"python", "--check-hash-based-pycs", "always", "x.py"}, 3, 0, "", false, false},
    {{"python", "-V"}, 0, 0, "", false, true},
    {{"python", "--version"}, 0, 0, "", false, true},
    {{"python", "-m"}, 0, 'm', "", false, false},
};

static void a_command_line_is_read_as_python_reads_it(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *words[WORDS_MAX + 1] = {0};
        int count = 0;
        memcpy(words, rows[i].words, sizeof(rows[i].words));
        while (words[count])
            count++;

        struct cunei_interpreter_args read = cunei_interpreter_args_parse(count, words);

        assert_int_equal(read.program, rows[i].program);
        assert_int_equal(read.kind, rows[i].kind);
        assert_string_equal(read.flags, rows[i].flags);
        assert_int_equal(read.no_site, rows[i].no_site);
        assert_int_equal(read.prints_and_exits, rows[i].prints_and_exits);
    }
}

static void a_python_is_known_by_its_name(void **state)
{
    static const char *const pythons[] = {
        "python", "python3", "python3.13", "/usr/bin/python", "python3.13t", "pypy3"};
    static const char *const others[] = {"pythonic",      "python3-config", "ipython",
                                         "python/app.sh", "pytest",         ""};
    (void)state;

    for (size_t i = 0; i < sizeof(pythons) / sizeof(pythons[0]); i++)
        assert_true(cunei_python_is_named(pythons[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(cunei_python_is_named(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_line_is_read_as_python_reads_it),
        cmocka_unit_test(a_python_is_known_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
