// SPDX-License-Identifier: MIT
/* Times of parts that add up to those of the report, to the nanosecond. */
#ifndef CUNEI_EXPORT_ROUNDING_H
#define CUNEI_EXPORT_ROUNDING_H

struct cunei_analysis;

/*
 * Ticks become nanoseconds in each node by itself, and lose up to one there: what is
 * missing of a function's self time goes to the node that has most of it.  -ENOMEM.
 */
int cunei_rounding_correct_tree(struct cunei_analysis *analysis);

/* The same for its callers: self times and totals. */
int cunei_rounding_correct_edges(struct cunei_analysis *analysis);

#endif
