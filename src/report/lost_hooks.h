// SPDX-License-Identifier: MIT
/*
 * Threads whose calls were not told to the end, since the program took away what told
 * of them; and decorated functions that were not told of at all.
 *
 *     struct cunei_lost_hooks taken = {0};
 *     cunei_lost_hooks_add(&taken, process);            each of them
 *     if (cunei_lost_hooks_format(&taken, &words)) …    "2 threads were not recorded …"
 *     if (cunei_lost_hooks_format_unheard(…)) …         "decorated functions were not
 * …"
 */
#ifndef CUNEI_REPORT_LOST_HOOKS_H
#define CUNEI_REPORT_LOST_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "wire/process.h"

struct cunei_lost_hooks {
    uint64_t by_hook;      /* where a hook of each thread told of calls */
    uint64_t by_evaluator; /* where an evaluator of frames did */
    uint64_t unheard;   /* processes whose decorated functions were not heard of … */
    int unheard_reason; /* … and why the first's were not */
};

void cunei_lost_hooks_add(struct cunei_lost_hooks *taken,
                          const struct cunei_process *process);

/* Append a sentence without its end; false: there were none. */
bool cunei_lost_hooks_format(const struct cunei_lost_hooks *taken,
                             struct cunei_buffer *out);
bool cunei_lost_hooks_format_unheard(const struct cunei_lost_hooks *taken,
                                     struct cunei_buffer *out);

#endif
