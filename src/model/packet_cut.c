// SPDX-License-Identifier: MIT
#include "model/packet_cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool wants(const struct cunei_cut *cut, uint32_t function)
{
    const struct cunei_cut_options *options = cut->options;
    uint32_t index = function - CUNEI_FUNCTION_FIRST;

    if (!options->functions || function < CUNEI_FUNCTION_FIRST)
        return true;
    return index < options->function_count && options->functions[index];
}

static uint64_t *reserve(struct cunei_cut *cut, size_t count)
{
    size_t needed = cut->word_count + count;

    if (needed > cut->capacity) {
        size_t capacity = needed > 2 * cut->capacity ? needed : 2 * cut->capacity;
        uint64_t *grown = realloc(cut->words, capacity * sizeof(*grown));
        if (!grown) {
            cut->failed = true;
            return NULL;
        }
        cut->words = grown;
        cut->capacity = capacity;
    }
    uint64_t *place = cut->words + cut->word_count;
    cut->word_count = needed;
    return place;
}

static uint64_t *put(struct cunei_cut *cut, const uint64_t *event, size_t count)
{
    uint64_t *place = reserve(cut, count);

    if (place)
        memcpy(place, event, count * sizeof(*event));
    return place;
}

/* What is no function is counted as one. */
static uint32_t index_of(uint32_t function)
{
    return function < CUNEI_FUNCTION_END ? function : 0;
}

static bool reserve_count(struct cunei_cut_stack *stack, uint32_t index)
{
    uint32_t capacity = stack->count_capacity ? stack->count_capacity : 4096;

    while (capacity <= index)
        capacity *= 2;
    if (capacity == stack->count_capacity)
        return true;
    uint32_t *counts = realloc(stack->counts, capacity * sizeof(*counts));
    if (!counts)
        return false;
    memset(counts + stack->count_capacity, 0,
           (capacity - stack->count_capacity) * sizeof(*counts));
    stack->counts = counts;
    stack->count_capacity = capacity;
    return true;
}

static void push(struct cunei_cut *cut, uint32_t function)
{
    struct cunei_cut_stack *stack = &cut->stack;
    uint32_t index = index_of(function);

    if (!reserve_count(stack, index)) {
        cut->failed = true;
        return;
    }
    if (stack->count == stack->capacity) {
        uint32_t capacity = stack->capacity ? 2 * stack->capacity : 256;
        uint32_t *grown = realloc(stack->functions, capacity * sizeof(*grown));
        if (!grown) {
            cut->failed = true;
            return;
        }
        stack->functions = grown;
        stack->capacity = capacity;
    }
    stack->functions[stack->count++] = function;
    stack->counts[index]++;
}

/* Only so many stay open. */
static void empty(struct cunei_cut_stack *stack, uint32_t count)
{
    while (stack->count > count)
        stack->counts[index_of(stack->functions[--stack->count])]--;
}

static bool is_open(const struct cunei_cut_stack *stack, uint32_t function)
{
    uint32_t index = index_of(function);

    return index < stack->count_capacity && stack->counts[index] > 0;
}

static bool is_region(const struct cunei_cut *cut, uint32_t function)
{
    return cunei_id_kinds_is_region(&cut->options->kinds, function);
}

/* Remove the one at a place, and the functions above it if it is one. */
static void remove_at(struct cunei_cut *cut, uint32_t place)
{
    struct cunei_cut_stack *stack = &cut->stack;
    bool takes_functions = !is_region(cut, stack->functions[place]);
    uint32_t kept = place;

    stack->counts[index_of(stack->functions[place])]--;
    for (uint32_t i = place + 1; i < stack->count; i++) {
        uint32_t function = stack->functions[i];
        if (takes_functions && !is_region(cut, function))
            stack->counts[index_of(function)]--;
        else
            stack->functions[kept++] = function;
    }
    stack->count = kept;
}

/*
 * A leave of what is not on top ends the functions above it unless it is a region's,
 * one of what is not open is nothing, as those who read the stream see it.
 */
static void pop(struct cunei_cut *cut, uint32_t function)
{
    struct cunei_cut_stack *stack = &cut->stack;
    uint32_t count = is_open(stack, function) ? stack->count : 0;

    while (count > 0 && stack->functions[count - 1] != function)
        count--;
    if (count > 0)
        remove_at(cut, count - 1);
    else if (stack->count == 0 && stack->omitted > 0 && !is_region(cut, function))
        stack->omitted--;
}

/* Whether the innermost function that is open is wanted, or not known. */
static bool wants_top(const struct cunei_cut *cut)
{
    const struct cunei_cut_stack *stack = &cut->stack;
    uint32_t count = stack->count;

    while (count > 0 && is_region(cut, stack->functions[count - 1]))
        count--;
    return count == 0 || wants(cut, stack->functions[count - 1]);
}

/* What a `stack` or a `switch` says is open. */
static void load(struct cunei_cut *cut, const uint32_t *functions, uint32_t count,
                 uint32_t omitted)
{
    empty(&cut->stack, 0);
    cut->stack.omitted = omitted;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 || functions[i] != 0)
            push(cut, functions[i]);
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

static void mark_time(struct cunei_cut *cut, uint64_t time)
{
    uint64_t *event = put_stack(cut, 2);

    if (event)
        event[0] = cunei_record(time, CUNEI_CLASS_STACK, 0);
}

static void put_switch(struct cunei_cut *cut, const uint64_t *event)
{
    uint64_t *copy = put_stack(cut, 3);

    if (copy)
        memcpy(copy, event, 2 * sizeof(*event));
}

/* An exception is told whatever is wanted, as if raised in what is not recorded. */
static void put_exception(struct cunei_cut *cut, const uint64_t *event, size_t size)
{
    struct cunei_exception *copy = (void *)put(cut, event, size);

    if (!copy)
        return;
    if (!wants(cut, copy->function))
        copy->function = copy->line = 0;
    if (!wants(cut, copy->handler))
        copy->handler = copy->handler_line = 0;
}

/* The function of an event that enters or leaves one; 0: it does not. */
static uint32_t called(const uint64_t *event)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class == CUNEI_CLASS_CALL)
        return event[1] < CUNEI_FUNCTION_END ? (uint32_t)event[1] : 0;
    return class < CUNEI_FUNCTION_FIRST ? 0 : class;
}

/* Whether the function that an event belongs to is wanted. */
static bool is_wanted(const struct cunei_cut *cut, const uint64_t *event, size_t size,
                      size_t left)
{
    uint32_t class = cunei_record_class(event[0]);

    switch (cunei_class_is_near(class) ? CUNEI_CLASS_LINE : class) {
    case CUNEI_CLASS_TASK:
    case CUNEI_CLASS_UNWIND:
        return cunei_event_words(event + size, left - size) == 0 ||
               wants(cut, called(event + size));
    case CUNEI_CLASS_LINE:
        return wants(cut, cut->line.function);
    case CUNEI_CLASS_ARGUMENT:
        return wants_top(cut);
    default:
        return wants(cut, called(event));
    }
}

/* A line is told in full: the one that it is near to may not be wanted. */
static void follow_line(struct cunei_cut *cut, const uint64_t *event)
{
    uint32_t class = cunei_record_class(event[0]);

    if (class == CUNEI_CLASS_LINE)
        cut->line = cut->full = *(const struct cunei_line *)(const void *)event;
    else if (cunei_class_is_near(class))
        cut->line = cunei_line_near(event[0], &cut->full);
}

static void put_event(struct cunei_cut *cut, const uint64_t *event, size_t size)
{
    uint32_t class = cunei_record_class(event[0]);
    uint64_t *copy;

    switch (cunei_class_is_near(class) ? CUNEI_CLASS_LINE : class) {
    case CUNEI_CLASS_LINE:
        (void)put(cut, &cut->line.record, sizeof(cut->line) / sizeof(uint64_t));
        break;
    case CUNEI_CLASS_STACK:
        copy = put_stack(cut, 2);
        if (copy)
            copy[0] = event[0];
        break;
    case CUNEI_CLASS_SWITCH:
        put_switch(cut, event);
        break;
    case CUNEI_CLASS_EXCEPTION:
        put_exception(cut, event, size);
        break;
    case CUNEI_CLASS_UNWIND:
        copy = put(cut, event, size);
        /* Frames that were apart may now stand on top of each other. */
        if (copy && cut->options->functions)
            copy[1] = 0;
        break;
    default:
        (void)put(cut, event, size);
    }
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
        pop(cut, function);
    else
        push(cut, function);
}

static void begin_packet(struct cunei_cut *cut, const struct cunei_packet *packet)
{
    memcpy(&cut->packet, packet, sizeof(cut->packet));
    cut->word_count = 0;
    cut->line = cut->full = (struct cunei_line){0};
    cut->has_begun = false;
    empty(&cut->stack, 0);
    cut->stack.omitted = 0;
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
    const struct cunei_cut_options *options = cut->options;
    uint64_t begin = packet->timestamp_begin, time = begin;
    size_t size = 0;

    begin_packet(cut, packet);
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
        if (time >= options->from && is_wanted(cut, event, size, word_count - at))
            put_event(cut, event, size);
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
    free(cut->stack.counts);
    *cut = (struct cunei_cut){0};
}
