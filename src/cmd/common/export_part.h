// SPDX-License-Identifier: MIT
/*
 * --from, --until, --thread, --process, --include, --exclude: the part of a trace that
 * is exported.
 *
 *     struct cunei_export_part part = CUNEI_EXPORT_PART_DEFAULTS;
 *     … {.kind = CUNEI_OPTION_TABLE, .table = cunei_export_part_options,
 *        .offset = offsetof(struct values, part)}, …
 *     status = cunei_export_part_settle(&part);
 *     … part.options …
 *     cunei_export_part_fini(&part);
 */
#ifndef CUNEI_CMD_COMMON_EXPORT_PART_H
#define CUNEI_CMD_COMMON_EXPORT_PART_H

#include "cmd/common/options.h"
#include "cmd/common/time_range.h"
#include "export/export.h"

struct cunei_export_part {
    struct cunei_export_options options; /* complete once settled */
    struct cunei_time_range_values window;
    struct cunei_option_list processes, threads; /* owned */
};

#define CUNEI_EXPORT_PART_DEFAULTS       \
    {                                    \
        .options = CUNEI_EXPORT_DEFAULTS \
    }

extern const struct cunei_option cunei_export_part_options[];

/* Returns as cunei_options_parse. */
int cunei_export_part_settle(struct cunei_export_part *part);
void cunei_export_part_fini(struct cunei_export_part *part);

#endif
