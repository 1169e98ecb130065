// SPDX-License-Identifier: MIT
#include "model/facts/event_count.h"

#include <stdbool.h>

#include "wire/id_kind.h"

/* What an event is of: a record's class, or the function of a `call`. */
static bool is_region(const struct cunei_id_kinds *kinds, const uint64_t *event)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class == CUNEI_CLASS_CALL)
        class = event[1] < CUNEI_FUNCTION_END ? (uint32_t)event[1] : 0;
    return cunei_id_kinds_is_region(kinds, class);
}

uint64_t cunei_event_count_of(const struct cunei_event_count *count,
                              enum cunei_class class, unsigned phases)
{
    uint64_t sum = 0;

    for (unsigned phase = 0; phase < CUNEI_PHASES; phase++)
        sum += phases & 1u << phase ? count->builtin[class][phase] : 0;
    return sum;
}

void cunei_event_count_words(struct cunei_event_count *count,
                             const struct cunei_id_kinds *kinds, const uint64_t *words,
                             size_t word_count)
{
    const bool has_regions = kinds && kinds->items;
    uint64_t events = 0, calls = 0, resumes = 0;

    for (size_t i = 0; i < word_count; i++) {
        const uint64_t *event = &words[i];
        uint64_t record = event[0];
        uint64_t phase = record >> CUNEI_PHASE_SHIFT;
        events++;
        if (__builtin_expect(cunei_record_class(record) < CUNEI_FUNCTION_FIRST, 0)) {
            size_t size = cunei_event_words(event, word_count - i);
            /* One that is broken takes all that is left. */
            i += size ? size - 1 : word_count - i - 1;
            if (cunei_record_class(record) != CUNEI_CLASS_CALL || size == 0) {
                count->builtin[cunei_event_class_of(record)][phase]++;
                continue;
            }
        }
        if (has_regions && is_region(kinds, event)) {
            count->regions += phase == CUNEI_PHASE_ENTER;
            continue;
        }
        calls += phase == CUNEI_PHASE_ENTER;
        resumes += phase == CUNEI_PHASE_RESUME;
    }
    count->events += events;
    count->calls += calls;
    count->resumes += resumes;
}
