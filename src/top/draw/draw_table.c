// SPDX-License-Identifier: MIT
#include "top/draw/draw_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "text/terminal_text.h"

#define MARGIN 1 /* columns before the first and after the last */
#define GAP    2 /* between columns */

struct cell {
    char *text; /* owned */
    enum cunei_top_ink ink;
};

/* The visible part of the table, made into texts. */
struct page {
    struct cunei_top_table *table;
    struct cell *cells; /* owned: row by row */
    uint32_t row_count;
    int wanted[CUNEI_TOP_TABLE_COLUMNS_MAX];
};

static struct cell *cell_of(const struct page *page, uint32_t row, size_t column)
{
    return &page->cells[row * page->table->column_count + column];
}

static int make_cell(struct page *page, uint32_t row, size_t column)
{
    struct cell *cell = cell_of(page, row, column);
    struct cunei_buffer text = {0};

    page->table->put(page->table->context, page->table->first + row, column, &text,
                     &cell->ink);
    cell->text = strdup(cunei_buffer_text(&text));
    bool failed = text.failed || !cell->text;
    cunei_buffer_fini(&text);
    if (failed)
        return -ENOMEM;
    int width = (int)cunei_terminal_width(cell->text);
    if (width > page->wanted[column])
        page->wanted[column] = width;
    return 0;
}

static int make_cells(struct page *page)
{
    const struct cunei_top_table *table = page->table;

    page->cells =
        calloc((size_t)page->row_count * table->column_count + 1, sizeof(*page->cells));
    if (!page->cells)
        return -ENOMEM;
    for (size_t i = 0; i < table->column_count; i++) {
        int head = (int)cunei_terminal_width(table->columns[i].head);
        page->wanted[i] =
            head > table->columns[i].width ? head : table->columns[i].width;
    }
    for (uint32_t row = 0; row < page->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            int rc = make_cell(page, row, i);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

static void free_cells(struct page *page)
{
    size_t count = (size_t)page->row_count * page->table->column_count;

    for (size_t i = 0; page->cells && i < count; i++)
        free(page->cells[i].text);
    free(page->cells);
}

/* A text can be shortened to its least width, a number cannot. */
static int least_width(const struct page *page, size_t column)
{
    const struct cunei_top_table_column *row = &page->table->columns[column];

    if (!row->is_text || page->wanted[column] < row->width)
        return page->wanted[column];
    return row->width;
}

static int sum_widths(const struct page *page)
{
    int sum = 2 * MARGIN - GAP;

    for (size_t i = 0; i < page->table->column_count; i++) {
        if (page->table->widths[i] > 0)
            sum += page->table->widths[i] + GAP;
    }
    return sum;
}

/* Drop the shown column with the highest rank; false: none may go. */
static bool drop_column(struct cunei_top_table *table)
{
    size_t found = table->column_count;

    for (size_t i = 0; i < table->column_count; i++) {
        bool may_go = table->widths[i] > 0 && table->columns[i].rank > 0;
        if (may_go && (found == table->column_count ||
                       table->columns[i].rank > table->columns[found].rank))
            found = i;
    }
    if (found == table->column_count)
        return false;
    table->widths[found] = 0;
    return true;
}

/* Give what is left to the texts, in turns, until each has what it wants. */
static void widen(struct page *page, int left)
{
    struct cunei_top_table *table = page->table;

    for (bool has_grown = true; has_grown && left > 0;) {
        has_grown = false;
        for (size_t i = 0; i < table->column_count && left > 0; i++) {
            if (table->widths[i] == 0 || table->widths[i] >= page->wanted[i])
                continue;
            table->widths[i]++;
            left--;
            has_grown = true;
        }
    }
}

static void fit(struct page *page, int width)
{
    struct cunei_top_table *table = page->table;
    int place = MARGIN;

    for (size_t i = 0; i < table->column_count; i++)
        table->widths[i] = least_width(page, i);
    while (sum_widths(page) > width && drop_column(table))
        ;
    widen(page, width - sum_widths(page));
    for (size_t i = 0; i < table->column_count; i++) {
        table->places[i] = place;
        place += table->widths[i] > 0 ? table->widths[i] + GAP : 0;
    }
}

static void draw_text(const struct cunei_top_table *table, struct cunei_grid *grid,
                      int row, size_t column, enum cunei_top_ink ink, const char *text)
{
    const struct cunei_top_table_column *described = &table->columns[column];
    int width = table->widths[column];
    struct cunei_buffer fitted = {0};

    if (width == 0)
        return;
    if (!described->is_text) {
        cunei_grid_put_right(grid, row, table->places[column], width, ink, text);
        return;
    }
    if (described->is_path)
        cunei_terminal_path(&fitted, text, (size_t)width);
    else
        cunei_terminal_text(&fitted, text, (size_t)width);
    (void)cunei_grid_put(grid, row, table->places[column], width, ink,
                         cunei_buffer_text(&fitted));
    cunei_buffer_fini(&fitted);
}

static void draw_head(const struct cunei_top_table *table, struct cunei_grid *grid,
                      int row)
{
    cunei_grid_fill(grid, row, CUNEI_TOP_INK_HEAD);
    for (size_t i = 0; i < table->column_count; i++)
        draw_text(table, grid, row, i,
                  (int)i == table->sorted ? CUNEI_TOP_INK_SORTED : CUNEI_TOP_INK_HEAD,
                  table->columns[i].head);
}

static void draw_row(const struct page *page, struct cunei_grid *grid, int row,
                     uint32_t index)
{
    const struct cunei_top_table *table = page->table;
    bool is_selected = table->first + index == table->selected;

    for (size_t i = 0; i < table->column_count; i++) {
        const struct cell *cell = cell_of(page, index, i);
        draw_text(table, grid, row, i, cell->ink, cell->text);
    }
    if (is_selected)
        cunei_grid_fill(grid, row, CUNEI_TOP_INK_SELECTED);
}

int cunei_top_table_draw(struct cunei_top_table *table, struct cunei_grid *grid,
                         int row, int height)
{
    uint32_t room = height > 1 ? (uint32_t)height - 1 : 0;
    uint32_t left =
        table->row_count > table->first ? table->row_count - table->first : 0;
    struct page page = {.table = table, .row_count = left < room ? left : room};

    int rc = make_cells(&page);
    if (rc == 0) {
        fit(&page, grid->column_count);
        draw_head(table, grid, row);
        for (uint32_t i = 0; i < page.row_count; i++)
            draw_row(&page, grid, row + 1 + (int)i, i);
    }
    free_cells(&page);
    return rc;
}
