// SPDX-License-Identifier: MIT
/* How much a stream holds, and nothing else: the quick pass. */
#ifndef CUNEI_MODEL_COUNT_H
#define CUNEI_MODEL_COUNT_H

#include <stddef.h>
#include <stdint.h>

struct cunei_id_kinds;

struct cunei_count {
    uint64_t events;
    uint64_t calls;
    uint64_t resumes;
    uint64_t exceptions; /* raised */
    uint64_t collections;
    uint64_t steps; /* of tasks */
    uint64_t switches;
    uint64_t values;                              /* arguments and results */
    uint64_t lines;                               /* that began */
    uint64_t regions;                             /* that began */
    uint64_t parameters, counters, marks, tokens; /* what was said of each */
    uint64_t demotions, bursts;                   /* of a budget */
};

/* Add what the words of a packet hold; no kinds: of functions alone. */
void cunei_count_words(struct cunei_count *count, const struct cunei_id_kinds *kinds,
                       const uint64_t *words, size_t word_count);

#endif
