// SPDX-License-Identifier: MIT
#include "top/draw/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/text.h"
#include "text/terminal_text.h"

int cunei_grid_resize(struct cunei_grid *grid, int row_count, int column_count,
                      bool is_ascii)
{
    size_t count = (size_t)row_count * (size_t)column_count;
    struct cunei_cell *cells = calloc(count + 1, sizeof(*cells));

    if (!cells)
        return -ENOMEM;
    free(grid->cells);
    *grid = (struct cunei_grid){cells, row_count, column_count, is_ascii};
    for (size_t i = 0; i < count; i++)
        cells[i].text[0] = ' ';
    return 0;
}

void cunei_grid_fini(struct cunei_grid *grid)
{
    free(grid->cells);
    *grid = (struct cunei_grid){0};
}

struct cunei_cell *cunei_grid_cell(const struct cunei_grid *grid, int row, int column)
{
    return &grid->cells[(size_t)row * (size_t)grid->column_count + (size_t)column];
}

/* What stands for a character of ours where there is only ASCII. */
static char ascii_of(uint32_t character)
{
    static const struct {
        wchar_t from;
        char to;
    } table[] = {
        {L'│', '|'}, {L'─', '-'}, {L'·', '-'}, {L'≈', '~'}, {L'…', '~'}, {L'▸', '+'},
        {L'▾', '-'}, {L'µ', 'u'}, {L'–', '-'}, {L'▁', '.'}, {L'▂', '.'}, {L'▃', ':'},
        {L'▄', '-'}, {L'▅', '='}, {L'▆', '+'}, {L'▇', '*'}, {L'█', '#'}, {L'▏', ' '},
        {L'▎', ' '}, {L'▍', '-'}, {L'▌', '-'}, {L'▋', '='}, {L'▊', '='}, {L'▉', '#'},
        {L'├', '|'}, {L'└', '`'}, {L'×', 'x'}, {L'≥', '>'}, {L'▼', 'v'}, {L'▲', '^'},
        {L'→', '>'}, {L'←', '<'}, {L'●', '*'}, {L'↑', '^'}, {L'↓', 'v'},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if ((uint32_t)table[i].from == character)
            return table[i].to;
    }
    return '?';
}

/* A character that the locale does not know takes one column. */
static int width_of(uint32_t character)
{
    int width = character < 0x7f ? 1 : wcwidth((wchar_t)character);
    return width < 0 ? 1 : width;
}

/* Add a combining character to the cell that ends before `column`. */
static void join(struct cunei_grid *grid, int row, int column, const char *text,
                 size_t size)
{
    while (column > 0 && cunei_grid_cell(grid, row, column - 1)->text[0] == '\0')
        column--;
    if (column == 0)
        return;
    char *cell = cunei_grid_cell(grid, row, column - 1)->text;
    size_t used = strlen(cell);
    if (used + size < CUNEI_GRID_TEXT_MAX) {
        memcpy(cell + used, text, size);
        cell[used + size] = '\0';
    }
}

/* A wide character of which one half is drawn over is gone. */
static void clear_half(struct cunei_grid *grid, int row, int column)
{
    if (column < grid->column_count &&
        cunei_grid_cell(grid, row, column)->text[0] == '\0')
        memcpy(cunei_grid_cell(grid, row, column)->text, " ", 2);
}

static void set_cell(struct cunei_grid *grid, int row, int column, int width,
                     enum cunei_top_ink ink, const char *text, size_t size)
{
    for (int i = 0; i < width; i++) {
        struct cunei_cell *cell = cunei_grid_cell(grid, row, column + i);
        *cell = (struct cunei_cell){.ink = (uint8_t)ink};
        if (i == 0)
            memcpy(cell->text, text, size);
    }
    clear_half(grid, row, column + width);
}

/* In place of a character, as wide as that. */
static void set_ascii(struct cunei_grid *grid, int row, int column, int width,
                      enum cunei_top_ink ink, char character)
{
    for (int i = 0; i < width; i++)
        set_cell(grid, row, column + i, 1, ink, &character, 1);
}

int cunei_grid_put(struct cunei_grid *grid, int row, int column, int width,
                   enum cunei_top_ink ink, const char *text)
{
    int used = 0;

    if (row < 0 || row >= grid->row_count || column < 0)
        return 0;
    if (width > grid->column_count - column)
        width = grid->column_count - column;
    for (size_t size = 0; *text; text += size) {
        uint32_t character = 0;
        size = cunei_text_decode(text, strnlen(text, 4), &character);
        bool is_bad = size == 0;
        size += is_bad;
        int columns = is_bad ? 1 : width_of(character);
        if (used + columns > width)
            break;
        if (columns == 0 && !grid->is_ascii)
            join(grid, row, column + used, text, size);
        else if (is_bad)
            set_cell(grid, row, column + used, 1, ink, "?", 1);
        else if (character > 0x7e && grid->is_ascii)
            set_ascii(grid, row, column + used, columns, ink, ascii_of(character));
        else if (columns > 0)
            set_cell(grid, row, column + used, columns, ink, text, size);
        used += columns;
    }
    return used;
}

void cunei_grid_put_right(struct cunei_grid *grid, int row, int column, int width,
                          enum cunei_top_ink ink, const char *text)
{
    int used = (int)cunei_terminal_width(text);
    int indent = used < width ? width - used : 0;

    (void)cunei_grid_put(grid, row, column + indent, width - indent, ink, text);
}

void cunei_grid_fill(struct cunei_grid *grid, int row, enum cunei_top_ink ink)
{
    for (int i = 0; row >= 0 && row < grid->row_count && i < grid->column_count; i++)
        cunei_grid_cell(grid, row, i)->ink = (uint8_t)ink;
}

void cunei_grid_format(const struct cunei_grid *grid, struct cunei_buffer *out)
{
    for (int row = 0; row < grid->row_count; row++) {
        int end = grid->column_count;
        while (end > 0 && strcmp(cunei_grid_cell(grid, row, end - 1)->text, " ") == 0)
            end--;
        for (int i = 0; i < end; i++)
            cunei_buffer_append_text(out, cunei_grid_cell(grid, row, i)->text);
        cunei_buffer_append_text(out, "\n");
    }
}
