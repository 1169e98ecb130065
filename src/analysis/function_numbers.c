// SPDX-License-Identifier: MIT
#include "analysis/function_numbers.h"

#include "analysis/analysis.h"

static uint64_t count_activations(const struct cunei_analysis_function *facts)
{
    return cunei_histogram_count(&facts->histogram) + facts->estimate.calls +
           facts->estimate.resumes;
}

bool cunei_function_has_mean(const struct cunei_analysis_function *facts)
{
    return count_activations(facts) > 0;
}

uint64_t cunei_function_mean_ns(const struct cunei_analysis_function *facts)
{
    uint64_t count = count_activations(facts);
    return count ? (facts->spent_ns + facts->estimate.total) / count : 0;
}

/* A bucket of the histogram can reach beyond the maximum, which is exact. */
uint64_t cunei_function_quantile_ns(const struct cunei_analysis_function *facts,
                                    double fraction)
{
    double count = (double)cunei_histogram_count(&facts->histogram);
    if (count * fraction > count - 1)
        return facts->max_ns;
    uint64_t ns = cunei_histogram_quantile(&facts->histogram, fraction);
    return ns < facts->max_ns ? ns : facts->max_ns;
}

/* A function can be demoted and have no sample: the program was killed before one. */
bool cunei_function_is_estimated(const struct cunei_analysis_function *facts)
{
    return facts->estimate.samples > 0 || facts->estimate.demotions > 0;
}

bool cunei_function_is_self_estimated(const struct cunei_analysis_function *facts)
{
    return cunei_function_is_estimated(facts) || facts->estimate.hidden > 0;
}
