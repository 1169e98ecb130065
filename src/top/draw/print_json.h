// SPDX-License-Identifier: MIT
/* A moment of a recording as one line of JSON: the fields of a report, and rates. */
#ifndef CUNEI_TOP_DRAW_PRINT_JSON_H
#define CUNEI_TOP_DRAW_PRINT_JSON_H

#include <stdio.h>

struct cunei_analysis;
struct cunei_top_model;

/* `analysis` is what the model's latest sums were made of.  -ENOMEM. */
int cunei_top_print_json(struct cunei_top_model *model,
                         const struct cunei_analysis *analysis, const char *trace,
                         FILE *out);

#endif
