// SPDX-License-Identifier: MIT
/*
 * A screen as cells of text with a style: what is drawn is known without a terminal.
 *
 *     struct cunei_grid grid = {0};
 *     cunei_grid_resize(&grid, rows, columns, is_ascii);
 *     cunei_grid_put(&grid, 0, 0, 20, CUNEI_TOP_INK_TITLE, "cunei top");
 *     …
 *     cunei_grid_fini(&grid);
 *
 * A wide character takes two cells, a combining one joins that before it.  Texts are
 * clipped.  Without UTF-8, what is not ASCII is replaced.
 */
#ifndef CUNEI_TOP_DRAW_GRID_H
#define CUNEI_TOP_DRAW_GRID_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_buffer;

#define CUNEI_GRID_TEXT_MAX 24u

enum cunei_top_ink {
    CUNEI_TOP_INK_PLAIN,
    CUNEI_TOP_INK_DIM,
    CUNEI_TOP_INK_STRONG, /* names */
    CUNEI_TOP_INK_HOT,    /* where the time goes */
    CUNEI_TOP_INK_WARM,
    CUNEI_TOP_INK_GOOD,
    CUNEI_TOP_INK_BAD, /* what was lost, or went wrong */
    CUNEI_TOP_INK_TITLE,
    CUNEI_TOP_INK_HEAD,   /* of a table */
    CUNEI_TOP_INK_SORTED, /* the head of the column by which it is sorted */
    CUNEI_TOP_INK_TAB,
    CUNEI_TOP_INK_TAB_OPEN,
    CUNEI_TOP_INK_KEY,       /* at the foot: a key … */
    CUNEI_TOP_INK_KEY_LABEL, /* … and what it does */
    CUNEI_TOP_INK_SELECTED,
    CUNEI_TOP_INK_GRAPH,
    CUNEI_TOP_INK_COUNT,
};

struct cunei_cell {
    char text[CUNEI_GRID_TEXT_MAX]; /* "": the second half of a wide character */
    uint8_t ink;
};

struct cunei_grid {
    struct cunei_cell *cells; /* owned: row by row */
    int row_count, column_count;
    bool is_ascii;
};

/* Empty it, in a new size.  -ENOMEM. */
int cunei_grid_resize(struct cunei_grid *grid, int row_count, int column_count,
                      bool is_ascii);
void cunei_grid_fini(struct cunei_grid *grid);

struct cunei_cell *cunei_grid_cell(const struct cunei_grid *grid, int row, int column);

/* Put a text that is safe to print; the columns that it took.  Nothing outside of the
 * grid is drawn. */
int cunei_grid_put(struct cunei_grid *grid, int row, int column, int width,
                   enum cunei_top_ink ink, const char *text);

/* The same, so that it ends where the width does. */
void cunei_grid_put_right(struct cunei_grid *grid, int row, int column, int width,
                          enum cunei_top_ink ink, const char *text);

/* Make all of a row one ink, the part after the last text included. */
void cunei_grid_fill(struct cunei_grid *grid, int row, enum cunei_top_ink ink);

/* Append the rows as lines, without the spaces at their ends. */
void cunei_grid_format(const struct cunei_grid *grid, struct cunei_buffer *out);

#endif
