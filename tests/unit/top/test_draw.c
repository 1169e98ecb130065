// SPDX-License-Identifier: MIT
/* Whole screens, compared with tests/unit/top/expected; UPDATE_GOLDEN=1 rewrites. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/units.h"
#include "made_up.h"
#include "top/draw/draw.h"
#include "top/view/model.h"
#include "trace/process/exit_words.h"

#define S  CUNEI_NS_PER_S
#define MS CUNEI_NS_PER_MS

/* At second `n`: a server that parses, a thread that waits, names in other scripts. */
static void add_functions(struct made_up *made, uint64_t n)
{
    uint32_t serve = made_up_function(made, "app", "serve", "/home/ann/app.py", 3);
    uint32_t parse =
        made_up_function(made, "app", "Parser.parse", "/home/ann/app.py", 40);
    uint32_t token =
        made_up_function(made, "app", "Parser.token", "/home/ann/app.py", 90);
    uint32_t kanji =
        made_up_function(made, "app.日本", "検索する", "/home/ann/日本.py", 7);
    uint32_t wait =
        made_up_function(made, "threading", "Event.wait", "/usr/lib/threading.py", 600);
    uint32_t evil =
        made_up_function(made, "app", "f\033[31m\xe2\x80\xae", "/home/ann/a\nb.py", 1);

    made_up_calls(made, serve, 1, n * 100 * MS, n * S);
    made_up_calls(made, parse, n * 100, n * 200 * MS, n * 900 * MS);
    made_up_calls(made, token, n * 2000, n * 650 * MS, n * 650 * MS);
    made_up_calls(made, kanji, n * 3, n * 30 * MS, n * 30 * MS);
    made_up_calls(made, evil, n, n * 20 * MS, n * 20 * MS);
    made_up_calls(made, wait, n * 5, n * S, n * S);
    made->analysis.facts[kanji].estimate.demotions = 1;
    made_up_way(made, (uint32_t[]){serve}, 1, 1, n * 100 * MS, n * S);
    made_up_way(made, (uint32_t[]){serve, parse}, 2, n * 100, n * 200 * MS,
                n * 900 * MS);
    made_up_way(made, (uint32_t[]){serve, parse, token}, 3, n * 2000, n * 650 * MS,
                n * 650 * MS);
    made_up_way(made, (uint32_t[]){serve, parse, kanji}, 3, n * 3, n * 30 * MS,
                n * 30 * MS);
    made_up_way(made, (uint32_t[]){serve, parse, evil}, 3, n, n * 20 * MS, n * 20 * MS);
    made_up_way(made, (uint32_t[]){wait}, 1, n * 5, n * S, n * S);
    made_up_open(made_up_thread(made, "MainThread", n * S),
                 (uint32_t[]){serve, parse, token}, 3);
    made_up_open(made_up_thread(made, "worker-日本", n * S), (uint32_t[]){wait}, 1);
}

static void take_second(struct cunei_top_model *model, uint64_t n)
{
    struct cunei_top_sums sums = {.time_ns = MADE_UP_BEGIN_NS + n * S};
    struct made_up made;

    made_up_init(&made);
    add_functions(&made, n);
    made.analysis.lost = 12;
    made.analysis.overhead = (struct cunei_overhead){.floor_ns = (double)(n * 20 * MS)};
    assert_int_equal(cunei_top_sums_add(&sums, &model->known, &made.analysis), 0);
    sums.cpu_ns = n * 900 * MS;
    assert_int_equal(cunei_top_model_take(model, &sums), 0);
    made_up_fini(&made);
}

static void compare(const char *name, const char *text)
{
    char path[512], wanted[65536];

    (void)snprintf(path, sizeof(path), "%s/%s.txt", EXPECTED, name);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        (void)fputs(text, out);
        (void)fclose(out);
    }
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t size = fread(wanted, 1, sizeof(wanted) - 1, in);
    (void)fclose(in);
    wanted[size] = '\0';
    assert_string_equal(text, wanted);
}

static const struct screen {
    const char *name;
    int rows, columns;
    bool is_ascii;
    const char *keys;
} screens[] = {
    {"functions-80x24", 24, 80, false, ""},
    {"functions-132x43", 43, 132, false, "i"},
    {"functions-300x100", 100, 300, false, ""},
    {"functions-ascii", 24, 80, true, ""},
    {"functions-whole", 24, 100, false, "w"},
    {"filter", 24, 80, false, "\\pars"},
    {"by-class", 24, 100, false, "mmm"},
    {"in-a-class", 24, 100, false, "mmm\n"},
    {"tree-80x24", 24, 80, false, "t"},
    {"stacks", 24, 80, false, "3"},
    {"threads", 24, 100, false, "4"},
    {"tasks", 24, 80, false, "5"},
    {"exceptions", 24, 80, false, "6"},
    {"processes", 24, 100, false, "7"},
    {"detail-80x24", 24, 80, false, "\n"},
    {"detail-132x43", 43, 132, false, "j\n"},
    {"help", 24, 80, false, "?"},
    {"sort", 24, 80, false, "."},
    {"columns", 24, 80, false, "C"},
    {"small", 9, 40, false, "7"},
    {"too-small", 6, 30, false, ""},
};

static void draw(struct cunei_top_model *model, struct cunei_grid *grid)
{
    assert_int_equal(cunei_top_model_refresh(model), 0);
    assert_int_equal(cunei_top_draw(model, grid), 0);
}

static void check_screen(const struct screen *screen)
{
    struct cunei_grid grid = {.row_count = screen->rows,
                              .column_count = screen->columns,
                              .is_ascii = screen->is_ascii};
    struct cunei_top_model model;
    struct cunei_buffer text = {0};

    assert_int_equal(cunei_top_model_init(&model), 0);
    for (uint64_t n = 1; n <= 20; n++)
        take_second(&model, n);
    draw(&model, &grid);
    for (const char *key = screen->keys; *key; key++) {
        (void)cunei_top_view_key(&model.view, (unsigned char)*key);
        draw(&model, &grid);
    }
    cunei_grid_format(&grid, &text);
    compare(screen->name, cunei_buffer_text(&text));
    for (size_t i = 0; i < text.size; i++)
        assert_false(screen->is_ascii && (unsigned char)text.data[i] >= 0x80);
    cunei_buffer_fini(&text);
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

static void screens_are_as_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++)
        check_screen(&screens[i]);
}

static void an_empty_recording_has_a_screen(void **state)
{
    (void)state;
    struct cunei_grid grid = {.row_count = 24, .column_count = 80};
    struct cunei_top_model model;

    assert_int_equal(cunei_top_model_init(&model), 0);
    for (uint32_t pane = '1'; pane <= '8'; pane++) {
        (void)cunei_top_view_key(&model.view, pane);
        draw(&model, &grid);
        (void)cunei_top_view_key(&model.view, '\n');
        draw(&model, &grid);
    }
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

static void every_size_can_be_drawn(void **state)
{
    (void)state;
    struct cunei_grid grid = {0};
    struct cunei_top_model model;

    assert_int_equal(cunei_top_model_init(&model), 0);
    take_second(&model, 1);
    take_second(&model, 2);
    for (int rows = 1; rows < 40; rows++) {
        for (const char *key = "1\n?\033\033t345678.\033C\033"; *key; key++) {
            grid.row_count = rows;
            grid.column_count = 3 * rows + 1;
            (void)cunei_top_view_key(&model.view, (unsigned char)*key);
            draw(&model, &grid);
        }
    }
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

static void a_process_in_any_state_can_be_drawn(void **state)
{
    (void)state;
    struct cunei_grid grid = {.row_count = 24, .column_count = 100};
    struct cunei_top_model model;

    assert_int_equal(cunei_top_model_init(&model), 0);
    take_second(&model, 1);
    (void)cunei_top_view_key(&model.view, '7');
    for (int i = CUNEI_TRACE_ENDED; i <= CUNEI_TRACE_REPLACED; i++) {
        struct cunei_buffer text = {0};
        model.now.processes[0].state = (enum cunei_trace_state)i;
        draw(&model, &grid);
        cunei_grid_format(&grid, &text);
        assert_non_null(strstr(cunei_buffer_text(&text),
                               cunei_trace_state_word((enum cunei_trace_state)i)));
        cunei_buffer_fini(&text);
    }
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

static void a_frozen_order_stays_while_values_change(void **state)
{
    (void)state;
    struct cunei_grid grid = {.row_count = 24, .column_count = 80};
    struct cunei_top_model model;

    assert_int_equal(cunei_top_model_init(&model), 0);
    take_second(&model, 1);
    take_second(&model, 2);
    draw(&model, &grid);
    uint32_t first = model.list.entries[0].key, second = model.list.entries[1].key;
    (void)cunei_top_view_key(&model.view, 'f');
    draw(&model, &grid);
    (void)cunei_top_view_key(&model.view, 'I');
    draw(&model, &grid);

    assert_int_equal(model.list.entries[0].key, first);
    assert_int_equal(model.list.entries[1].key, second);
    (void)cunei_top_view_key(&model.view, 'f');
    draw(&model, &grid);
    assert_int_not_equal(model.list.entries[0].key, first);
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

static void a_click_finds_what_lies_there(void **state)
{
    (void)state;
    struct cunei_grid grid = {.row_count = 24, .column_count = 100};
    struct cunei_top_model model;
    uint32_t index = 0;

    assert_int_equal(cunei_top_model_init(&model), 0);
    take_second(&model, 1);
    draw(&model, &grid);

    assert_int_equal(cunei_top_draw_find(&model, &grid, 3, 15, &index),
                     CUNEI_TOP_PLACE_TAB);
    assert_int_equal(index, CUNEI_TOP_PANE_TREE);
    assert_int_equal(cunei_top_draw_find(&model, &grid, 4, 3, &index),
                     CUNEI_TOP_PLACE_COLUMN);
    assert_string_equal(cunei_top_columns[index].word, "self%");
    assert_int_equal(cunei_top_draw_find(&model, &grid, 7, 30, &index),
                     CUNEI_TOP_PLACE_ROW);
    assert_int_equal(index, 2);
    assert_int_equal(cunei_top_draw_find(&model, &grid, 23, 0, &index),
                     CUNEI_TOP_PLACE_KEY);
    assert_int_equal(index, 1);
    assert_int_equal(cunei_top_draw_find(&model, &grid, 1, 5, &index),
                     CUNEI_TOP_PLACE_NOTHING);
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

/* It took 1 µs of each second. */
static void take_quiet_second(struct cunei_top_model *model, uint64_t n)
{
    struct cunei_top_sums sums = {.time_ns = MADE_UP_BEGIN_NS + n * S};
    struct made_up made;

    made_up_init(&made);
    uint32_t quiet = made_up_function(&made, "app", "quiet", "/home/ann/app.py", 3);
    uint32_t busy = made_up_function(&made, "app", "busy", "/home/ann/app.py", 9);
    made_up_calls(&made, quiet, n, n * 1000, n * 1000);
    made_up_calls(&made, busy, 1, n * S, n * S);
    made_up_open(made_up_thread(&made, "MainThread", n * S), (uint32_t[]){busy}, 1);
    assert_int_equal(cunei_top_sums_add(&sums, &model->known, &made.analysis), 0);
    assert_int_equal(cunei_top_model_take(model, &sums), 0);
    made_up_fini(&made);
}

static void the_graph_of_nearly_nothing_is_empty(void **state)
{
    (void)state;
    struct cunei_grid grid = {.row_count = 24, .column_count = 80};
    struct cunei_top_model model;
    struct cunei_buffer text = {0};

    assert_int_equal(cunei_top_model_init(&model), 0);
    for (uint64_t n = 1; n <= 5; n++)
        take_quiet_second(&model, n);
    draw(&model, &grid);
    (void)cunei_top_view_key(&model.view, 'j');
    draw(&model, &grid);
    (void)cunei_top_view_key(&model.view, '\n');
    draw(&model, &grid);
    cunei_grid_format(&grid, &text);

    char *graph = strstr(cunei_buffer_text(&text), "self% in the last");
    assert_non_null(graph);
    *strstr(graph, "durations") = '\0';
    assert_non_null(strstr(graph, "0.1 %"));
    assert_null(strstr(graph, "█"));
    assert_null(strstr(graph, "▁"));
    cunei_buffer_fini(&text);
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

static void a_menu_and_the_callers_are_clicked(void **state)
{
    (void)state;
    struct cunei_grid grid = {.row_count = 24, .column_count = 100};
    struct cunei_top_model model;
    uint32_t index = 0;

    assert_int_equal(cunei_top_model_init(&model), 0);
    take_second(&model, 1);
    take_second(&model, 2);
    draw(&model, &grid);
    (void)cunei_top_view_key(&model.view, '.');
    draw(&model, &grid);
    assert_int_equal(cunei_top_draw_find(&model, &grid, 4, 9, &index),
                     CUNEI_TOP_PLACE_NOTHING);
    assert_int_equal(cunei_top_draw_find(&model, &grid, 8, 9, &index),
                     CUNEI_TOP_PLACE_ROW);
    cunei_top_view_click(&model.view, index);
    assert_string_equal(cunei_top_columns[model.view.sort].word, "calls/s");
    assert_int_equal(model.view.overlay, CUNEI_TOP_OVERLAY_NONE);

    draw(&model, &grid);
    (void)cunei_top_view_key(&model.view, '\n');
    draw(&model, &grid);
    assert_int_equal(cunei_top_draw_find(&model, &grid, model.first_row, 9, &index),
                     CUNEI_TOP_PLACE_ROW);
    assert_int_equal(index, 0);
    assert_int_equal(cunei_top_draw_find(&model, &grid, model.first_row - 1, 9, &index),
                     CUNEI_TOP_PLACE_NOTHING);
    cunei_grid_fini(&grid);
    cunei_top_model_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_are_as_expected),
        cmocka_unit_test(an_empty_recording_has_a_screen),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(a_process_in_any_state_can_be_drawn),
        cmocka_unit_test(a_frozen_order_stays_while_values_change),
        cmocka_unit_test(a_click_finds_what_lies_there),
        cmocka_unit_test(a_menu_and_the_callers_are_clicked),
        cmocka_unit_test(the_graph_of_nearly_nothing_is_empty),
    };

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
