// SPDX-License-Identifier: MIT
#include "top/draw/draw.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "text/terminal_text.h"
#include "top/draw/draw_parts.h"

#define TAB_ROW       (CUNEI_TOP_HEADER_ROWS)
#define TAB_WIDTH_MAX 32
/* Screens this wide have room for the names of all panes, and for spaces between. */
#define TABS_CLOSE 74
#define TABS_WIDE  90
/* Of a message: its bytes, and the rows that it may take. */
#define MESSAGE_MAX      256
#define MESSAGE_ROWS_MAX 6

static const char *const pane_names[] = {
    [CUNEI_TOP_PANE_FUNCTIONS] = "Functions",
    [CUNEI_TOP_PANE_TREE] = "Tree",
    [CUNEI_TOP_PANE_STACKS] = "Stacks",
    [CUNEI_TOP_PANE_THREADS] = "Threads",
    [CUNEI_TOP_PANE_TASKS] = "Tasks",
    [CUNEI_TOP_PANE_EXCEPTIONS] = "Exceptions",
    [CUNEI_TOP_PANE_PROCESSES] = "Processes",
    [CUNEI_TOP_PANE_OUTPUT] = "Output",
};

/* What function keys do, as the last row shows it. */
static const char *const key_labels[] = {"Help", "Columns", "Search", "Filter", "Tree",
                                         "Sort", "Group",   "Whole",  "Save",   "Quit"};

#define KEY_COUNT (int)(sizeof(key_labels) / sizeof(key_labels[0]))

const char *cunei_top_block(double height)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int index = (int)(height * 8);

    return blocks[index < 0 ? 0 : index > 7 ? 7 : index];
}

static unsigned pane_count(const struct cunei_top_model *model)
{
    return CUNEI_TOP_PANE_COUNT - !model->view.has_output;
}

/* " 1 Functions  2 Tree …", " 1Functions 2Tree …" or " 1 2Tree 3 …", by width.  Returns
 * the width of the tab. */
static int format_tab(const struct cunei_top_model *model,
                      const struct cunei_grid *grid, unsigned pane,
                      char text[TAB_WIDTH_MAX])
{
    bool has_name = grid->column_count >= TABS_CLOSE || pane == model->view.pane;
    bool has_spaces = grid->column_count >= TABS_WIDE;
    const char *name = has_name ? pane_names[pane] : "";

    return has_spaces ? snprintf(text, TAB_WIDTH_MAX, " %u %s ", pane + 1, name)
                      : snprintf(text, TAB_WIDTH_MAX, " %u%s", pane + 1, name);
}

static void draw_tabs(const struct cunei_top_model *model, struct cunei_grid *grid)
{
    int column = 0;

    cunei_grid_fill(grid, TAB_ROW, CUNEI_TOP_INK_TAB);
    for (unsigned i = 0; i < pane_count(model); i++) {
        bool is_open = i == (unsigned)model->view.pane;
        char text[TAB_WIDTH_MAX];
        (void)format_tab(model, grid, i, text);
        column +=
            cunei_grid_put(grid, TAB_ROW, column, grid->column_count - column,
                           is_open ? CUNEI_TOP_INK_TAB_OPEN : CUNEI_TOP_INK_TAB, text);
    }
}

static int key_width(const struct cunei_grid *grid, int key)
{
    int room = grid->column_count / KEY_COUNT;
    int wanted = (int)strlen(key_labels[key]) + (key == 9 ? 3 : 2) + 1;

    return wanted < room || grid->column_count >= 90 ? wanted : room;
}

/* "1Help 2Columns …": the digits are those of the function keys. */
static void draw_keys(struct cunei_grid *grid, int row)
{
    int column = 0;

    for (int i = 0; i < KEY_COUNT; i++) {
        int width = key_width(grid, i);
        char number[8];
        (void)snprintf(number, sizeof(number), grid->column_count >= 90 ? "F%d" : "%d",
                       i + 1);
        int used = cunei_grid_put(grid, row, column, width, CUNEI_TOP_INK_KEY, number);
        for (int j = used; j < width; j++)
            (void)cunei_grid_put(grid, row, column + j, 1, CUNEI_TOP_INK_KEY_LABEL,
                                 " ");
        (void)cunei_grid_put(grid, row, column + used, width - used,
                             CUNEI_TOP_INK_KEY_LABEL, key_labels[i]);
        column += width;
    }
}

static void draw_prompt(const struct cunei_top_view *view, struct cunei_grid *grid,
                        int row)
{
    static const char *const questions[] = {
        [CUNEI_TOP_PROMPT_FILTER] = " Filter: ",
        [CUNEI_TOP_PROMPT_SEARCH] = " Search: ",
        [CUNEI_TOP_PROMPT_QUIT] =
            " Quitting ends the program. Quit? y: yes, any other key: no",
    };
    int column = cunei_grid_put(grid, row, 0, grid->column_count,
                                CUNEI_TOP_INK_KEY_LABEL, questions[view->prompt]);
    const char *typed = view->prompt == CUNEI_TOP_PROMPT_FILTER   ? view->filter
                        : view->prompt == CUNEI_TOP_PROMPT_SEARCH ? view->search
                                                                  : NULL;

    if (!typed)
        return;
    typed = cunei_terminal_tail(typed, (size_t)(grid->column_count - column - 2));
    column += cunei_grid_put(grid, row, column, grid->column_count - column,
                             CUNEI_TOP_INK_STRONG, typed);
    column += cunei_grid_put(grid, row, column, 1, CUNEI_TOP_INK_STRONG, "█") + 2;
    (void)cunei_grid_put(grid, row, column, grid->column_count - column,
                         CUNEI_TOP_INK_WARM, view->message);
}

/* How much of a text fits on a row of that width, up to the end of a word. */
static size_t count_fitting(const char *text, size_t width)
{
    char part[MESSAGE_MAX];
    size_t fitting = 0, size = 0;

    while (text[size]) {
        size += strspn(text + size, " ");
        size += strcspn(text + size, " ");
        (void)snprintf(part, sizeof(part), "%.*s", (int)size, text);
        if (cunei_terminal_width(part) > width)
            break;
        fitting = size;
    }
    return fitting > 0 ? fitting : size;
}

static void draw_line(struct cunei_grid *grid, int row, const char *text, size_t size)
{
    char line[MESSAGE_MAX];

    (void)snprintf(line, sizeof(line), "%.*s", (int)size, text);
    for (int column = 0; column < grid->column_count; column++)
        (void)cunei_grid_put(grid, row, column, 1, CUNEI_TOP_INK_PLAIN, " ");
    (void)cunei_grid_put(grid, row, 1, grid->column_count, CUNEI_TOP_INK_WARM, line);
}

/* In the last row, and in those above if it takes more. */
static void draw_message(const char *text, struct cunei_grid *grid)
{
    const char *lines[MESSAGE_ROWS_MAX + 1];
    int count = 0;

    for (const char *at = text + strspn(text, " "); *at && count < MESSAGE_ROWS_MAX;) {
        lines[count++] = at;
        at += count_fitting(at, (size_t)grid->column_count - 2);
        at += strspn(at, " ");
        lines[count] = at;
    }
    for (int i = 0; i < count; i++)
        draw_line(grid, grid->row_count - count + i, lines[i],
                  (size_t)(lines[i + 1] - lines[i]));
}

static void draw_foot(const struct cunei_top_model *model, struct cunei_grid *grid)
{
    const struct cunei_top_view *view = &model->view;
    int row = grid->row_count - 1;

    if (view->prompt != CUNEI_TOP_PROMPT_NONE)
        draw_prompt(view, grid, row);
    else if (view->message[0])
        draw_message(view->message, grid);
    else
        draw_keys(grid, row);
}

int cunei_top_draw_rows(struct cunei_top_model *model, struct cunei_top_table *table,
                        struct cunei_grid *grid, struct cunei_top_area area,
                        const char *absence)
{
    struct cunei_top_rows *rows = &model->rows;
    uint32_t room = area.height > 1 ? (uint32_t)area.height - 1 : 0;

    cunei_top_view_see(&model->view, rows->keys, rows->functions, rows->count, room);
    const struct cunei_top_cursor *cursor = cunei_top_view_cursor(&model->view);
    table->row_count = rows->count;
    table->first = cursor->first;
    table->selected = model->is_plain ? UINT32_MAX : cursor->row;
    model->first_row = area.row + 1;
    int rc = cunei_top_table_draw(table, grid, area.row, area.height);
    if (rc == 0 && rows->count == 0)
        (void)cunei_grid_put(grid, area.row + 1, 1, grid->column_count,
                             CUNEI_TOP_INK_DIM, absence);
    return rc;
}

static int draw_pane(struct cunei_top_model *model, struct cunei_grid *grid,
                     struct cunei_top_area area)
{
    static int (*const panes[])(struct cunei_top_model *, struct cunei_grid *,
                                struct cunei_top_area) = {
        [CUNEI_TOP_PANE_FUNCTIONS] = cunei_top_draw_functions,
        [CUNEI_TOP_PANE_TREE] = cunei_top_draw_tree,
        [CUNEI_TOP_PANE_STACKS] = cunei_top_draw_stacks,
        [CUNEI_TOP_PANE_THREADS] = cunei_top_draw_threads,
        [CUNEI_TOP_PANE_TASKS] = cunei_top_draw_tasks,
        [CUNEI_TOP_PANE_EXCEPTIONS] = cunei_top_draw_exceptions,
        [CUNEI_TOP_PANE_PROCESSES] = cunei_top_draw_processes,
        [CUNEI_TOP_PANE_OUTPUT] = cunei_top_draw_output,
    };

    cunei_top_rows_clear(&model->rows);
    if (model->view.overlay == CUNEI_TOP_OVERLAY_DETAIL)
        return cunei_top_draw_detail(model, grid, area);
    if (model->view.overlay == CUNEI_TOP_OVERLAY_HELP)
        cunei_top_draw_help(model, grid, area);
    else if (model->view.overlay != CUNEI_TOP_OVERLAY_NONE)
        cunei_top_draw_menu(model, grid, area);
    else
        return panes[model->view.pane](model, grid, area);
    return 0;
}

static void draw_too_small(struct cunei_grid *grid)
{
    (void)cunei_grid_put(grid, 0, 0, grid->column_count, CUNEI_TOP_INK_BAD,
                         "window too small, q: quit");
}

static struct cunei_top_area pane_area(const struct cunei_grid *grid)
{
    return (struct cunei_top_area){TAB_ROW + 1, grid->row_count - TAB_ROW - 2};
}

int cunei_top_draw(struct cunei_top_model *model, struct cunei_grid *grid)
{
    int rc =
        cunei_grid_resize(grid, grid->row_count, grid->column_count, grid->is_ascii);
    if (rc < 0)
        return rc;
    if (grid->row_count < CUNEI_TOP_ROWS_MIN ||
        grid->column_count < CUNEI_TOP_COLUMNS_MIN) {
        draw_too_small(grid);
        return 0;
    }
    cunei_top_draw_header(model, grid);
    draw_tabs(model, grid);
    rc = draw_pane(model, grid, pane_area(grid));
    draw_foot(model, grid);
    return rc;
}

int cunei_top_draw_plain(struct cunei_top_model *model, struct cunei_grid *grid,
                         int column_count, uint32_t rows, bool is_ascii)
{
    uint32_t shown = rows > 0 && rows < model->list.count ? rows : model->list.count;
    int height = (int)shown + (model->list.count == 0) + 1;

    int rc =
        cunei_grid_resize(grid, CUNEI_TOP_HEADER_ROWS + height, column_count, is_ascii);
    if (rc < 0)
        return rc;
    model->is_plain = true;
    cunei_top_rows_clear(&model->rows);
    cunei_top_draw_header(model, grid);
    return cunei_top_draw_functions(
        model, grid, (struct cunei_top_area){CUNEI_TOP_HEADER_ROWS, height});
}

/* A row for each thread, and for each function that is shown of it. */
static int count_open(const struct cunei_top_sums *sums)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sums->thread_count; i++)
        count += sums->threads[i].open_count + (sums->threads[i].open_count > 0);
    return (int)count;
}

int cunei_top_draw_plain_stacks(struct cunei_top_model *model, struct cunei_grid *grid,
                                int column_count, bool is_ascii)
{
    int count = count_open(&model->now);
    int height = (count > 0 ? count : 1) + 1;

    int rc = cunei_grid_resize(grid, height, column_count, is_ascii);
    if (rc < 0)
        return rc;
    model->is_plain = true;
    model->view.pane = CUNEI_TOP_PANE_STACKS;
    cunei_top_rows_clear(&model->rows);
    return cunei_top_draw_stacks(model, grid, (struct cunei_top_area){0, height});
}

static enum cunei_top_place find_tab(const struct cunei_top_model *model,
                                     const struct cunei_grid *grid, int column,
                                     uint32_t *index)
{
    for (unsigned i = 0; i < pane_count(model); i++) {
        char text[TAB_WIDTH_MAX];
        column -= format_tab(model, grid, i, text);
        *index = i;
        if (column < 0)
            return CUNEI_TOP_PLACE_TAB;
    }
    return CUNEI_TOP_PLACE_NOTHING;
}

static enum cunei_top_place find_key(const struct cunei_grid *grid, int column,
                                     uint32_t *index)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        column -= key_width(grid, i);
        *index = (uint32_t)i + 1;
        if (column < 0)
            return CUNEI_TOP_PLACE_KEY;
    }
    return CUNEI_TOP_PLACE_NOTHING;
}

static enum cunei_top_place find_head(const struct cunei_top_model *model, int column,
                                      uint32_t *index)
{
    for (uint32_t i = 0; i < cunei_top_column_count; i++) {
        int begin = model->heads[i].place, width = model->heads[i].width;
        *index = i;
        if (width > 0 && column >= begin && column < begin + width)
            return CUNEI_TOP_PLACE_COLUMN;
    }
    return CUNEI_TOP_PLACE_NOTHING;
}

enum cunei_top_place cunei_top_draw_find(const struct cunei_top_model *model,
                                         const struct cunei_grid *grid, int row,
                                         int column, uint32_t *index)
{
    const struct cunei_top_view *view = &model->view;
    struct cunei_top_area area = pane_area(grid);

    if (row == TAB_ROW)
        return find_tab(model, grid, column, index);
    if (row == grid->row_count - 1 && view->prompt == CUNEI_TOP_PROMPT_NONE)
        return find_key(grid, column, index);
    if (view->overlay == CUNEI_TOP_OVERLAY_HELP || row < area.row)
        return CUNEI_TOP_PLACE_NOTHING;
    if (row == area.row && view->overlay == CUNEI_TOP_OVERLAY_NONE &&
        view->pane == CUNEI_TOP_PANE_FUNCTIONS)
        return find_head(model, column, index);
    *index = (uint32_t)(row - model->first_row);
    return row > area.row && row >= model->first_row ? CUNEI_TOP_PLACE_ROW
                                                     : CUNEI_TOP_PLACE_NOTHING;
}
