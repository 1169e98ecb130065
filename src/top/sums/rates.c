// SPDX-License-Identifier: MIT
#include "top/sums/rates.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/units.h"
#include "top/sums/sums.h"

uint64_t cunei_top_rates_since(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

double cunei_top_rates_per_second(const struct cunei_top_rates *rates, uint64_t count)
{
    return rates->seconds > 0 ? (double)count / rates->seconds : 0;
}

double cunei_top_rates_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static struct cunei_top_rate subtract(const struct cunei_top_function *now,
                                      const struct cunei_top_function *before)
{
    return (struct cunei_top_rate){
        .calls = cunei_top_rates_since(now->facts.calls, before->facts.calls),
        .resumes = cunei_top_rates_since(now->facts.resumes, before->facts.resumes),
        .raised = cunei_top_rates_since(now->facts.raised, before->facts.raised),
        .self_ns = cunei_top_rates_since(now->self_ns, before->self_ns),
        .total_ns = cunei_top_rates_since(now->total_ns, before->total_ns),
    };
}

/* What recording cost in the meantime, of the CPU time that was spent. */
static double cost_of(const struct cunei_top_rates *rates,
                      const struct cunei_overhead *before,
                      const struct cunei_overhead *now)
{
    const struct cunei_overhead overhead = {
        .floor_ns = now->floor_ns - before->floor_ns,
        .write_ns = now->write_ns - before->write_ns,
        .cpu_ns = (double)rates->cpu_ns,
    };

    if (overhead.floor_ns <= 0 || rates->cpu_ns == 0)
        return 0;
    double run_ns = cunei_overhead_run_ns(&overhead, CUNEI_OVERHEAD_USUAL);
    return cunei_overhead_cost_ns(&overhead, CUNEI_OVERHEAD_USUAL, run_ns);
}

/* As analysis/waiting.h: time in no function is not work, unless some were left out. */
static uint64_t work_of(const struct cunei_top_rates *rates,
                        const struct cunei_top_sums *before,
                        const struct cunei_top_sums *now)
{
    uint64_t self_ns = cunei_top_rates_since(now->self_ns, before->self_ns);
    bool is_all = now->is_filtered || self_ns > rates->threads_ns;

    return cunei_top_rates_since(is_all ? rates->threads_ns : self_ns,
                                 rates->waiting_ns);
}

static void subtract_whole(struct cunei_top_rates *rates,
                           const struct cunei_top_sums *before,
                           const struct cunei_top_sums *now)
{
    const struct cunei_analysis *one = &before->whole, *two = &now->whole;

    rates->threads_ns = cunei_top_rates_since(now->threads_ns, before->threads_ns);
    rates->waiting_ns = cunei_top_rates_since(now->waiting_ns, before->waiting_ns);
    rates->work_ns = work_of(rates, before, now);
    rates->events = cunei_top_rates_since(two->events, one->events);
    rates->calls = cunei_top_rates_since(two->calls, one->calls);
    rates->raised = cunei_top_rates_since(two->raised, one->raised);
    rates->lost = cunei_top_rates_since(two->lost, one->lost);
    rates->missed = cunei_top_rates_since(now->missed, before->missed);
    rates->cpu_ns = cunei_top_rates_since(now->cpu_ns, before->cpu_ns);
    rates->cost_ns = cost_of(rates, &one->overhead, &two->overhead);
}

/* Where sums end: now, or with the last event. */
static uint64_t end_of(const struct cunei_top_sums *sums)
{
    if (sums->is_past)
        return sums->time_ns;
    return sums->time_ns > sums->whole.end_ns ? sums->time_ns : sums->whole.end_ns;
}

int cunei_top_rates_make(struct cunei_top_rates *rates,
                         const struct cunei_top_sums *before,
                         const struct cunei_top_sums *now)
{
    static const struct cunei_top_sums nothing;
    static const struct cunei_top_function none;

    if (!before)
        before = &nothing;
    *rates = (struct cunei_top_rates){.function_count = now->function_count};
    rates->functions = calloc(now->function_count + 1u, sizeof(*rates->functions));
    if (!rates->functions)
        return -ENOMEM;
    for (uint32_t i = 0; i < now->function_count; i++)
        rates->functions[i] =
            subtract(&now->functions[i],
                     i < before->function_count ? &before->functions[i] : &none);
    subtract_whole(rates, before, now);
    uint64_t begin_ns = before == &nothing ? now->whole.begin_ns : end_of(before);
    rates->seconds =
        (double)cunei_top_rates_since(end_of(now), begin_ns) / (double)CUNEI_NS_PER_S;
    return 0;
}

void cunei_top_rates_fini(struct cunei_top_rates *rates)
{
    free(rates->functions);
    *rates = (struct cunei_top_rates){0};
}
