// SPDX-License-Identifier: MIT
/* How much a stream holds, and nothing else: the quick pass. */
#ifndef CUNEI_MODEL_FACTS_EVENT_COUNT_H
#define CUNEI_MODEL_FACTS_EVENT_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_id_kinds;

struct cunei_event_count {
    uint64_t events;
    uint64_t calls;
    uint64_t resumes;
    uint64_t regions; /* that began */
    uint64_t builtin[CUNEI_CLASS_COUNT][CUNEI_PHASES];
};

/* The events of a built-in class in some phases: bits 1 << phase. */
uint64_t cunei_event_count_of(const struct cunei_event_count *count,
                              enum cunei_class class, unsigned phases);

/* Add what the words of a packet hold; no kinds: of functions alone. */
void cunei_event_count_words(struct cunei_event_count *count,
                             const struct cunei_id_kinds *kinds, const uint64_t *words,
                             size_t word_count);

#endif
