// SPDX-License-Identifier: MIT
/* Which functions of several runs are the same (analysis/comparison.h). */
#ifndef CUNEI_ANALYSIS_FUNCTION_MATCHING_H
#define CUNEI_ANALYSIS_FUNCTION_MATCHING_H

#include <stdint.h>

struct cunei_comparison;
struct cunei_function;

/*
 * The item that a run's function is, by what is in its very place: its number plus one.
 * 0: it is none of those; UINT32_MAX: no memory.
 */
uint32_t cunei_matching_find(struct cunei_comparison *comparison, unsigned side,
                             const struct cunei_function *function);

/* For one that was not found so, after all that were: the next one of its names, or a
 * new one. */
uint32_t cunei_matching_next(struct cunei_comparison *comparison, unsigned side,
                             const struct cunei_function *function);

/* By what cProfile calls it; `function` is NULL where only that is known. */
uint32_t cunei_matching_label(struct cunei_comparison *comparison,
                              const struct cunei_function *label,
                              const struct cunei_function *function);

#endif
