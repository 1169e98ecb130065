// SPDX-License-Identifier: MIT
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "top/draw/grid.h"
#include "top/view/output.h"

static void check_line(bool is_ascii, int width, const char *text, int used,
                       const char *wanted)
{
    struct cunei_grid grid = {0};
    struct cunei_buffer line = {0};

    assert_int_equal(cunei_grid_resize(&grid, 1, 12, is_ascii), 0);
    assert_int_equal(cunei_grid_put(&grid, 0, 1, width, CUNEI_TOP_INK_PLAIN, text),
                     used);
    cunei_grid_format(&grid, &line);
    assert_string_equal(line.data, wanted);
    cunei_buffer_fini(&line);
    cunei_grid_fini(&grid);
}

static void texts_are_clipped(void **state)
{
    (void)state;
    check_line(false, 4, "abcdef", 4, " abcd\n");
    check_line(false, 100, "abcdefghijklmnop", 11, " abcdefghijk\n");
}

static void wide_characters_take_two_cells_and_are_never_cut(void **state)
{
    (void)state;
    check_line(false, 5, "漢字漢字", 4, " 漢字\n");
}

static void combining_characters_join_the_one_before(void **state)
{
    (void)state;
    check_line(false, 5, "e\xcc\x81x", 2, " e\xcc\x81x\n");
    check_line(false, 5, "漢\xcc\x81x", 3, " 漢\xcc\x81x\n");
    /* There is none before. */
    check_line(false, 5, "\xcc\x81x", 1, " \xcc\x81x\n");
}

static void many_combining_characters_do_not_overflow(void **state)
{
    (void)state;
    struct cunei_buffer text = {0};
    struct cunei_grid grid = {0};

    cunei_buffer_append_text(&text, "e");
    for (int i = 0; i < 500; i++)
        cunei_buffer_append_text(&text, "\xcc\x81");
    assert_int_equal(cunei_grid_resize(&grid, 1, 4, false), 0);
    assert_int_equal(cunei_grid_put(&grid, 0, 0, 4, CUNEI_TOP_INK_PLAIN, text.data), 1);
    cunei_buffer_fini(&text);
    cunei_grid_fini(&grid);
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    check_line(false, 5,
               "a\xff"
               "b",
               3, " a?b\n");
}

static void ascii_replaces_the_rest(void **state)
{
    (void)state;
    check_line(true, 11, "█▏ a…b é 漢", 11, " #  a~b ? ??\n");
}

static void drawing_over_half_of_a_wide_character_removes_it(void **state)
{
    (void)state;
    struct cunei_grid grid = {0};
    struct cunei_buffer line = {0};

    assert_int_equal(cunei_grid_resize(&grid, 1, 4, false), 0);
    (void)cunei_grid_put(&grid, 0, 0, 4, CUNEI_TOP_INK_PLAIN, "漢");
    (void)cunei_grid_put(&grid, 0, 0, 4, CUNEI_TOP_INK_PLAIN, "a");
    cunei_grid_format(&grid, &line);
    assert_string_equal(line.data, "a\n");
    cunei_buffer_fini(&line);
    cunei_grid_fini(&grid);
}

static void nothing_is_drawn_outside(void **state)
{
    (void)state;
    struct cunei_grid grid = {0};

    assert_int_equal(cunei_grid_resize(&grid, 2, 4, false), 0);
    assert_int_equal(cunei_grid_put(&grid, 2, 0, 4, CUNEI_TOP_INK_PLAIN, "x"), 0);
    assert_int_equal(cunei_grid_put(&grid, -1, 0, 4, CUNEI_TOP_INK_PLAIN, "x"), 0);
    assert_int_equal(cunei_grid_put(&grid, 0, 4, 4, CUNEI_TOP_INK_PLAIN, "x"), 0);
    cunei_grid_fini(&grid);
}

static void check_output(const char *printed, const char *wanted)
{
    struct cunei_top_output output = {0};
    struct cunei_buffer text = {0};

    for (const char *c = printed; *c; c++)
        assert_int_equal(cunei_top_output_add(&output, c, 1), 0);
    cunei_top_output_text(&output, &text);
    assert_string_equal(cunei_buffer_text(&text), wanted);
    cunei_buffer_fini(&text);
    cunei_top_output_fini(&output);
}

static void output_is_shown_without_escape_sequences(void **state)
{
    (void)state;
    check_output("one\r\n\033[1;31mtwo\033[0m\r\n", "one\ntwo\n");
    check_output("\033]0;title\atext", "text");
    check_output("a\tb\x01", "a    b\\x01");
}

static void a_progress_bar_is_one_line(void **state)
{
    (void)state;
    check_output("10 %\r20 %\rdone\n", "done\n");
    check_output("10 %\r", "10 %");
}

static void output_is_bounded(void **state)
{
    (void)state;
    struct cunei_top_output output = {0};
    struct cunei_buffer text = {0};

    for (uint32_t i = 0; i < CUNEI_TOP_OUTPUT_MAX / 4; i++)
        assert_int_equal(cunei_top_output_add(&output, "line\n", 5), 0);
    cunei_top_output_copy(&output, &text);
    assert_true(text.size <= CUNEI_TOP_OUTPUT_MAX);
    assert_true(text.size > CUNEI_TOP_OUTPUT_MAX - 10);
    assert_memory_equal(text.data, "line\n", 5); /* from the begin of a line on */
    cunei_buffer_fini(&text);
    cunei_top_output_fini(&output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_clipped),
        cmocka_unit_test(wide_characters_take_two_cells_and_are_never_cut),
        cmocka_unit_test(combining_characters_join_the_one_before),
        cmocka_unit_test(many_combining_characters_do_not_overflow),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(ascii_replaces_the_rest),
        cmocka_unit_test(drawing_over_half_of_a_wide_character_removes_it),
        cmocka_unit_test(nothing_is_drawn_outside),
        cmocka_unit_test(output_is_shown_without_escape_sequences),
        cmocka_unit_test(a_progress_bar_is_one_line),
        cmocka_unit_test(output_is_bounded),
    };

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
