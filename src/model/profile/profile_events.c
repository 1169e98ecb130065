// SPDX-License-Identifier: MIT
#include "model/profile/profile_events.h"

#include <string.h>

#include "base/text.h"
#include "model/profile/profile_budget.h"
#include "model/profile/profile_resync.h"
#include "model/profile/profile_stack.h"
#include "model/profile/task_steps.h"

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

/* An event, and where it stands. */
struct reading {
    struct cunei_profile *profile;
    struct cunei_piece *piece;
    const uint64_t *at;
    const uint64_t *next; /* the word behind all that was read */
    const uint64_t *end;
    uint64_t begin; /* of the packet */
};

static uint64_t time_of(const struct reading *reading)
{
    return cunei_record_time(*reading->at, reading->begin);
}

/* The same, but never before that of the event before. */
static uint64_t later_time(const struct reading *reading, uint64_t record)
{
    uint64_t time = cunei_record_time(record, reading->begin);
    uint64_t last = reading->piece->last;

    return time > last ? time : last;
}

/* Let time pass up to that of a record. */
static uint64_t pass(const struct reading *reading, uint64_t record)
{
    cunei_profile_stack_pass(reading->profile, reading->piece,
                             later_time(reading, record));
    return reading->piece->last;
}

static struct cunei_thread *thread_of(const struct reading *reading)
{
    return &reading->piece->threads[reading->piece->thread_count - 1];
}

static int read_stack(struct reading *reading)
{
    return cunei_profile_sync(reading->profile, reading->piece,
                              (const void *)reading->at,
                              later_time(reading, *reading->at));
}

static int read_switch(struct reading *reading)
{
    return cunei_profile_switch(reading->profile, reading->piece,
                                (const void *)reading->at,
                                later_time(reading, *reading->at));
}

static int read_estimate(struct reading *reading)
{
    return cunei_profile_budget_read(reading->profile, reading->at,
                                     later_time(reading, *reading->at));
}

/* An `unwind`, with the leave that belongs to it. */
static int read_unwind(struct reading *reading)
{
    const uint64_t *at = reading->at, *next = reading->next;

    if (next >= reading->end || cunei_record_phase(*next) != CUNEI_PHASE_LEAVE)
        return 0;
    uint64_t record = *next;
    uint32_t slot = cunei_slot_of(reading->profile,
                                  cunei_profile_events_function(&next, reading->end));
    if (slot == 0)
        return 0;
    (void)pass(reading, record);
    const struct cunei_leave leave = {
        .slot = slot,
        .is_unwind = true,
        .is_close = cunei_record_phase(*at) == CUNEI_PHASE_LEAVE,
        .run = at[1],
    };
    reading->profile->events++;
    reading->next = next + 1;
    return cunei_profile_leave(reading->profile, reading->piece, &leave);
}

/* A `task`, with the entry or resume that is its step. */
static int read_task(struct reading *reading)
{
    struct cunei_profile *profile = reading->profile;
    struct cunei_piece *piece = reading->piece;
    const struct cunei_task *event = (const void *)reading->at;
    const uint64_t *next = reading->next;
    uint32_t index = cunei_tasks_find(&profile->tasks, event->task);

    if (event->length > 0 && event->name[0])
        cunei_tasks_name(&profile->tasks, index, event->name, event->length,
                         time_of(reading));
    if (next >= reading->end || cunei_record_phase(*next) % 2 != 0)
        return 0;
    uint64_t record = *next;
    bool is_call = cunei_record_phase(record) == CUNEI_PHASE_ENTER;
    uint32_t slot =
        cunei_slot_of(profile, cunei_profile_events_function(&next, reading->end));
    if (slot == 0 || cunei_slot_is_region(profile, slot))
        return 0;
    uint64_t time = pass(reading, record);
    int rc = cunei_profile_stack_enter(profile, piece, slot, is_call);
    if (rc == 0 && piece->beyond == 0)
        rc = cunei_steps_begin(
            &profile->tasks, &piece->steps,
            cunei_profile_stack_step(piece, &piece->frames[piece->depth],
                                     piece->frames[piece->depth].slot),
            event->task, cunei_record_phase(event->record) == CUNEI_PHASE_LEAVE, time);
    thread_of(reading)->calls += is_call;
    profile->events++;
    reading->next = next + 1;
    return rc;
}

static int read_thread_name(struct reading *reading)
{
    struct cunei_thread *thread = thread_of(reading);
    const struct cunei_thread_name *event = (const void *)reading->at;
    size_t size = strnlen(event->name, event->length);

    if (event->thread != thread->serial)
        return 0;
    size = cunei_text_cut(event->name, size, CUNEI_THREAD_NAME_MAX);
    memset(thread->name, 0, sizeof(thread->name));
    memcpy(thread->name, event->name, size);
    return 0;
}

static int read_gc(struct reading *reading)
{
    uint64_t time = pass(reading, *reading->at);

    cunei_gc_pauses_read(&thread_of(reading)->collections, &reading->piece->collecting,
                         (const void *)reading->at, time);
    return 0;
}

static int read_exception(struct reading *reading)
{
    struct cunei_profile *profile = reading->profile;
    const struct cunei_exception *exception = (const void *)reading->at;

    cunei_exceptions_read(&profile->exceptions, exception,
                          cunei_slot_of(profile, exception->function),
                          cunei_slot_of(profile, exception->handler));
    return 0;
}

static int read_line(struct reading *reading)
{
    (void)pass(reading, *reading->at);
    reading->profile->lines++;
    return 0;
}

static int read_gap(struct reading *reading)
{
    cunei_recording_off_read(&reading->profile->pauses,
                             cunei_record_phase(*reading->at), time_of(reading));
    return 0;
}

/* model/user/user_reader.h reads these in a pass of its own, if there are any. */
static int count_user_event(struct reading *reading)
{
    reading->profile->user_events[cunei_record_class(*reading->at)]++;
    return 0;
}

static int read_mark(struct reading *reading)
{
    const struct cunei_user_value *value = (const void *)reading->at;

    reading->profile->misused += value->kind == CUNEI_VALUE_ERROR;
    return count_user_event(reading);
}

/* The calls of a function are a region; without memory for its name it is left out. */
static int read_tag(struct reading *reading)
{
    const struct cunei_user_value *tag = (const void *)reading->at;
    char key[sizeof(tag->target) + CUNEI_VALUE_MAX];
    size_t size = tag->name_length < tag->length ? tag->name_length : tag->length;

    size = size < CUNEI_VALUE_MAX ? size : CUNEI_VALUE_MAX;
    memcpy(key, &tag->target, sizeof(tag->target));
    memcpy(key + sizeof(tag->target), tag->text, size);
    (void)cunei_text_set_add(&reading->profile->tags, key, sizeof(tag->target) + size);
    return count_user_event(reading);
}

/* What a profile does with an event; a class that is not listed leaves it unchanged. */
static int (*const readers[CUNEI_CLASS_COUNT])(struct reading *reading) = {
    [CUNEI_CLASS_STACK] = read_stack,
    [CUNEI_CLASS_UNWIND] = read_unwind,
    [CUNEI_CLASS_GAP] = read_gap,
    [CUNEI_CLASS_DEMOTE] = read_estimate,
    [CUNEI_CLASS_SWITCH] = read_switch,
    [CUNEI_CLASS_TASK] = read_task,
    [CUNEI_CLASS_THREAD_NAME] = read_thread_name,
    [CUNEI_CLASS_EXCEPTION] = read_exception,
    [CUNEI_CLASS_GC] = read_gc,
    [CUNEI_CLASS_LINE] = read_line,
    [CUNEI_CLASS_MARK] = read_mark,
    [CUNEI_CLASS_COUNTER] = count_user_event,
    [CUNEI_CLASS_PARAMETER] = count_user_event,
    [CUNEI_CLASS_SAMPLE] = read_estimate,
    [CUNEI_CLASS_TAG] = read_tag,
    [CUNEI_CLASS_METADATA] = count_user_event,
    [CUNEI_CLASS_TOKEN] = count_user_event,
};

const uint64_t *cunei_profile_events_read(struct cunei_profile *profile,
                                          struct cunei_piece *piece, const uint64_t *at,
                                          const uint64_t *end, uint64_t begin, int *rc)
{
    size_t size = cunei_event_words(at, (size_t)(end - at));
    uint32_t class = cunei_event_class_of(*at);

    if (size == 0)
        return end - 1; /* its length is unknown: the rest cannot be read */
    struct reading reading = {profile, piece, at, at + size, end, begin};
    if (readers[class])
        *rc = readers[class](&reading);
    return reading.next - 1;
}
