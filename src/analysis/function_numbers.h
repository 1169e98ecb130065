// SPDX-License-Identifier: MIT
/* What follows from the numbers of one function. */
#ifndef CUNEI_ANALYSIS_FUNCTION_NUMBERS_H
#define CUNEI_ANALYSIS_FUNCTION_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_analysis_function;

/*
 * Mean and quantiles are of single activations, as the maximum: of those whose start
 * and end were recorded, each activation of a recursion by itself.  0 if there is none.
 * The mean also counts activations that a budget estimated.
 */
bool cunei_function_has_mean(const struct cunei_analysis_function *facts);
uint64_t cunei_function_mean_ns(const struct cunei_analysis_function *facts);
uint64_t cunei_function_quantile_ns(const struct cunei_analysis_function *facts,
                                    double fraction);

/* Whether a budget had all numbers of the function estimated, or its self time. */
bool cunei_function_is_estimated(const struct cunei_analysis_function *facts);
bool cunei_function_is_self_estimated(const struct cunei_analysis_function *facts);

#endif
