// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "top/view/view.h"

static struct cunei_top_view view;

static int set_up(void **state)
{
    (void)state;
    cunei_top_view_init(&view);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cunei_top_view_fini(&view);
    return 0;
}

static void type(const char *keys)
{
    for (; *keys; keys++)
        (void)cunei_top_view_key(&view, (unsigned char)*keys);
}

static void the_selection_stays_on_its_function(void **state)
{
    (void)state;
    const uint64_t first[] = {10, 20, 30, 40};
    const uint64_t later[] = {40, 30, 10, 20};
    const uint32_t functions[] = {10, 20, 30, 40};
    cunei_top_view_see(&view, first, functions, 4, 10);
    type("j");
    assert_int_equal(view.cursors[0].key, 20);

    cunei_top_view_see(&view, later, functions, 4, 10);

    assert_int_equal(view.cursors[0].row, 3);
    assert_int_equal(view.cursors[0].key, 20);
}

static void without_a_selection_the_first_row_is_selected(void **state)
{
    (void)state;
    const uint64_t first[] = {10, 20}, later[] = {20, 10};
    const uint32_t functions[] = {10, 20};
    cunei_top_view_see(&view, first, functions, 2, 10);

    cunei_top_view_see(&view, later, functions, 2, 10);

    assert_int_equal(view.cursors[0].row, 0);
    assert_int_equal(view.cursors[0].key, 20);
}

static void a_selection_that_is_gone_leaves_its_row(void **state)
{
    (void)state;
    const uint64_t first[] = {10, 20, 30}, later[] = {10, 30};
    const uint32_t functions[] = {10, 20, 30};
    cunei_top_view_see(&view, first, functions, 3, 10);
    type("j");

    cunei_top_view_see(&view, later, functions, 2, 10);

    assert_int_equal(view.cursors[0].row, 1);
    assert_int_equal(view.cursors[0].key, 30);
}

static void rows_scroll_no_more_than_they_must(void **state)
{
    (void)state;
    uint64_t keys[100];
    uint32_t functions[100];
    for (uint32_t i = 0; i < 100; i++)
        keys[i] = functions[i] = i;
    cunei_top_view_see(&view, keys, functions, 100, 10);
    type("jjjjjjjjjjj");
    cunei_top_view_see(&view, keys, functions, 100, 10);
    assert_int_equal(view.cursors[0].first, 2);

    type("G");
    cunei_top_view_see(&view, keys, functions, 100, 10);
    assert_int_equal(view.cursors[0].first, 90);

    type("k");
    cunei_top_view_see(&view, keys, functions, 100, 10);
    assert_int_equal(view.cursors[0].first, 90);
    assert_int_equal(view.cursors[0].row, 98);
}

static void a_filter_is_typed(void **state)
{
    (void)state;
    type("\\par");
    (void)cunei_top_view_key(&view, 0xe9);
    assert_string_equal(view.filter, "paré");

    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_BACKSPACE);
    assert_string_equal(view.filter, "par");
    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_ENTER);
    assert_int_equal(view.prompt, CUNEI_TOP_PROMPT_NONE);
    assert_string_equal(view.filter, "par");

    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_ESCAPE);
    assert_string_equal(view.filter, "");
}

static void a_filter_takes_no_control_characters(void **state)
{
    (void)state;
    type("\\a");
    (void)cunei_top_view_key(&view, 0x9b);
    (void)cunei_top_view_key(&view, 0x202e);
    type("b");

    assert_string_equal(view.filter, "ab");
}

static void columns_are_chosen_in_order(void **state)
{
    (void)state;
    size_t size = 0;

    assert_null(cunei_top_view_choose(&view, "calls,function,self%", &size));

    assert_string_equal(cunei_top_columns[view.columns[0]].word, "calls");
    assert_string_equal(cunei_top_columns[view.columns[1]].word, "function");
    assert_string_equal(cunei_top_columns[view.columns[2]].word, "self%");
    assert_false(view.is_column_shown[cunei_top_column_find("mean", 4)]);
}

static void an_unknown_column_is_named(void **state)
{
    (void)state;
    size_t size = 0;

    const char *word = cunei_top_view_choose(&view, "calls,nonsense,self", &size);

    assert_int_equal(size, strlen("nonsense"));
    assert_memory_equal(word, "nonsense", size);
    assert_true(view.is_column_shown[cunei_top_column_find("mean", 4)]);
}

static void columns_are_moved_and_hidden_in_the_menu(void **state)
{
    (void)state;
    int first = view.columns[0], second = view.columns[1];

    type("C");
    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_RIGHT);
    assert_int_equal(view.columns[0], second);
    assert_int_equal(view.columns[1], first);
    type(" ");
    assert_false(view.is_column_shown[first]);
    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_ESCAPE);
    assert_int_equal(view.overlay, CUNEI_TOP_OVERLAY_NONE);
}

static void sorting_moves_beside_shown_columns(void **state)
{
    (void)state;
    size_t size = 0;
    assert_null(cunei_top_view_choose(&view, "self%,calls,mean", &size));

    type(">");
    assert_string_equal(cunei_top_columns[view.sort].word, "calls");
    type("><");
    assert_string_equal(cunei_top_columns[view.sort].word, "calls");
    type("I");
    assert_true(view.is_reversed);
}

static void enter_opens_a_function_and_escape_leaves_it(void **state)
{
    (void)state;
    const uint64_t keys[] = {4, 5};
    const uint32_t functions[] = {4, 5};
    cunei_top_view_see(&view, keys, functions, 2, 10);
    type("j\n");
    assert_int_equal(view.overlay, CUNEI_TOP_OVERLAY_DETAIL);
    assert_int_equal(view.details[0], 5);

    /* Its only caller is 4. */
    cunei_top_view_see(&view, keys, functions, 1, 10);
    type("\n");
    assert_int_equal(view.detail_count, 2);
    assert_int_equal(view.details[1], 4);
    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_ESCAPE);
    assert_int_equal(view.detail_count, 1);
    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_ESCAPE);
    assert_int_equal(view.overlay, CUNEI_TOP_OVERLAY_NONE);
    assert_int_equal(view.cursors[0].key, 5);
}

static void enter_on_a_group_shows_its_functions(void **state)
{
    (void)state;
    const uint64_t keys[] = {0, 1};
    const uint32_t functions[] = {UINT32_MAX, UINT32_MAX};
    type("m");
    cunei_top_view_see(&view, keys, functions, 2, 10);
    type("j\n");
    assert_int_equal(view.within, 2);
    assert_int_equal(cunei_top_view_wish(&view).within, 2);

    (void)cunei_top_view_key(&view, CUNEI_TOP_KEY_ESCAPE);
    assert_int_equal(view.within, 0);
    assert_int_equal(view.cursors[0].key, 1);
    type("\nm");
    assert_int_equal(view.within, 0);
    assert_int_equal(view.group, CUNEI_TOP_GROUP_FILE);
}

static void the_help_scrolls_with_every_key_that_moves(void **state)
{
    (void)state;
    const uint32_t down[] = {'j', CUNEI_TOP_KEY_PAGE_DOWN, CUNEI_TOP_KEY_CONTROL('f'),
                             CUNEI_TOP_KEY_CONTROL('d')};
    const uint32_t up[] = {'k', CUNEI_TOP_KEY_PAGE_UP, CUNEI_TOP_KEY_CONTROL('b'),
                           CUNEI_TOP_KEY_CONTROL('u')};
    view.page = 5;
    type("?");
    for (size_t i = 0; i < sizeof(down) / sizeof(down[0]); i++) {
        uint32_t before = view.help_row;
        (void)cunei_top_view_key(&view, down[i]);
        assert_true(view.help_row > before);
        (void)cunei_top_view_key(&view, up[i]);
        assert_int_equal(view.help_row, before);
    }
    type("G");
    assert_true(view.help_row > 5);
    assert_int_equal(view.overlay, CUNEI_TOP_OVERLAY_HELP);
    type("g");
    assert_int_equal(view.help_row, 0);
    type("x");
    assert_int_equal(view.overlay, CUNEI_TOP_OVERLAY_NONE);
}

static void quitting_asks_if_it_would_end_the_program(void **state)
{
    (void)state;
    assert_int_equal(cunei_top_view_key(&view, 'q'), CUNEI_TOP_ACTION_QUIT);

    view.has_program = true;
    assert_int_equal(cunei_top_view_key(&view, 'q'), CUNEI_TOP_ACTION_NONE);
    assert_int_equal(cunei_top_view_key(&view, 'n'), CUNEI_TOP_ACTION_NONE);
    assert_int_equal(cunei_top_view_key(&view, 'q'), CUNEI_TOP_ACTION_NONE);
    assert_int_equal(cunei_top_view_key(&view, 'y'), CUNEI_TOP_ACTION_QUIT);
}

static void there_is_no_pane_of_output_without_a_program(void **state)
{
    (void)state;
    type("o");
    assert_int_equal(view.pane, CUNEI_TOP_PANE_FUNCTIONS);

    view.has_output = true;
    type("o");
    assert_int_equal(view.pane, CUNEI_TOP_PANE_OUTPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_selection_stays_on_its_function, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_a_selection_the_first_row_is_selected,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_selection_that_is_gone_leaves_its_row, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rows_scroll_no_more_than_they_must, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_filter_is_typed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_filter_takes_no_control_characters, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(columns_are_chosen_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_column_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_are_moved_and_hidden_in_the_menu,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(sorting_moves_beside_shown_columns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(enter_opens_a_function_and_escape_leaves_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(enter_on_a_group_shows_its_functions, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_help_scrolls_with_every_key_that_moves,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(quitting_asks_if_it_would_end_the_program,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_no_pane_of_output_without_a_program,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
