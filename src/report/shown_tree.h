// SPDX-License-Identifier: MIT
/* What a report shows of the call tree: without waiting, imports without the import
 * system, libraries in few rows. */
#ifndef CUNEI_REPORT_SHOWN_TREE_H
#define CUNEI_REPORT_SHOWN_TREE_H

#include <stdint.h>

struct cunei_buffer;
struct cunei_report;

/* Fill in `working`, `imports`, `project` and `tree` of the report.  -ENOMEM. */
int cunei_shown_tree_init(struct cunei_report *report);
void cunei_shown_tree_fini(struct cunei_report *report);

/* Append what the row of a node has of libraries: "[51 frames in click, asyncio]"; or
 * nothing. */
void cunei_shown_tree_put_run(const struct cunei_report *report, uint32_t node,
                              struct cunei_buffer *out);

#endif
