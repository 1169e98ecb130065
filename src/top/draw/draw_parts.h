// SPDX-License-Identifier: MIT
/* Parts of the screen: private to the files draw_….c. */
#ifndef CUNEI_TOP_DRAW_DRAW_PARTS_H
#define CUNEI_TOP_DRAW_DRAW_PARTS_H

#include "top/draw/draw_table.h"
#include "top/view/model.h"

struct cunei_buffer;

#define CUNEI_TOP_HEADER_ROWS 3

/* The rows of a pane. */
struct cunei_top_area {
    int row, height;
};

void cunei_top_draw_header(const struct cunei_top_model *model,
                           struct cunei_grid *grid);

/* -ENOMEM, from each. */
int cunei_top_draw_functions(struct cunei_top_model *model, struct cunei_grid *grid,
                             struct cunei_top_area area);
int cunei_top_draw_tree(struct cunei_top_model *model, struct cunei_grid *grid,
                        struct cunei_top_area area);
int cunei_top_draw_stacks(struct cunei_top_model *model, struct cunei_grid *grid,
                          struct cunei_top_area area);
int cunei_top_draw_threads(struct cunei_top_model *model, struct cunei_grid *grid,
                           struct cunei_top_area area);
int cunei_top_draw_tasks(struct cunei_top_model *model, struct cunei_grid *grid,
                         struct cunei_top_area area);
int cunei_top_draw_exceptions(struct cunei_top_model *model, struct cunei_grid *grid,
                              struct cunei_top_area area);
int cunei_top_draw_processes(struct cunei_top_model *model, struct cunei_grid *grid,
                             struct cunei_top_area area);
int cunei_top_draw_output(struct cunei_top_model *model, struct cunei_grid *grid,
                          struct cunei_top_area area);
int cunei_top_draw_detail(struct cunei_top_model *model, struct cunei_grid *grid,
                          struct cunei_top_area area);
void cunei_top_draw_help(struct cunei_top_model *model, struct cunei_grid *grid,
                         struct cunei_top_area area);
void cunei_top_draw_menu(struct cunei_top_model *model, struct cunei_grid *grid,
                         struct cunei_top_area area);

/* A table of the model's rows with its cursor; a sentence where it has none. */
int cunei_top_draw_rows(struct cunei_top_model *model, struct cunei_top_table *table,
                        struct cunei_grid *grid, struct cunei_top_area area,
                        const char *absence);

/* By what a row stands above others: the largest first. */
struct cunei_top_ranked {
    double first, second;
    uint32_t item;
    uint64_t key; /* of the row: the item, unless `rank` sets another */
};

/* Items of a pane that are ranked: those that `rank` returns true for are its rows. */
struct cunei_top_ranking {
    uint32_t count;
    bool (*rank)(const struct cunei_top_model *model, uint32_t item,
                 struct cunei_top_ranked *ranked);
    /* The function of which a row shows the details; NULL: of none. */
    uint32_t (*function)(const struct cunei_top_model *model, uint32_t item);
    const char *absence; /* a sentence where there is no row */
};

/* A table of these rows.  -ENOMEM. */
int cunei_top_draw_ranked(struct cunei_top_model *model, struct cunei_top_table *table,
                          const struct cunei_top_ranking *ranking,
                          struct cunei_grid *grid, struct cunei_top_area area);

/* Cells: how many a second; the pid, if there are several processes. */
void cunei_top_put_rate(const struct cunei_top_model *model, struct cunei_buffer *text,
                        uint64_t count);
void cunei_top_put_pid(const struct cunei_top_model *model, struct cunei_buffer *text,
                       uint32_t process);

/* One of the eight blocks, by height from 0 to 1. */
const char *cunei_top_block(double height);

/* The ink of a share of the work of all threads. */
enum cunei_top_ink cunei_top_heat(double share);

#endif
