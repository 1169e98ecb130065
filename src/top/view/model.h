// SPDX-License-Identifier: MIT
/*
 * Everything that is shown: the sums of now and of before, what follows from them, and
 * the view.
 *
 *     struct cunei_top_model model;
 *     cunei_top_model_init(&model);
 *     cunei_top_model_take(&model, &sums);    (each interval)
 *     cunei_top_model_refresh(&model);        (also after a key)
 *     cunei_top_draw(&model, &grid);
 *     …
 *     cunei_top_model_fini(&model);
 */
#ifndef CUNEI_TOP_VIEW_MODEL_H
#define CUNEI_TOP_VIEW_MODEL_H

#include <stdbool.h>

#include "top/sums/history.h"
#include "top/sums/known.h"
#include "top/sums/rates.h"
#include "top/sums/sums.h"
#include "top/view/list.h"
#include "top/view/output.h"
#include "top/view/view.h"

/* Rows of a pane, filled in when it is drawn. */
struct cunei_top_rows {
    uint64_t *keys;      /* owned: what stays the same when a row moves */
    uint32_t *functions; /* owned: see struct cunei_top_view */
    uint32_t *items;     /* owned: what the row is about */
    uint32_t *levels;    /* owned: how far a name is indented */
    uint32_t count, capacity;
};

struct cunei_top_model {
    struct cunei_top_known known;
    struct cunei_top_sums before, now;
    bool has_before, has_now;
    struct cunei_top_rates recent; /* of the last interval … */
    struct cunei_top_rates whole;  /* … and since the start */
    struct cunei_top_history history;
    struct cunei_top_list list;
    struct cunei_top_view view;
    struct cunei_top_output output;
    struct cunei_top_rows rows;
    char *title;     /* owned; safe to print; NULL: the processes' */
    char state[120]; /* replaces that of the processes, if it is not empty */
    bool has_ended;  /* nothing more comes */
    bool is_plain;   /* drawn for a file: nothing is selected */
    int first_row;   /* of the screen: where the rows of what is shown begin */
    /* Where the heads of the functions' columns were drawn last, for the mouse. */
    struct {
        int place, width;
    } heads[CUNEI_TOP_COLUMNS_MAX];
};

/* -ENOMEM, from each. */
int cunei_top_model_init(struct cunei_top_model *model);
void cunei_top_model_fini(struct cunei_top_model *model);

/* The sums become the model's, which are now those of before. */
int cunei_top_model_take(struct cunei_top_model *model, struct cunei_top_sums *sums);

/* Make the list of functions that the view asks for. */
int cunei_top_model_refresh(struct cunei_top_model *model);

/* Those that the view asks for: of the last interval, or of the whole. */
const struct cunei_top_rates *cunei_top_model_rates(
    const struct cunei_top_model *model);
/* The sums that they begin with; NULL: they begin with nothing. */
const struct cunei_top_sums *cunei_top_model_before(
    const struct cunei_top_model *model);

/* Begin rows anew, and add one.  -ENOMEM. */
void cunei_top_rows_clear(struct cunei_top_rows *rows);
int cunei_top_rows_add(struct cunei_top_rows *rows, uint64_t key, uint32_t function,
                       uint32_t item, uint32_t level);

#endif
