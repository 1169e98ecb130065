// SPDX-License-Identifier: MIT
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "view/format.h"
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
        {"f.<locals>.<genexpr>", 20, "f.<locals>.<genexpr>"},
        {"f.<locals>.g.<locals>.h", 20, "f…g…h"},
        {"first.<locals>.second", 12, "first…second"},
        {"first.<locals>.second", 11, "first…econd"},
        {"anything", 1, "…"},
        {"anything", 0, ""},
    };
    (void)setlocale(LC_CTYPE, "C.UTF-8");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_buffer text = {0};
        cunei_format_text(&text, rows[i].text, rows[i].width);
        check(&text, rows[i].shown);
    }
}

static void bytes_that_are_no_text_take_a_column_each(void **state)
{
    (void)state;

    assert_int_equal(cunei_format_width("\xff\xfe\xc3"), 3);
    assert_int_equal(cunei_format_width("\xf0\x9f\x98"), 3);
}

static void files_are_told_from_where_they_are_known(void **state)
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

static void a_program_is_called_what_its_user_calls_it(void **state)
{
    (void)state;
    static struct {
        char *words[6];
        const char *name;
    } rows[] = {
        {{"/home/u/app.py", "-x"}, "app.py"},
        {{"/usr/bin/python3", "-X", "dev", "app.py", "y"}, "app.py"},
        {{"python3.13", "-m", "http.server"}, "-m http.server"},
        {{"python3", "-c", "pass"}, "python -c"},
        {{"-c"}, "python -c"},
        {{"/usr/bin/pytest"}, "pytest"},
        {{"python3"}, "python3"},
        {{NULL}, "python"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cunei_process process = {.arguments = rows[i].words};
        struct cunei_buffer text = {0};
        while (rows[i].words[process.argument_count])
            process.argument_count++;
        cunei_format_program(&text, &process);
        check(&text, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_stand_in_groups_of_three),
        cmocka_unit_test(durations_have_three_digits_and_a_unit),
        cmocka_unit_test(texts_are_shortened_in_their_middle),
        cmocka_unit_test(bytes_that_are_no_text_take_a_column_each),
        cmocka_unit_test(files_are_told_from_where_they_are_known),
        cmocka_unit_test(a_program_is_called_what_its_user_calls_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
