// SPDX-License-Identifier: MIT
#include "analysis/process_cost.h"

/* What recording a process cost, in units of an event, by what it was spent on. */
static void count_units(const struct cunei_profile *profile, uint64_t events,
                        double *units)
{
    const struct cunei_budget_estimate *guesses = profile->guesses.items;
    double rest = (double)events;

    for (uint32_t slot = 1; slot < profile->slot_count; slot++) {
        const struct cunei_facts *facts = &profile->functions[slot];
        uint64_t entries = facts->calls + facts->resumes;
        if (entries == 0)
            continue;
        units[CUNEI_COST_SIGHTS] += CUNEI_OVERHEAD_SIGHT;
        units[CUNEI_COST_RAISED] += CUNEI_OVERHEAD_RAISE * (double)facts->raised;
        if (guesses && guesses[slot].demotions > 0) {
            units[CUNEI_COST_DEMOTED] += 2 * (double)entries;
            rest -= 2 * (double)entries;
        }
    }
    for (uint32_t i = 0; i < profile->exceptions.count; i++) {
        double count = (double)profile->exceptions.items[i].count;
        units[CUNEI_COST_RAISED] += (CUNEI_OVERHEAD_RAISE + 1) * count;
        rest -= count;
    }
    units[CUNEI_COST_KEPT] += rest;
}

void cunei_process_cost_add(struct cunei_analysis *analysis,
                            struct cunei_analysis_process *process,
                            const struct cunei_profile *profile)
{
    const struct cunei_process *described = &process->process->description;
    uint64_t duration_ns = process->end_ns - process->begin_ns;
    double costs[CUNEI_COST_COUNT] = {0};
    double units = 0;

    count_units(profile, process->events, costs);
    for (unsigned i = 0; i < CUNEI_COST_COUNT; i++) {
        analysis->costs[i] += costs[i];
        units += costs[i];
    }
    analysis->cost_units += units;
    process->overhead = (struct cunei_overhead){
        .floor_ns = units * (double)described->event_cost_ps / 1000,
        /* On the wall, where that is all there is. */
        .write_ns = (double)(described->write_cpu_ns ? described->write_cpu_ns
                                                     : described->write_ns),
        .cpu_ns = (double)(process->has_cpu ? process->cpu_ns : duration_ns)};
    analysis->is_cost_unknown |= process->events > 0 && described->event_cost_ps == 0;
    analysis->overhead.cpu_ns += process->overhead.cpu_ns;
    if (described->event_cost_ps == 0)
        return;
    double run_ns = cunei_overhead_run_ns(&process->overhead, CUNEI_OVERHEAD_USUAL);
    process->cost_ns = (uint64_t)cunei_overhead_cost_ns(&process->overhead,
                                                        CUNEI_OVERHEAD_USUAL, run_ns);
    analysis->cost_ns += process->cost_ns;
    analysis->overhead.floor_ns += process->overhead.floor_ns;
    analysis->overhead.write_ns += process->overhead.write_ns;
}
