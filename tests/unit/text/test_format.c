// SPDX-License-Identifier: MIT
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "text/format.h"
#include "text/names.h"
#include "text/terminal_text.h"
#include "wire/metadata.h"
#include "wire/process.h"

static void check(struct cunei_buffer *got, const char *wanted)
{
    assert_string_equal(got->data ? got->data : "", wanted);
    cunei_buffer_fini(got);
}

static void counts_stand_in_groups_of_three(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        const char *text;
    } rows[] = {{0, "0"},
                {999, "999"},
                {1000, "1 000"},
                {832040, "832 040"},
                {UINT64_MAX, "18 446 744 073 709 551 615"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer text = {0};
        cunei_format_count(&text, rows[i].count);
        check(&text, rows[i].text);
    }
}

static void durations_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns;
        const char *text;
    } rows[] = {
        {0, "0 ns"},
        {736, "736 ns"},
        {1000, "1.00 µs"},
        {9994, "9.99 µs"},
        {9996, "10.0 µs"},
        {99960, "100 µs"},
        {999499, "999 µs"},
        {999500, "1.00 ms"},
        {612345678, "612 ms"},
        {1020000000, "1.02 s"},
        {75400000000, "75.4 s"},
        {3600000000000, "3 600 s"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer text = {0};
        cunei_format_duration(&text, rows[i].ns);
        check(&text, rows[i].text);
    }
}

static void texts_are_shortened_in_their_middle(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width;
        const char *shown;
    } rows[] = {
        {"short", 5, "short"},
        {"Parser.parse", 7, "Par…rse"},
        {"Parser.parse", 6, "Par…se"},
        {"数を数える", 10, "数を数える"},
        {"数を数える", 9, "数を…える"},
        {"数を数える", 6, "数…る"},
        {"clear\x1b[2J", 40, "clear\\x1b[2J"},
        {"a\u202eb", 40, "a\\xe2\\x80\\xaeb"},
        {"f.<locals>.<genexpr>", 20, "f.<locals>.<genexpr>"},
        {"f.<locals>.g.<locals>.h", 20, "f…g…h"},
        {"first.<locals>.second", 12, "first…second"},
        {"first.<locals>.second", 11, "first…econd"},
        {"r\xe9sum\xe9", 40, "r\\xe9sum\\xe9"},
        {"\xed\xa0\x80\n数", 40, "\\xed\\xa0\\x80\\n数"},
        {"anything", 1, "…"},
        {"anything", 0, ""},
    };
    (void)setlocale(LC_CTYPE, "C.UTF-8");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer text = {0};
        cunei_terminal_text(&text, rows[i].text, rows[i].width);
        check(&text, rows[i].shown);
    }
}

static void paths_lose_directories_and_keep_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t width;
        const char *shown;
    } rows[] = {
        {"/tmp/review/tour/numbers.py:4", 29, "/tmp/review/tour/numbers.py:4"},
        {"/tmp/review/tour/numbers.py:4", 28, "…/review/tour/numbers.py:4"},
        {"/tmp/review/tour/numbers.py:4", 20, "…/tour/numbers.py:4"},
        {"/tmp/review/tour/numbers.py:4", 14, "…/numbers.py:4"},
        {"/tmp/review/tour/numbers.py:4", 12, "numbers.py:4"},
        {"/tmp/review/tour/numbers.py:4", 9, "numb…py:4"},
        {"numbers.py:4", 9, "numb…py:4"},
        {"<frozen importlib._bootstrap>:4", 31, "<frozen importlib._bootstrap>:4"},
        {"<frozen importlib._bootstrap>:4", 30, "importlib._bootstrap:4"},
        {"<frozen importlib._bootstrap>:4", 16, "…_bootstrap:4"},
        {"<frozen posixpath>:71", 14, "posixpath:71"},
        {"/a\xff/b/c.py:1", 12, "…/b/c.py:1"},
        {"", 4, ""},
        {"/", 0, ""},
    };
    (void)setlocale(LC_CTYPE, "C.UTF-8");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer text = {0};
        cunei_terminal_path(&text, rows[i].path, rows[i].width);
        check(&text, rows[i].shown);
    }
}

static void paths_show_what_their_names_need(void **state)
{
    (void)state;

    assert_int_equal(cunei_terminal_path_least("/tmp/tour/numbers.py:4"), 12);
    assert_int_equal(cunei_terminal_path_least("numbers.py:4"), 12);
    assert_int_equal(cunei_terminal_path_least("<frozen importlib._bootstrap>:4"), 12);
    assert_int_equal(cunei_terminal_path_least("<frozen abc>:105"), 7);
    assert_int_equal(cunei_terminal_path_least("<frozen "), 0);
    assert_int_equal(cunei_terminal_path_least(""), 0);
}

static void bytes_that_are_no_text_take_a_column_each(void **state)
{
    (void)state;

    assert_int_equal(cunei_terminal_width("\xff\xfe\xc3"), 3);
    assert_int_equal(cunei_terminal_width("\xf0\x9f\x98"), 3);
}

static void files_are_shown_from_where_they_are_known(void **state)
{
    (void)state;
    static struct {
        const char *file;
        char *home, *script;
        const char *shown;
    } rows[] = {
        {"/home/u/app/tour/x.py", "/home/u/app", "x.py", "tour/x.py"},
        {"/home/u/app/tour/x.py", "/home/u", "app/x.py", "tour/x.py"},
        {"/home/u/app/tour/x.py", "/tmp", "/home/u/app/x.py", "tour/x.py"},
        {"/home/u/lib/x.py", "/home/u", "app/x.py", "lib/x.py"},
        {"/home/u/application/x.py", "/home/u/app", "x.py", "/home/u/application/x.py"},
        {"/usr/lib/python3.12/json/decoder.py", NULL, "", "json/decoder.py"},
        {"/v/lib/python3.13t/site-packages/a/b.py", NULL, "", "a/b.py"},
        {"<frozen importlib._bootstrap>", "/", "", "<frozen importlib._bootstrap>"},
        {"app.py", "/", "app.py", "app.py"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_process process = {.directory = rows[i].home,
                                        .arguments = &rows[i].script,
                                        .argument_count = 1};
        assert_string_equal(cunei_format_file(rows[i].file, &process), rows[i].shown);
    }
}

static void the_script_is_found_among_the_words_of_a_python(void **state)
{
    (void)state;
    static struct {
        char *words[6];
        const char *shown;
    } rows[] = {
        {{"python3", "app/x.py", "lib/y.py"}, "tour/x.py"},
        {{"/usr/bin/python3", "-Xdev", "-W", "error", "/home/u/app/x.py"}, "tour/x.py"},
        {{"python3", "-m", "app/x.py"}, "app/tour/x.py"},
        {{"python3", "-c", "app/x.py"}, "app/tour/x.py"},
        {{"python3", "-", "app/x.py"}, "app/tour/x.py"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_process process = {.directory = "/home/u",
                                        .arguments = rows[i].words};
        while (rows[i].words[process.argument_count])
            process.argument_count++;
        assert_string_equal(cunei_format_file("/home/u/app/tour/x.py", &process),
                            rows[i].shown);
    }
}

static void a_program_is_called_what_its_user_calls_it(void **state)
{
    (void)state;
    static struct {
        char *words[6];
        const char *name;
    } rows[] = {
        {{"/home/u/app.py", "-x"}, "app.py"},
        {{"/usr/bin/python3", "-X", "dev", "app.py", "y"}, "app.py"},
        {{"python3.13", "-m", "http.server"}, "python -m http.server"},
        {{"python3", "-X", "dev", "-Impytest", "-c"}, "python -m pytest"},
        {{"python3", "-Im", "json.tool", "x.py"}, "python -m json.tool"},
        {{"python3", "-c", "pass"}, "python -c"},
        {{"python3", "-Icpass", "x.py"}, "python -c"},
        {{"python3", "--check-hash-based-pycs", "always", "x.py"}, "x.py"},
        {{"-c"}, "python -c"},
        {{"-m", "x"}, "python -m"},
        {{"/usr/bin/pytest"}, "pytest"},
        {{"python3", "/usr/bin/pytest", "-k", "x"}, "pytest"},
        {{"/home/u/snake", "app.py"}, "app.py"},
        {{"python_tool.py", "x.py"}, "python_tool.py"},
        {{"python3", "-u", "-"}, "python"},
        {{"python3", "-i"}, "python"},
        {{"python3"}, "python"},
        {{""}, "python"},
        {{NULL}, "python"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_process process = {.arguments = rows[i].words,
                                        .executable = "/opt/bin/snake"};
        struct cunei_buffer text = {0};
        while (rows[i].words[process.argument_count])
            process.argument_count++;
        cunei_format_program(&text, &process);
        check(&text, rows[i].name);
    }
}

static void the_code_of_a_module_has_its_name(void **state)
{
    (void)state;
    static const struct {
        char *module, *qualname;
        const char *name;
    } rows[] = {
        {"json.decoder", "<module>", "<module json.decoder>"},
        {"__main__", "<module>", "<module>"},
        {"", "<module>", "<module>"},
        {"json.decoder", "JSONDecoder.decode", "JSONDecoder.decode"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cunei_function function = {.module = rows[i].module,
                                                .qualname = rows[i].qualname};
        struct cunei_buffer text = {0};
        cunei_format_function(&text, &function);
        check(&text, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_stand_in_groups_of_three),
        cmocka_unit_test(durations_have_three_digits_and_a_unit),
        cmocka_unit_test(texts_are_shortened_in_their_middle),
        cmocka_unit_test(paths_lose_directories_and_keep_their_names),
        cmocka_unit_test(paths_show_what_their_names_need),
        cmocka_unit_test(bytes_that_are_no_text_take_a_column_each),
        cmocka_unit_test(files_are_shown_from_where_they_are_known),
        cmocka_unit_test(the_script_is_found_among_the_words_of_a_python),
        cmocka_unit_test(a_program_is_called_what_its_user_calls_it),
        cmocka_unit_test(the_code_of_a_module_has_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
