// SPDX-License-Identifier: MIT
/* The columns of the table of functions: a column is one row of `cunei_top_columns`. */
#ifndef CUNEI_TOP_VIEW_COLUMNS_H
#define CUNEI_TOP_VIEW_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/sums/rates.h"
#include "top/sums/sums.h"

struct cunei_buffer;

#define CUNEI_TOP_COLUMNS_MAX 20u

/* A row of the table: a function, or a group of them. */
struct cunei_top_entry {
    uint32_t key;     /* number of the function, or of the group */
    const char *name; /* borrowed, as the next ones */
    const char *place;
    const struct cunei_top_function *sums;
    struct cunei_top_rate rate;
    bool is_group, waits, is_estimated, is_self_estimated;
};

struct cunei_top_column {
    const char *word; /* for --sort and --columns */
    const char *head;
    const char *help;
    unsigned rank;  /* a narrow screen drops the highest first; 0: never */
    int width;      /* at least */
    bool is_text;   /* aligned left, takes what is left of the width */
    bool is_hidden; /* unless it is asked for */
    bool is_heat;   /* coloured by the share of self time */
    /* What it is sorted by, the largest first; NULL: by its text. */
    double (*key)(const struct cunei_top_entry *entry,
                  const struct cunei_top_rates *rates);
    void (*put)(const struct cunei_top_entry *entry,
                const struct cunei_top_rates *rates, struct cunei_buffer *out);
};

extern const struct cunei_top_column cunei_top_columns[];
extern const size_t cunei_top_column_count;

/* The index of a column by its word, of which `size` bytes count; -1: there is none. */
int cunei_top_column_find(const char *word, size_t size);

/* Numbers with few digits: 999, 12.3k, 4.56M. */
void cunei_top_format_rate(struct cunei_buffer *out, double rate);

/* A bar of at most `width` columns for a share of 0 to 1. */
void cunei_top_put_bar(struct cunei_buffer *out, double share, int width);

#endif
