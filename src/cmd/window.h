// SPDX-License-Identifier: MIT
/*
 * --from and --until: a part of a trace's time.
 *
 *     {.kind = CUNEI_OPTION_TABLE, .table = cunei_window_options,
 *      .offset = offsetof(struct values, window)},
 */
#ifndef CUNEI_CMD_WINDOW_H
#define CUNEI_CMD_WINDOW_H

#include <stdint.h>

#include "cmd/options.h"

struct cunei_window_values {
    const char *from, *until;   /* as typed; NULL: not at all */
    uint64_t from_ns, until_ns; /* since the trace's first event; once settled */
};

extern const struct cunei_option cunei_window_options[];

/* Read what was typed; returns as cunei_options_parse. */
int cunei_window_settle(struct cunei_window_values *values);

#endif
