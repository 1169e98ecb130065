// SPDX-License-Identifier: MIT
/*
 * A table on a grid: a head, and the rows that fit below it.  Where it is too wide,
 * columns go, those with the highest `rank` first; then texts are shortened.
 */
#ifndef CUNEI_TOP_DRAW_DRAW_TABLE_H
#define CUNEI_TOP_DRAW_DRAW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/draw/grid.h"

struct cunei_buffer;

#define CUNEI_TOP_TABLE_COLUMNS_MAX 20u

struct cunei_top_table_column {
    const char *head;
    unsigned rank;
    int width;    /* at least */
    bool is_text; /* aligned left and shortened; else a number */
    bool is_path; /* shortened at its begin */
};

struct cunei_top_table {
    struct cunei_top_table_column columns[CUNEI_TOP_TABLE_COLUMNS_MAX];
    size_t column_count;
    int sorted; /* the column with the sorted head; -1: none */
    uint32_t row_count, first;
    uint32_t selected; /* UINT32_MAX: none */
    /* Append the text of a cell, and choose its ink. */
    void (*put)(const void *context, uint32_t row, size_t column,
                struct cunei_buffer *text, enum cunei_top_ink *ink);
    const void *context;
    /* Outputs: where each column was drawn; width 0: it was left out. */
    int places[CUNEI_TOP_TABLE_COLUMNS_MAX];
    int widths[CUNEI_TOP_TABLE_COLUMNS_MAX];
};

/* Draw it from `row` on, in `height` rows.  -ENOMEM. */
int cunei_top_table_draw(struct cunei_top_table *table, struct cunei_grid *grid,
                         int row, int height);

#endif
