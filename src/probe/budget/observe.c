// SPDX-License-Identifier: MIT
#include "probe/budget/observe.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "wire/event.h"

#define FUNCTIONS_FIRST 256u

/* Of a deeper stack only the inner frames are kept. */
#define DEPTH_MAX 256u

struct frame {
    uint32_t place; /* of the function; UINT32_MAX: unknown */
    uint32_t caller;
    bool is_alone; /* its caller is unknown */
};

struct reading {
    struct cunei_observer *observer;
    struct frame frames[DEPTH_MAX];
    uint32_t depth;
    uint64_t last;
};

#define UNKNOWN UINT32_MAX

/* Make room for a place that there is none for. */
static bool reserve(struct cunei_observer *observer, uint32_t place)
{
    size_t wanted = place < FUNCTIONS_FIRST ? FUNCTIONS_FIRST : (size_t)place + 1;
    uint32_t before = observer->capacity, capacity = before, touchable = before;

    if (!CUNEI_VECTOR_RESERVE(observer->functions, capacity, wanted) ||
        !CUNEI_VECTOR_RESERVE(observer->touched, touchable, wanted))
        return false;
    memset(observer->functions + before, 0,
           (capacity - before) * sizeof(*observer->functions));
    observer->capacity = capacity;
    return true;
}

/* The place of a function, with room for it; UNKNOWN: there is none. */
static uint32_t place_of(struct cunei_observer *observer, uint32_t function)
{
    uint32_t place = function - CUNEI_FUNCTION_FIRST;

    if (function < CUNEI_FUNCTION_FIRST || function >= CUNEI_FUNCTION_CLASS_END)
        return UNKNOWN;
    if (place >= observer->capacity && !reserve(observer, place)) {
        observer->failed = true;
        return UNKNOWN;
    }
    if (!observer->functions[place].is_touched) {
        observer->functions[place].is_touched = true;
        observer->touched[observer->touched_count++] = place;
    }
    return place;
}

/* What the function on top took since the last event is its own. */
static inline void pass(struct reading *reading, uint64_t time)
{
    struct cunei_observed *functions = reading->observer->functions;
    uint64_t passed = time > reading->last ? time - reading->last : 0;

    reading->last = time > reading->last ? time : reading->last;
    if (reading->depth == 0)
        return;
    const struct frame *top = &reading->frames[reading->depth - 1];
    if (top->place == UNKNOWN)
        return;
    functions[top->place].self += passed;
    if (top->caller < CUNEI_OBSERVED_CALLERS)
        functions[top->place].callers[top->caller].self += passed;
    else if (top->is_alone)
        functions[top->place].alone_self += passed;
}

/* The place of a caller among those that are kept, or CUNEI_OBSERVED_CALLERS. */
static uint32_t find_caller(struct cunei_observed *callee, uint32_t function)
{
    for (uint32_t i = 0; i < CUNEI_OBSERVED_CALLERS; i++) {
        struct cunei_observed_caller *caller = &callee->callers[i];
        if (caller->function == 0)
            caller->function = function;
        if (caller->function == function)
            return i;
    }
    return CUNEI_OBSERVED_CALLERS;
}

static void push(struct reading *reading, uint32_t place, bool is_call)
{
    struct cunei_observed *functions = reading->observer->functions;
    uint32_t outer =
        reading->depth > 0 ? reading->frames[reading->depth - 1].place : UNKNOWN;

    if (reading->depth == DEPTH_MAX) {
        memmove(reading->frames, reading->frames + DEPTH_MAX / 2,
                DEPTH_MAX / 2 * sizeof(struct frame));
        reading->depth = DEPTH_MAX / 2;
    }
    struct frame frame = {place, CUNEI_OBSERVED_CALLERS, outer == UNKNOWN};
    if (place != UNKNOWN) {
        if (functions[place].open++ == 0)
            functions[place].opened = reading->last;
        if (outer != UNKNOWN)
            frame.caller = find_caller(&functions[place], outer + CUNEI_FUNCTION_FIRST);
        if (frame.caller < CUNEI_OBSERVED_CALLERS && is_call)
            functions[place].callers[frame.caller].calls++;
        functions[place].alone_calls += frame.is_alone && is_call;
    }
    if (outer != UNKNOWN)
        functions[outer].inner++;
    reading->frames[reading->depth++] = frame;
}

/*
 * End the topmost frame of a function and all above it.  These are the rules of
 * stack/resync.h where no region, no unknown function and no `unwind` matters; calling
 * it here would cost one instruction more per event.
 */
static void pop(struct reading *reading, uint32_t place)
{
    struct cunei_observed *functions = reading->observer->functions;
    uint32_t depth = reading->depth;

    while (depth > 0 && reading->frames[depth - 1].place != place)
        depth--;
    if (depth == 0)
        return;
    while (reading->depth >= depth) {
        uint32_t ended = reading->frames[--reading->depth].place;
        if (ended != UNKNOWN && functions[ended].open > 0 &&
            --functions[ended].open == 0)
            functions[ended].total += reading->last - functions[ended].opened;
    }
    if (reading->depth > 0 && reading->frames[reading->depth - 1].place != UNKNOWN)
        functions[reading->frames[reading->depth - 1].place].inner++;
}

static void close_all(struct reading *reading)
{
    struct cunei_observed *functions = reading->observer->functions;

    while (reading->depth > 0) {
        uint32_t place = reading->frames[--reading->depth].place;
        if (place != UNKNOWN && functions[place].open > 0) {
            functions[place].open = 0;
            functions[place].total += reading->last - functions[place].opened;
        }
    }
}

static void open_all(struct reading *reading, const uint32_t *ids, uint32_t count)
{
    close_all(reading);
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] != 0)
            push(reading, place_of(reading->observer, ids[i]), false);
    }
}

static inline void read_record(struct reading *reading, uint64_t record, uint64_t begin)
{
    struct cunei_observer *observer = reading->observer;
    enum cunei_phase phase = cunei_record_phase(record);

    pass(reading, cunei_record_time(record, begin));
    uint32_t place = place_of(observer, cunei_record_class(record));
    if (place == UNKNOWN)
        return;
    struct cunei_observed *function = &observer->functions[place];
    if (function->events++ == 0)
        function->first = reading->last;
    function->calls += phase == CUNEI_PHASE_ENTER;
    function->resumes += phase == CUNEI_PHASE_RESUME;
    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        push(reading, place, phase == CUNEI_PHASE_ENTER);
    else
        pop(reading, place);
}

void cunei_observer_read(struct cunei_observer *observer, uint64_t begin,
                         const uint64_t *words, size_t count)
{
    struct reading reading;

    reading.observer = observer;
    reading.depth = 0;
    reading.last = begin;
    for (size_t i = 0; i < count;) {
        uint32_t class = cunei_record_class(words[i]);
        size_t size = 1;
        if (class >= CUNEI_FUNCTION_FIRST)
            read_record(&reading, words[i], begin);
        else {
            const struct cunei_stack *stack = (const void *)&words[i];
            const struct cunei_switch *change = (const void *)&words[i];
            size = cunei_event_words(&words[i], count - i);
            if (size == 0)
                break;
            if (class == CUNEI_CLASS_STACK)
                open_all(&reading, stack->functions, stack->count);
            else if (class == CUNEI_CLASS_SWITCH)
                open_all(&reading, change->functions, change->count);
        }
        observer->events += class != CUNEI_CLASS_STACK;
        i += size;
    }
    if (reading.last > observer->last)
        observer->last = reading.last;
    close_all(&reading);
}

const struct cunei_observed *cunei_observer_find(const struct cunei_observer *observer,
                                                 uint32_t function)
{
    uint32_t place = function - CUNEI_FUNCTION_FIRST;

    return place < observer->capacity && observer->functions[place].is_touched
               ? &observer->functions[place]
               : NULL;
}

void cunei_observer_clear(struct cunei_observer *observer)
{
    for (uint32_t i = 0; i < observer->touched_count; i++)
        observer->functions[observer->touched[i]] = (struct cunei_observed){0};
    observer->touched_count = 0;
    observer->events = 0;
    observer->failed = false;
}

void cunei_observer_fini(struct cunei_observer *observer)
{
    free(observer->functions);
    free(observer->touched);
    *observer = (struct cunei_observer){0};
}
