// SPDX-License-Identifier: MIT
/* Help, menus, and what the program printed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "text/terminal_text.h"
#include "top/draw/draw_parts.h"
#include "top/view/view_keys.h"

#define KEY_WIDTH 12

void cunei_top_draw_help(struct cunei_top_model *model, struct cunei_grid *grid,
                         struct cunei_top_area area)
{
    struct cunei_top_view *view = &model->view;
    size_t count = 0;
    const char *help;

    while (cunei_top_view_binding(count, &help))
        count++;
    uint32_t most = count > (size_t)area.height - 1
                        ? (uint32_t)count - (uint32_t)area.height + 1
                        : 0;
    if (view->help_row > most)
        view->help_row = most;
    cunei_grid_fill(grid, area.row, CUNEI_TOP_INK_HEAD);
    (void)cunei_grid_put(grid, area.row, 1, grid->column_count, CUNEI_TOP_INK_HEAD,
                         "Keys (any other key closes this help)");
    for (int i = 1; i < area.height; i++) {
        const char *keys =
            cunei_top_view_binding(view->help_row + (size_t)i - 1, &help);
        if (!keys)
            break;
        cunei_grid_put_right(grid, area.row + i, 1, KEY_WIDTH, CUNEI_TOP_INK_STRONG,
                             keys);
        (void)cunei_grid_put(grid, area.row + i, KEY_WIDTH + 3, grid->column_count,
                             CUNEI_TOP_INK_PLAIN, help);
    }
}

static void draw_menu_row(const struct cunei_top_view *view, struct cunei_grid *grid,
                          int row, int index)
{
    const struct cunei_top_column *column = &cunei_top_columns[view->columns[index]];
    bool is_shown = view->is_column_shown[view->columns[index]];
    bool is_sorted = view->columns[index] == view->sort;
    const char *mark = view->overlay == CUNEI_TOP_OVERLAY_COLUMNS
                           ? is_shown ? "[x]" : "[ ]"
                       : is_sorted ? view->is_reversed ? "▲" : "▼"
                                   : "";

    (void)cunei_grid_put(grid, row, 1, 4, CUNEI_TOP_INK_GOOD, mark);
    (void)cunei_grid_put(grid, row, 5, 12, CUNEI_TOP_INK_STRONG, column->word);
    (void)cunei_grid_put(grid, row, 18, grid->column_count, CUNEI_TOP_INK_PLAIN,
                         column->help);
    if (index == view->menu_row)
        cunei_grid_fill(grid, row, CUNEI_TOP_INK_SELECTED);
}

void cunei_top_draw_menu(struct cunei_top_model *model, struct cunei_grid *grid,
                         struct cunei_top_area area)
{
    const struct cunei_top_view *view = &model->view;
    int room = area.height - 1;
    int first = view->menu_row >= room ? view->menu_row - room + 1 : 0;

    model->first_row = area.row + 1 - first;

    cunei_grid_fill(grid, area.row, CUNEI_TOP_INK_HEAD);
    (void)cunei_grid_put(grid, area.row, 1, grid->column_count, CUNEI_TOP_INK_HEAD,
                         view->overlay == CUNEI_TOP_OVERLAY_SORT
                             ? "Sort by (Enter chooses, again reverses)"
                             : "Columns (Space shows or hides, ← → move, Esc closes)");
    for (int i = 0; i < room && first + i < (int)cunei_top_column_count; i++)
        draw_menu_row(view, grid, area.row + 1 + i, first + i);
}

/* Lines are wrapped at the edge of the screen, as a terminal does. */
static int add_lines(struct cunei_top_rows *rows, const char *text, int width)
{
    int rc = 0;

    for (size_t at = 0; rc == 0 && text[at];) {
        size_t size = strcspn(text + at, "\n");
        size_t begin = at, end = at + size;
        do {
            char line[4096];
            size_t part =
                end - begin < sizeof(line) - 1 ? end - begin : sizeof(line) - 1;
            memcpy(line, text + begin, part);
            line[part] = '\0';
            /* Cut bytes until the rest fits: lines are short. */
            while (part > 0 && ((int)cunei_terminal_width(line) > width ||
                                ((unsigned char)text[begin + part] & 0xc0) == 0x80))
                line[--part] = '\0';
            if (part == 0 && end > begin)
                part = 1;
            rc = cunei_top_rows_add(rows, begin, UINT32_MAX, (uint32_t)begin,
                                    (uint32_t)part);
            begin += part;
        } while (rc == 0 && begin < end);
        at = end + (text[end] == '\n');
    }
    return rc;
}

int cunei_top_draw_output(struct cunei_top_model *model, struct cunei_grid *grid,
                          struct cunei_top_area area)
{
    struct cunei_top_rows *rows = &model->rows;
    struct cunei_top_cursor *cursor = &model->view.cursors[CUNEI_TOP_PANE_OUTPUT];
    struct cunei_buffer text = {0};
    uint32_t room = area.height > 1 ? (uint32_t)area.height - 1 : 0;

    model->first_row = area.row + 1;
    cunei_top_output_text(&model->output, &text);
    int rc = add_lines(rows, cunei_buffer_text(&text), grid->column_count - 2);
    /* Unless the user has moved, the end is shown: where the newest lines are. */
    bool is_at_end = !cursor->is_set;
    cunei_top_view_see(&model->view, rows->keys, rows->functions, rows->count, room);
    uint32_t first = cursor->first;
    if (is_at_end && rows->count > room) {
        first = rows->count - room;
        cursor->row = rows->count - 1;
    }
    cunei_grid_fill(grid, area.row, CUNEI_TOP_INK_HEAD);
    (void)cunei_grid_put(grid, area.row, 1, grid->column_count, CUNEI_TOP_INK_HEAD,
                         rows->count ? "What the program printed"
                                     : "The program has printed nothing so far");
    for (uint32_t i = 0; rc == 0 && i < room && first + i < rows->count; i++) {
        char line[4096];
        (void)snprintf(line, sizeof(line), "%.*s", (int)rows->levels[first + i],
                       cunei_buffer_text(&text) + rows->items[first + i]);
        (void)cunei_grid_put(grid, area.row + 1 + (int)i, 1, grid->column_count,
                             CUNEI_TOP_INK_PLAIN, line);
    }
    bool failed = text.failed;
    cunei_buffer_fini(&text);
    return failed ? -ENOMEM : rc;
}
