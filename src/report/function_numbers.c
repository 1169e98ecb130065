// SPDX-License-Identifier: MIT
#include "report/function_numbers.h"

#include "analysis/analysis.h"

uint64_t cunei_function_mean_ns(const struct cunei_analysis_function *facts)
{
    uint64_t count = facts->calls + facts->resumes;
    return count ? facts->total_ns / count : 0;
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
