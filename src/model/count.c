// SPDX-License-Identifier: MIT
#include "model/count.h"

#include <stdbool.h>

#include "wire/id_kind.h"

static void count_builtin(struct cunei_count *count, uint64_t record)
{
    uint64_t phase = record >> CUNEI_PHASE_SHIFT;
    uint32_t class = cunei_record_class(record);

    switch (cunei_class_is_near(class) ? CUNEI_CLASS_LINE : class) {
    case CUNEI_CLASS_EXCEPTION:
        count->exceptions += phase == CUNEI_PHASE_ENTER;
        break;
    case CUNEI_CLASS_GC:
        count->collections += phase == CUNEI_PHASE_LEAVE;
        break;
    case CUNEI_CLASS_TASK:
        count->steps += phase != CUNEI_PHASE_LEAVE;
        break;
    case CUNEI_CLASS_SWITCH:
        count->switches++;
        break;
    case CUNEI_CLASS_LINE:
        count->lines += phase != CUNEI_PHASE_RESUME;
        break;
    case CUNEI_CLASS_ARGUMENT:
        count->values++;
        break;
    case CUNEI_CLASS_PARAMETER:
        count->parameters++;
        break;
    case CUNEI_CLASS_COUNTER:
        count->counters++;
        break;
    case CUNEI_CLASS_MARK:
        count->marks++;
        break;
    case CUNEI_CLASS_TOKEN:
        count->tokens += phase == CUNEI_PHASE_RESUME;
        break;
    case CUNEI_CLASS_DEMOTE:
        count->demotions += phase == CUNEI_PHASE_ENTER;
        count->bursts += phase == CUNEI_PHASE_RESUME;
        break;
    default:
        break;
    }
}

/* What an event is of: a record's class, or the function of a `call`. */
static bool is_region(const struct cunei_id_kinds *kinds, const uint64_t *event)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class == CUNEI_CLASS_CALL)
        class = event[1] < CUNEI_FUNCTION_END ? (uint32_t)event[1] : 0;
    return cunei_id_kinds_is_region(kinds, class);
}

void cunei_count_words(struct cunei_count *count, const struct cunei_id_kinds *kinds,
                       const uint64_t *words, size_t word_count)
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
                count_builtin(count, record);
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
