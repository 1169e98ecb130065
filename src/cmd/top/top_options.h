// SPDX-License-Identifier: MIT
/* What was asked of `cunei top`. */
#ifndef CUNEI_CMD_TOP_TOP_OPTIONS_H
#define CUNEI_CMD_TOP_TOP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/options.h"
#include "cmd/record/record_options.h"
#include "top/view/view.h"

struct cunei_top_options {
    uint64_t interval_ns;
    uint64_t batch; /* samples to print; 0, once settled: a screen */
    uint64_t limit; /* rows of a table that is printed; 0: all */
    const char *sort, *columns, *search;
    int group; /* enum cunei_top_group */
    bool once, json, reverse, idle, whole, ascii;
    bool post_mortem, replay;
    const char *speed_text;
    double speed;                          /* of a replay; once settled */
    struct cunei_record_options recording; /* of a program that is run */
};

/* Before the command line is parsed: no --batch was typed. */
#define CUNEI_TOP_NO_BATCH UINT64_MAX

extern const struct cunei_option cunei_top_option_rows[];

/* Check what was typed; it becomes the view to begin with.  As cunei_options_parse. */
int cunei_top_options_settle(struct cunei_top_options *options,
                             struct cunei_top_view *view);

#endif
