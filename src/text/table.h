// SPDX-License-Identifier: MIT
/*
 * A table of text that fits the terminal.
 *
 *     struct cunei_table table;
 *     cunei_table_init(&table, columns, column_count);
 *     cunei_buffer_format(cunei_table_cell(&table, INK), "%d", 7);    (left to right)
 *     …
 *     cunei_table_print(&table, &style, out);
 *     cunei_table_fini(&table);
 *
 * Where it is too wide, columns go, those with the highest `rank` first; then texts are
 * shortened.  A column with nothing in it is left out.  Columns stand two spaces apart.
 */
#ifndef CUNEI_TEXT_TABLE_H
#define CUNEI_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buffer.h"
#include "text/style.h"

#define CUNEI_TABLE_COLUMNS_MAX 16u

struct cunei_cell;

struct cunei_column {
    const char *head;
    unsigned rank; /* 0: never left out */
    unsigned min;  /* the least width of a text; 0: a number, which is aligned right and
                      never shortened */
    bool is_path;  /* shortened by cunei_terminal_path, which keeps the file name */
};

/* Private. */
struct cunei_table {
    const struct cunei_column *columns; /* borrowed */
    size_t column_count;
    struct cunei_buffer text;
    struct cunei_cell *cells; /* owned */
    size_t cell_count, cell_capacity;
};

void cunei_table_init(struct cunei_table *table, const struct cunei_column *columns,
                      size_t column_count);
void cunei_table_fini(struct cunei_table *table);

/* Begin the next cell; its text is appended to the returned buffer. */
struct cunei_buffer *cunei_table_cell(struct cunei_table *table, enum cunei_ink ink);

/* The text so far is the lead of the cell: only the rest is shortened. */
void cunei_table_lead(struct cunei_table *table);

/* The text so far is more important than what follows, which is cut first. */
void cunei_table_tail(struct cunei_table *table);

/* Whether no cell was begun; a table that lacked memory for it is not empty. */
bool cunei_table_is_empty(const struct cunei_table *table);

/* -ENOMEM. */
int cunei_table_print(struct cunei_table *table, const struct cunei_style *style,
                      FILE *out);

#endif
