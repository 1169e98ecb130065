// SPDX-License-Identifier: MIT
#include "model/profile_events.h"

#include <string.h>

#include "base/text.h"
#include "model/profile_stack.h"
#include "model/task_steps.h"

uint32_t cunei_profile_events_function(const uint64_t **at, const uint64_t *end)
{
    uint32_t class = cunei_record_class(**at);

    if (class != CUNEI_CLASS_CALL)
        return class >= CUNEI_FUNCTION_FIRST ? class : 0;
    if (end - *at < 2)
        return 0;
    (*at)++;
    return **at < CUNEI_FUNCTION_END ? (uint32_t) * *at : 0;
}

/* Time passes up to that of a record, which never goes back. */
static uint64_t pass(struct cunei_profile *profile, struct cunei_span *span,
                     uint64_t record, uint64_t begin)
{
    uint64_t time = cunei_record_time(record, begin);

    cunei_stack_pass(profile, span, time > span->last ? time : span->last);
    return span->last;
}

/* An `unwind`, with the leave that belongs to it. */
static const uint64_t *read_unwind(struct cunei_profile *profile,
                                   struct cunei_span *span, const uint64_t *at,
                                   const uint64_t *end, uint64_t begin, int *rc)
{
    const uint64_t *next = at + 2;

    if (end - at < 3 || cunei_record_phase(*next) != CUNEI_PHASE_LEAVE)
        return at + 1;
    uint64_t record = *next;
    uint32_t slot = cunei_slot_of(profile, cunei_profile_events_function(&next, end));
    if (slot == 0)
        return at + 1;
    const struct cunei_leave leave = {
        .slot = slot,
        .is_unwind = true,
        .is_close = cunei_record_phase(*at) == CUNEI_PHASE_LEAVE,
        .run = at[1],
        .time = pass(profile, span, record, begin),
    };
    *rc = cunei_stack_leave(profile, span, &leave);
    profile->events++;
    return next;
}

/* A `task` of `size` words, with the entry or resumption that is its step. */
static const uint64_t *read_task(struct cunei_profile *profile, struct cunei_span *span,
                                 const uint64_t *at, size_t size, const uint64_t *end,
                                 uint64_t begin, int *rc)
{
    const struct cunei_task *event = (const void *)at;
    const uint64_t *next = at + size;
    uint32_t index = cunei_tasks_find(&profile->tasks, event->task);

    if (event->length > 0 && event->name[0])
        cunei_tasks_name(&profile->tasks, index, event->name, event->length,
                         cunei_record_time(*at, begin));
    if (next >= end || cunei_record_phase(*next) % 2 != 0)
        return next - 1;
    uint64_t record = *next;
    bool is_call = cunei_record_phase(record) == CUNEI_PHASE_ENTER;
    uint32_t slot = cunei_slot_of(profile, cunei_profile_events_function(&next, end));
    if (slot == 0 || cunei_slot_is_region(profile, slot))
        return at + size - 1;
    uint64_t time = pass(profile, span, record, begin);
    *rc = cunei_stack_enter(profile, span, slot, is_call, time);
    if (*rc == 0 && span->beyond == 0)
        *rc = cunei_steps_begin(profile, span, event->task,
                                cunei_record_phase(*at) == CUNEI_PHASE_LEAVE, time);
    span->threads[span->thread_count - 1].calls += is_call;
    profile->events++;
    return next;
}

static void read_name(struct cunei_thread *thread,
                      const struct cunei_thread_name *event)
{
    size_t size = strnlen(event->name, event->length);

    if (event->thread != thread->serial)
        return;
    size = cunei_text_cut(event->name, size, CUNEI_THREAD_NAME_MAX);
    memset(thread->name, 0, sizeof(thread->name));
    memcpy(thread->name, event->name, size);
}

/* The calls of a function are a region; a name that finds no place is none. */
static void read_tag(struct cunei_profile *profile, const struct cunei_user_value *tag)
{
    char key[sizeof(tag->target) + CUNEI_VALUE_MAX];
    size_t size = tag->name_length < tag->length ? tag->name_length : tag->length;

    size = size < CUNEI_VALUE_MAX ? size : CUNEI_VALUE_MAX;
    memcpy(key, &tag->target, sizeof(tag->target));
    memcpy(key + sizeof(tag->target), tag->text, size);
    (void)cunei_text_set_add(&profile->tags, key, sizeof(tag->target) + size);
}

/* Those that say something of their thread at their time. */
static void read_state(struct cunei_profile *profile, struct cunei_span *span,
                       const uint64_t *at, uint64_t begin)
{
    struct cunei_thread *thread = &span->threads[span->thread_count - 1];
    const struct cunei_exception *exception = (const void *)at;
    uint32_t class = cunei_record_class(*at);

    switch (cunei_class_is_near(class) ? CUNEI_CLASS_LINE : class) {
    case CUNEI_CLASS_GC:
        cunei_gc_pauses_read(&thread->collections, &span->collecting, (const void *)at,
                             pass(profile, span, *at, begin));
        break;
    case CUNEI_CLASS_EXCEPTION:
        cunei_exceptions_read(&profile->exceptions, exception,
                              cunei_slot_of(profile, exception->function),
                              cunei_slot_of(profile, exception->handler));
        break;
    case CUNEI_CLASS_LINE:
        (void)pass(profile, span, *at, begin);
        profile->lines++;
        break;
    case CUNEI_CLASS_GAP:
        cunei_recording_off_read(&profile->pauses,
                                 (enum cunei_phase)(*at >> CUNEI_PHASE_SHIFT),
                                 cunei_record_time(*at, begin));
        break;
    case CUNEI_CLASS_THREAD_NAME:
        read_name(thread, (const void *)at);
        break;
    case CUNEI_CLASS_TAG:
        profile->said[class]++;
        read_tag(profile, (const void *)at);
        break;
    case CUNEI_CLASS_MARK:
        profile->misused +=
            ((const struct cunei_user_value *)at)->kind == CUNEI_VALUE_ERROR;
        profile->said[class]++;
        break;
    case CUNEI_CLASS_PARAMETER:
    case CUNEI_CLASS_COUNTER:
    case CUNEI_CLASS_METADATA:
    case CUNEI_CLASS_TOKEN:
        profile->said[class]++;
        break;
    default:
        break;
    }
}

const uint64_t *cunei_profile_events_read(struct cunei_profile *profile,
                                          struct cunei_span *span, const uint64_t *at,
                                          const uint64_t *end, uint64_t begin, int *rc)
{
    size_t size = cunei_event_words(at, (size_t)(end - at));
    uint64_t time = cunei_record_time(*at, begin);

    if (size == 0)
        return end - 1; /* of unknown length: no way on */
    if (time < span->last)
        time = span->last;
    switch (cunei_record_class(*at)) {
    case CUNEI_CLASS_STACK:
        *rc = cunei_stack_sync(profile, span, (const void *)at, time);
        break;
    case CUNEI_CLASS_SWITCH:
        *rc = cunei_stack_switch(profile, span, (const void *)at, time);
        break;
    case CUNEI_CLASS_UNWIND:
        return read_unwind(profile, span, at, end, begin, rc);
    case CUNEI_CLASS_DEMOTE:
    case CUNEI_CLASS_SAMPLE:
        *rc = cunei_budget_estimates_read(profile, at, time);
        break;
    case CUNEI_CLASS_TASK:
        return read_task(profile, span, at, size, end, begin, rc);
    default:
        read_state(profile, span, at, begin);
        break;
    }
    return at + size - 1;
}
