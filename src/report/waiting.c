// SPDX-License-Identifier: MIT
#include "report/waiting.h"

#include "analysis/analysis.h"
#include "model/facts/waiting_functions.h"

struct cunei_waiting cunei_waiting_of(const struct cunei_analysis *analysis, bool idle)
{
    struct cunei_waiting waiting = {0};

    for (size_t i = 0; i < analysis->thread_count; i++) {
        const struct cunei_analysis_thread *thread = &analysis->threads[i];
        if (thread->end_ns > thread->begin_ns)
            waiting.threads_ns += thread->end_ns - thread->begin_ns;
    }
    for (uint32_t i = 0; i < analysis->functions.count; i++) {
        uint64_t self_ns = analysis->facts[i].self_ns;
        if (self_ns > 0 && cunei_is_waiting_function(&analysis->functions.items[i])) {
            waiting.waiting_ns += self_ns;
            waiting.function_count++;
        }
    }
    waiting.base_ns = waiting.threads_ns;
    if (!idle)
        waiting.base_ns -=
            waiting.waiting_ns < waiting.base_ns ? waiting.waiting_ns : waiting.base_ns;
    return waiting;
}
