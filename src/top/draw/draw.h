// SPDX-License-Identifier: MIT
/* Draws a model on a grid. */
#ifndef CUNEI_TOP_DRAW_DRAW_H
#define CUNEI_TOP_DRAW_DRAW_H

#include "top/draw/grid.h"
#include "top/view/model.h"

/* The least that it can be drawn on. */
#define CUNEI_TOP_ROWS_MIN    8
#define CUNEI_TOP_COLUMNS_MIN 40

/* The whole screen.  The grid has its size; it is emptied first.  -ENOMEM. */
int cunei_top_draw(struct cunei_top_model *model, struct cunei_grid *grid);

/* Header and table of functions as lines, for a file or a pipe: `rows` rows of the
 * table, or all.  -ENOMEM. */
int cunei_top_draw_plain(struct cunei_top_model *model, struct cunei_grid *grid,
                         int column_count, uint32_t rows, bool is_ascii);

/* The open functions of all threads, in the same way. */
int cunei_top_draw_plain_stacks(struct cunei_top_model *model, struct cunei_grid *grid,
                                int column_count, bool is_ascii);

/* What lies at a place of the screen that was drawn last. */
enum cunei_top_place {
    CUNEI_TOP_PLACE_NOTHING,
    CUNEI_TOP_PLACE_ROW,    /* `*index`: its offset from the first row */
    CUNEI_TOP_PLACE_TAB,    /* the pane */
    CUNEI_TOP_PLACE_COLUMN, /* the column of the table of functions */
    CUNEI_TOP_PLACE_KEY,    /* the number of a function key */
};

enum cunei_top_place cunei_top_draw_find(const struct cunei_top_model *model,
                                         const struct cunei_grid *grid, int row,
                                         int column, uint32_t *index);

#endif
