// SPDX-License-Identifier: MIT
#include "analysis/waiting.h"

#include "analysis/analysis.h"
#include "model/facts/waiting_functions.h"

/* Whether the recording left functions out: then there is work in none of them. */
static bool is_filtered(const struct cunei_analysis *analysis)
{
    bool is_filtered = analysis->bursts > 0;

    for (size_t i = 0; i < analysis->process_count; i++)
        is_filtered |= analysis->processes[i].process->description.pattern_count > 0;
    return is_filtered;
}

/*
 * A thread that is in a function until its process ends has no event at its end: that
 * time is not in any self time.  It is not work either, unless functions were left out.
 */
struct cunei_waiting cunei_waiting_of(const struct cunei_analysis *analysis, bool idle)
{
    struct cunei_waiting waiting = {0};
    uint64_t self_sum_ns = 0;

    for (size_t i = 0; i < analysis->thread_count; i++) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        if (thread->end_ns > thread->begin_ns)
            waiting.threads_ns += thread->end_ns - thread->begin_ns;
    }
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        uint64_t self_ns = analysis->facts[i].self_ns;
        self_sum_ns += self_ns;
        if (self_ns > 0 && cunei_is_waiting_function(&analysis->functions.items[i])) {
            waiting.waiting_ns += self_ns;
            waiting.function_count++;
        }
    }
    waiting.base_ns = waiting.threads_ns;
    if (idle)
        return waiting;
    if (!is_filtered(analysis) && self_sum_ns < waiting.base_ns)
        waiting.base_ns = self_sum_ns;
    waiting.base_ns -=
        waiting.waiting_ns < waiting.base_ns ? waiting.waiting_ns : waiting.base_ns;
    return waiting;
}
