// SPDX-License-Identifier: MIT
#include "model/walk/packet_cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "stack/resync.h"

static bool wants(const struct cunei_cut *cut, uint32_t function)
{
    const struct cunei_cut_options *options = cut->options;
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    if (!options->functions || function < CUNEI_FUNCTION_FIRST)
        return true;
    return index < options->function_count &&
           options->functions[index] == CUNEI_CUT_WANTED;
}

/* Whether a function of an exception is folded, or there is none. */
static bool is_folded(const struct cunei_cut *cut, uint32_t function)
{
    const struct cunei_cut_options *options = cut->options;
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    return function == 0 ||
           (function >= CUNEI_FUNCTION_FIRST && index < options->function_count &&
            options->functions[index] == CUNEI_CUT_FOLDED);
}

static uint64_t *reserve(struct cunei_cut *cut, size_t count)
{
    if (!CUNEI_VECTOR_RESERVE(cut->words, cut->capacity, cut->word_count + count)) {
        cut->failed = true;
        return NULL;
    }
    uint64_t *place = cut->words + cut->word_count;
    cut->word_count += count;
    return place;
}

static uint64_t *put(struct cunei_cut *cut, const uint64_t *event, size_t count)
{
    uint64_t *place = reserve(cut, count);

    if (place)
        memcpy(place, event, count * sizeof(*event));
    return place;
}

/* Where frames of a function are counted; all invalid ids at one place. */
static uint32_t index_of(uint32_t function)
{
    return function < CUNEI_FUNCTION_END ? function : 0;
}

static int push(struct cunei_cut *cut, uint32_t function)
{
    struct cunei_cut_stack *open = &cut->stack;

    if (!CUNEI_VECTOR_RESERVE(open->functions, open->capacity, open->count + 1) ||
        !cunei_open_counts_add(&open->counts, index_of(function))) {
        cut->failed = true;
        return -ENOMEM;
    }
    open->functions[open->count++] = function;
    return 0;
}

static int pop(struct cunei_cut *cut)
{
    struct cunei_cut_stack *open = &cut->stack;

    cunei_open_counts_remove(&open->counts, index_of(open->functions[--open->count]));
    return 0;
}

static bool is_region(const struct cunei_cut *cut, uint32_t function)
{
    return cunei_id_kinds_is_region(&cut->options->kinds, function);
}

static uint32_t depth_of(const void *stack)
{
    const struct cunei_cut *cut = stack;
    return cut->stack.count;
}

static uint32_t function_at(const void *stack, uint32_t depth)
{
    const struct cunei_cut *cut = stack;
    return cut->stack.functions[depth - 1];
}

static bool is_region_at(const void *stack, uint32_t depth)
{
    return is_region(stack, function_at(stack, depth));
}

static bool is_open(const void *stack, uint32_t function)
{
    const struct cunei_cut *cut = stack;
    return cunei_open_counts_has(&cut->stack.counts, index_of(function));
}

static int leave_top(void *stack, const struct cunei_resync_leave *leave)
{
    (void)leave;
    return pop(stack);
}

static int miss(void *stack, bool is_sync)
{
    (void)is_sync;
    return pop(stack);
}

static int put_aside(void *stack, void *frame, bool is_sync)
{
    (void)is_sync;
    *(uint32_t *)frame = function_at(stack, depth_of(stack));
    return pop(stack);
}

static int put_back(void *stack, const void *frame, bool is_sync)
{
    (void)is_sync;
    return push(stack, *(const uint32_t *)frame);
}

/* Each packet begins with a stack of its own, which replaces what was open. */
static const struct cunei_resync_methods methods = {
    .frame_size = sizeof(uint32_t),
    .depth = depth_of,
    .function = function_at,
    .is_region = is_region_at,
    .is_open = is_open,
    .leave = leave_top,
    .miss = miss,
    .put_aside = put_aside,
    .put_back = put_back,
};

/* A leave of what is not open may be that of a frame that the stack omitted. */
static void leave(struct cunei_cut *cut, uint32_t function)
{
    struct cunei_cut_stack *open = &cut->stack;
    const struct cunei_resync_leave event = {.function = function};
    uint32_t depth =
        cunei_resync_left_depth(&methods, cut, &event, is_region(cut, function));

    if (depth > 0)
        cut->failed |= cunei_resync_leave_at(&methods, cut, &event, depth) < 0;
    else if (open->count == 0 && open->omitted > 0 && !is_region(cut, function))
        open->omitted--;
}

static void clear(struct cunei_cut *cut)
{
    while (cut->stack.count > 0)
        (void)pop(cut);
    cut->stack.omitted = 0;
}

/* What a `stack` or a `switch` lists is open. */
static void load(struct cunei_cut *cut, const uint32_t *functions, uint32_t count,
                 uint32_t omitted)
{
    clear(cut);
    cut->stack.omitted = omitted;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 || functions[i] != 0)
            (void)push(cut, functions[i]);
    }
}

/* The wanted ones of what is open, padded to an even number, behind `fixed` words. */
static uint64_t *put_stack(struct cunei_cut *cut, size_t fixed)
{
    const struct cunei_cut_stack *stack = &cut->stack;
    uint32_t count = 0;

    for (uint32_t i = 0; i < stack->count; i++)
        count += wants(cut, stack->functions[i]);
    uint32_t even = count + count % 2;
    uint64_t *event = reserve(cut, fixed + even / 2);
    if (!event)
        return NULL;
    uint32_t *functions = (void *)(event + fixed);
    if (even > count)
        *functions++ = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        if (wants(cut, stack->functions[i]))
            *functions++ = stack->functions[i];
    }
    event[fixed - 1] = stack->omitted | (uint64_t)even << 32;
    return event;
}

static void put_stack_record(struct cunei_cut *cut, uint64_t record)
{
    uint64_t *event = put_stack(cut, 2);

    if (event)
        event[0] = record;
}

static void mark_time(struct cunei_cut *cut, uint64_t time)
{
    put_stack_record(cut, cunei_record(time, CUNEI_CLASS_STACK, 0));
}

/* An event in its packet, of which `left` words are left from there on. */
struct event {
    const uint64_t *words;
    size_t size, left;
};

static void put_stack_event(struct cunei_cut *cut, const struct event *event)
{
    put_stack_record(cut, event->words[0]);
}

static void put_switch(struct cunei_cut *cut, const struct event *event)
{
    uint64_t *copy = put_stack(cut, 3);

    if (copy)
        memcpy(copy, event->words, 2 * sizeof(*copy));
}

/* Exceptions are kept whatever is wanted, as if raised in code that is not recorded. */
static void put_exception(struct cunei_cut *cut, const struct event *event)
{
    struct cunei_exception *copy = (void *)put(cut, event->words, event->size);

    if (!copy)
        return;
    if (!wants(cut, copy->function))
        copy->function = copy->line = 0;
    if (!wants(cut, copy->handler))
        copy->handler = copy->handler_line = 0;
}

/* Frames that were apart may now stand on top of each other. */
static void put_unwind(struct cunei_cut *cut, const struct event *event)
{
    uint64_t *copy = put(cut, event->words, event->size);

    if (copy && cut->options->functions)
        copy[1] = 0;
}

/* In full: the line that it is near to may not be wanted. */
static void put_line(struct cunei_cut *cut, const struct event *event)
{
    (void)event;
    (void)put(cut, &cut->line.record, sizeof(cut->line) / sizeof(uint64_t));
}

/* An exception that only folded functions see is of no interest. */
static bool wants_exception(const struct cunei_cut *cut, const struct event *event)
{
    const struct cunei_exception *exception = (const void *)event->words;

    return !cut->options->functions ||
           (exception->function == 0 && exception->handler == 0) ||
           !is_folded(cut, exception->function) || !is_folded(cut, exception->handler);
}

/* The function of an event that enters or leaves one; 0: it does not. */
static uint32_t called(const uint64_t *event)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class == CUNEI_CLASS_CALL)
        return event[1] < CUNEI_FUNCTION_END ? (uint32_t)event[1] : 0;
    return class < CUNEI_FUNCTION_FIRST ? 0 : class;
}

static bool wants_called(const struct cunei_cut *cut, const struct event *event)
{
    return wants(cut, called(event->words));
}

/* It belongs to the entry or leave that follows it. */
static bool wants_next(const struct cunei_cut *cut, const struct event *event)
{
    const uint64_t *next = event->words + event->size;

    return cunei_event_words(next, event->left - event->size) == 0 ||
           wants(cut, called(next));
}

static bool wants_line(const struct cunei_cut *cut, const struct event *event)
{
    (void)event;
    return wants(cut, cut->line.function);
}

/* Whether the innermost function that is open is wanted, or not known. */
static bool wants_top(const struct cunei_cut *cut, const struct event *event)
{
    const struct cunei_cut_stack *stack = &cut->stack;
    uint32_t count = stack->count;

    (void)event;
    while (count > 0 && is_region(cut, stack->functions[count - 1]))
        count--;
    return count == 0 || wants(cut, stack->functions[count - 1]);
}

/*
 * Of each class, whether the function that an event belongs to is wanted, NULL if it
 * belongs to none; and what is written of it, NULL: all.  Row 0 is that of functions.
 */
static const struct {
    bool (*is_wanted)(const struct cunei_cut *cut, const struct event *event);
    void (*put)(struct cunei_cut *cut, const struct event *event);
} classes[CUNEI_CLASS_COUNT] = {
    [0] = {.is_wanted = wants_called},
    [CUNEI_CLASS_STACK] = {.put = put_stack_event},
    [CUNEI_CLASS_CALL] = {.is_wanted = wants_called},
    [CUNEI_CLASS_UNWIND] = {.is_wanted = wants_next, .put = put_unwind},
    [CUNEI_CLASS_SWITCH] = {.put = put_switch},
    [CUNEI_CLASS_TASK] = {.is_wanted = wants_next},
    [CUNEI_CLASS_EXCEPTION] = {.is_wanted = wants_exception, .put = put_exception},
    [CUNEI_CLASS_LINE] = {.is_wanted = wants_line, .put = put_line},
    [CUNEI_CLASS_ARGUMENT] = {.is_wanted = wants_top},
};

static void put_event(struct cunei_cut *cut, const struct event *event)
{
    uint32_t class = cunei_event_class_of(event->words[0]);

    if (classes[class].is_wanted && !classes[class].is_wanted(cut, event))
        return;
    if (classes[class].put)
        classes[class].put(cut, event);
    else
        (void)put(cut, event->words, event->size);
}

/* The last line, as if it was in full. */
static void follow_line(struct cunei_cut *cut, const uint64_t *event)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class == CUNEI_CLASS_LINE)
        cut->line = cut->full = *(const struct cunei_line *)(const void *)event;
    else if (cunei_class_is_near(class))
        cut->line = cunei_line_near(event[0], &cut->full);
}

/* Keep track of what is open. */
static void follow(struct cunei_cut *cut, const uint64_t *event)
{
    const struct cunei_stack *stack = (const void *)event;
    const struct cunei_switch *change = (const void *)event;
    uint32_t class = cunei_record_class(event[0]);
    uint32_t function = called(event);

    if (class == CUNEI_CLASS_STACK)
        load(cut, stack->functions, stack->count, stack->omitted);
    else if (class == CUNEI_CLASS_SWITCH)
        load(cut, change->functions, change->count, change->omitted);
    else if (function == 0)
        return;
    else if (cunei_record_phase(event[0]) & 1)
        leave(cut, function);
    else
        (void)push(cut, function);
}

static void begin_packet(struct cunei_cut *cut)
{
    cut->line = cut->full = (struct cunei_line){0};
    cut->has_begun = false;
    clear(cut);
}

static void end_packet(struct cunei_cut *cut)
{
    uint64_t bits = (sizeof(cut->packet) + cut->word_count * sizeof(uint64_t)) * 8;

    if (cut->packet.timestamp_begin < cut->options->from)
        cut->packet.timestamp_begin = cut->options->from;
    if (cut->packet.timestamp_end > cut->options->until)
        cut->packet.timestamp_end = cut->options->until;
    atomic_store_explicit(&cut->packet.content_bits, bits, memory_order_relaxed);
    cut->packet.packet_bits = bits;
}

/* The time that is wanted may begin or end where no event is. */
static void mark_edges(struct cunei_cut *cut, uint64_t last)
{
    const struct cunei_cut_options *options = cut->options;
    uint64_t end = cut->packet.timestamp_end > last ? cut->packet.timestamp_end : last;

    if (!cut->has_begun && last < options->from && options->from <= end) {
        mark_time(cut, options->from);
        cut->has_begun = true;
    }
    if (cut->has_begun && options->until < end)
        mark_time(cut, options->until);
}

int cunei_cut_packet(struct cunei_cut *cut, const struct cunei_packet *packet,
                     const uint64_t *words, size_t word_count)
{
    begin_packet(cut);
    return cunei_cut_continue(cut, packet, words, word_count);
}

int cunei_cut_continue(struct cunei_cut *cut, const struct cunei_packet *packet,
                       const uint64_t *words, size_t word_count)
{
    const struct cunei_cut_options *options = cut->options;
    uint64_t begin = packet->timestamp_begin, time = begin;
    size_t size = 0;

    memcpy(&cut->packet, packet, sizeof(cut->packet));
    cut->word_count = 0;
    for (size_t at = 0; at < word_count && !cut->failed; at += size) {
        const uint64_t *event = words + at;
        size = cunei_event_words(event, word_count - at);
        if (size == 0)
            break;
        time = cunei_record_time(event[0], begin);
        if (time > options->until)
            break;
        if (time >= options->from) {
            if (!cut->has_begun && cunei_record_class(event[0]) != CUNEI_CLASS_STACK)
                mark_time(cut, options->from);
            cut->has_begun = true;
        }
        follow_line(cut, event);
        bool is_late = cunei_record_class(event[0]) == CUNEI_CLASS_STACK ||
                       cunei_record_class(event[0]) == CUNEI_CLASS_SWITCH;
        if (is_late)
            follow(cut, event);
        if (time >= options->from)
            put_event(cut, &(struct event){event, size, word_count - at});
        if (!is_late)
            follow(cut, event);
    }
    mark_edges(cut, time);
    end_packet(cut);
    return cut->failed ? -ENOMEM : 0;
}

void cunei_cut_fini(struct cunei_cut *cut)
{
    free(cut->words);
    free(cut->stack.functions);
    free(cut->stack.counts.items);
    *cut = (struct cunei_cut){0};
}
