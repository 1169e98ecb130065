// SPDX-License-Identifier: MIT
/*
 * --from and --until: a part of a trace's time.
 *
 *     {.kind = CUNEI_OPTION_TABLE, .table = cunei_time_range_options,
 *      .offset = offsetof(struct values, window)},
 */
#ifndef CUNEI_CMD_COMMON_TIME_RANGE_H
#define CUNEI_CMD_COMMON_TIME_RANGE_H

#include <stdint.h>

#include "cmd/common/options.h"

struct cunei_time_range_values {
    const char *from, *until;   /* as typed; NULL: not at all */
    uint64_t from_ns, until_ns; /* since the trace's first event; once settled */
};

extern const struct cunei_option cunei_time_range_options[];

/* Read what was typed; returns as cunei_options_parse. */
int cunei_time_range_settle(struct cunei_time_range_values *values);

#endif
