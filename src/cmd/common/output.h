// SPDX-License-Identifier: MIT
/*
 * Where a command's output goes: a terminal, a pager on a terminal, or neither.
 *
 *     struct cunei_output output;
 *     cunei_output_open(&output, stdout, SIZE_MAX);
 *     … print to output.out, as output.style allows …
 *     return cunei_output_close(&output);
 *
 * A pager is started where the output is a terminal that it does not fit on:
 * $CUNEI_PAGER, $PAGER or less, with options to exit at once when all fits on the
 * screen.
 */
#ifndef CUNEI_CMD_COMMON_OUTPUT_H
#define CUNEI_CMD_COMMON_OUTPUT_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "text/style.h"

struct cunei_output {
    FILE *out;
    struct cunei_style style;
    pid_t pager; /* private; 0: none */
};

/* What a file can show: size and colour. */
struct cunei_style cunei_output_style(FILE *file);

/* `line_count` lines will come; SIZE_MAX: unknown. */
void cunei_output_open(struct cunei_output *output, FILE *file, size_t line_count);

/* Wait for the pager.  Negative errno: not all was written. */
int cunei_output_close(struct cunei_output *output);

#endif
