// SPDX-License-Identifier: MIT
#include "model/count.h"

#include "wire/event.h"

/* How many payload words follow a built-in record; a broken one takes all that is left.
 */
static size_t payload_of(const uint64_t *at, size_t left)
{
    size_t payload = left - 1;

    switch (cunei_record_class(*at)) {
    case CUNEI_CLASS_STACK:
        if (left >= 2)
            payload = 1 + ((const struct cunei_stack *)(const void *)at)->count / 2;
        break;
    case CUNEI_CLASS_DEFINE:
        if (left >= sizeof(struct cunei_define) / sizeof(*at))
            payload = sizeof(struct cunei_define) / sizeof(*at) - 1 +
                      ((const struct cunei_define *)(const void *)at)->length / 8;
        break;
    case CUNEI_CLASS_CALL:
    case CUNEI_CLASS_UNWIND:
        payload = 1;
        break;
    default:
        break;
    }
    return payload < left ? payload : left - 1;
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
            i += payload_of(&words[i], word_count - i);
            if (cunei_record_class(record) != CUNEI_CLASS_CALL)
                continue;
        }
        calls += phase == CUNEI_PHASE_ENTER;
        resumes += phase == CUNEI_PHASE_RESUME;
    }
    count->events += events;
    count->calls += calls;
    count->resumes += resumes;
}
