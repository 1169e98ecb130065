// SPDX-License-Identifier: MIT
/* Corrects rounding, so that times add up to those of the report. */
#ifndef CUNEI_EXPORT_ROUNDING_H
#define CUNEI_EXPORT_ROUNDING_H

struct cunei_analysis;

/*
 * Ticks are rounded down to nanoseconds in each node.  What is missing of a function's
 * self time is added to its node with the most self time.  -ENOMEM.
 */
int cunei_rounding_correct_tree(struct cunei_analysis *analysis);

/* The same for self times and totals of the edges to its callers. */
int cunei_rounding_correct_edges(struct cunei_analysis *analysis);

#endif
