// SPDX-License-Identifier: MIT
#include "model/count.h"

#include "wire/event.h"

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
    default:
        break;
    }
}

void cunei_count_words(struct cunei_count *count, const uint64_t *words,
                       size_t word_count)
{
    uint64_t events = 0, calls = 0, resumes = 0;

    for (size_t i = 0; i < word_count; i++) {
        uint64_t record = words[i];
        uint64_t phase = record >> CUNEI_PHASE_SHIFT;
        events++;
        if (__builtin_expect(cunei_record_class(record) < CUNEI_FUNCTION_FIRST, 0)) {
            size_t size = cunei_event_words(&words[i], word_count - i);
            /* One that is broken takes all that is left. */
            i += size ? size - 1 : word_count - i - 1;
            if (cunei_record_class(record) != CUNEI_CLASS_CALL) {
                count_builtin(count, record);
                continue;
            }
        }
        calls += phase == CUNEI_PHASE_ENTER;
        resumes += phase == CUNEI_PHASE_RESUME;
    }
    count->events += events;
    count->calls += calls;
    count->resumes += resumes;
}
