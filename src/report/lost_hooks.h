// SPDX-License-Identifier: MIT
/*
 * Threads that were not recorded to the end, because the program removed or replaced
 * cunei's hook; and decorated functions that were not recorded at all.
 *
 *     struct cunei_lost_hooks lost = {0};
 *     cunei_lost_hooks_add(&lost, process);            for each process
 *     if (cunei_lost_hooks_format(&lost, &words)) …    "2 threads were not recorded …"
 *     if (cunei_lost_hooks_format_decorated(…)) …      "decorated functions were …"
 */
#ifndef CUNEI_REPORT_LOST_HOOKS_H
#define CUNEI_REPORT_LOST_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "wire/process.h"

struct cunei_lost_hooks {
    uint64_t by_hook;      /* threads recorded by a hook of their own … */
    uint64_t by_evaluator; /* … or by a frame evaluator */
    uint64_t decorated; /* processes whose decorated functions were not recorded … */
    int decorated_reason; /* … and the reason of the first */
};

void cunei_lost_hooks_add(struct cunei_lost_hooks *lost,
                          const struct cunei_process *process);

/* Append a sentence without its full stop; false: nothing was lost. */
bool cunei_lost_hooks_format(const struct cunei_lost_hooks *lost,
                             struct cunei_buffer *out);
bool cunei_lost_hooks_format_decorated(const struct cunei_lost_hooks *lost,
                                       struct cunei_buffer *out);

#endif
