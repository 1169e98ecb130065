// SPDX-License-Identifier: MIT
#include "trace/packet/check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "trace/process/process.h"

/* Later times would overflow in sums; the clock takes centuries to reach them. */
#define TIME_MAX (UINT64_C(1) << 62)

const char *cunei_trace_check_head(const struct cunei_packet *head,
                                   const uint8_t uuid[16], uint64_t number)
{
    uint64_t content = atomic_load_explicit(&head->content_bits, memory_order_relaxed);
    uint64_t whole = head->packet_bits;

    if (atomic_load_explicit(&head->magic, memory_order_relaxed) != CUNEI_PACKET_MAGIC)
        return "no packet begins here";
    if (memcmp(head->uuid, uuid, 16) != 0)
        return "the packet belongs to another process";
    if (head->stream != number)
        return "the packet belongs to another stream";
    if (head->stream_class > CUNEI_STREAM_DEFINITIONS)
        return "the packet has an unknown stream class";
    if (content % 64 != 0 || whole % 64 != 0 || content > whole ||
        content < sizeof(*head) * 8 || whole > CUNEI_PACKET_SIZE * UINT64_C(8))
        return "the packet's size is impossible";
    if (head->timestamp_begin > head->timestamp_end || head->timestamp_end > TIME_MAX)
        return "the packet's times are impossible";
    return NULL;
}

const char *cunei_trace_check_order(const struct cunei_packet *head,
                                    uint64_t last_sequence, uint64_t last_end)
{
    if (head->sequence <= last_sequence)
        return "the packet's sequence number goes back";
    if (head->timestamp_begin < last_end)
        return "the packet begins before the previous one ends";
    return NULL;
}

static bool is_defined(const struct cunei_trace_process *process, uint64_t id)
{
    return id >= CUNEI_FUNCTION_FIRST && id < CUNEI_FUNCTION_END &&
           cunei_trace_function(process, (uint32_t)id) != NULL;
}

static bool is_defined_or_none(const struct cunei_trace_process *process, uint64_t id)
{
    return id == 0 || is_defined(process, id);
}

/* A stack of an odd number of functions is padded with a 0 in front. */
static bool are_defined(const struct cunei_trace_process *process,
                        const uint32_t *functions, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!(i == 0 && functions[i] == 0) && !is_defined(process, functions[i]))
            return false;
    }
    return true;
}

/* NULL, or what is wrong with one field that holds `number`. */
static const char *check_number(const struct cunei_trace_process *process,
                                enum cunei_field_kind kind, enum cunei_phase phase,
                                uint64_t number)
{
    static const char undefined[] = "an event refers to a function that is not defined";

    switch (kind) {
    case CUNEI_FIELD_FUNCTION:
        return is_defined(process, number) ? NULL : undefined;
    case CUNEI_FIELD_FUNCTION_OR_NONE:
        return is_defined_or_none(process, number) ? NULL : undefined;
    case CUNEI_FIELD_FUNCTION_OR_SPAN:
        return phase != CUNEI_PHASE_LEAVE || is_defined_or_none(process, number)
                   ? NULL
                   : undefined;
    case CUNEI_FIELD_LEVEL:
        return number < CUNEI_LEVELS ? NULL : "an event has an unknown level";
    case CUNEI_FIELD_VALUE_KIND:
        return number < CUNEI_VALUE_KINDS ? NULL : "a value has an unknown kind";
    case CUNEI_FIELD_COUNTER_KIND:
        return number <= (CUNEI_COUNTER_VALUE_DOUBLE | CUNEI_COUNTER_TOTAL_DOUBLE)
                   ? NULL
                   : "a counter has an unknown kind";
    default:
        return NULL;
    }
}

/* The length of the array at `at`, which is the field before it. */
static uint32_t array_length(const char *at)
{
    return ((const uint32_t *)(const void *)at)[-1];
}

static const char *check_payload(const struct cunei_trace_process *process,
                                 const struct cunei_event_class *class,
                                 const uint64_t *words)
{
    enum cunei_phase phase = cunei_record_phase(words[0]);
    const char *at = (const char *)(words + 1);
    const char *wrong = NULL;

    for (const struct cunei_field *field = class->fields; !wrong && field->name;
         at += field->size, field++) {
        if (field->kind == CUNEI_FIELD_FUNCTIONS)
            wrong = are_defined(process, (const void *)at, array_length(at))
                        ? NULL
                        : "a stack holds a function that is not defined";
        else if (field->kind >= CUNEI_FIELD_FUNCTION)
            wrong = check_number(process, field->kind, phase,
                                 cunei_field_number(field, at));
    }
    if (!wrong && class->is_valid && !class->is_valid(words))
        wrong = "a name and its value do not fit in their text";
    return wrong;
}

/* What the check of an event depends on. */
struct context {
    const struct cunei_trace_process *process;
    uint32_t stream_class;
    struct cunei_line *line; /* the packet's last `line` event */
};

/* A line given by its distance from the last `line` event. */
static const char *check_near(uint64_t record, const struct cunei_line *last)
{
    if (last->function == 0)
        return "a near line has no line before it";
    uint32_t line = cunei_line_near(record, last).line;
    return line > 0 && line <= INT32_MAX ? NULL : "a line number is impossible";
}

/*
 * NULL, or what is wrong with the event at `words`, which is not a plain record of a
 * known function and takes `size` words; 0: its size is unknown, or exceeds the packet.
 */
static const char *check_event(struct context *context, const uint64_t *words,
                               size_t size, bool is_first)
{
    const struct cunei_trace_process *process = context->process;
    uint32_t number = cunei_record_class(words[0]);

    /* Reading a stack may take as long as reading a million events. */
    if (number == CUNEI_CLASS_STACK && !is_first)
        return "a stack is not its first event";
    if (number >= CUNEI_FUNCTION_FIRST)
        return context->stream_class == CUNEI_STREAM_EVENTS &&
                       number < process->class_end && is_defined(process, number)
                   ? NULL
                   : "a function is not defined";
    const struct cunei_event_class *class = cunei_event_class(number);
    if (!class)
        return "an event has an unknown class";
    if (class->stream != context->stream_class)
        return "an event has a class that does not belong in its stream";
    if (size == 0)
        return "an event does not fit in its packet";
    if (cunei_class_is_near(number))
        return check_near(words[0], context->line);
    if (number == CUNEI_CLASS_LINE)
        *context->line = *(const struct cunei_line *)(const void *)words;
    return check_payload(process, class, words);
}

/*
 * The number of plain records of known functions from `words` on, which are nearly all
 * of a packet.  A time that goes back or far ahead ends them, as does any event that
 * needs a closer look.  Times are relative to the packet's begin and grow, so that only
 * the last must be compared with the longest span of a packet.
 */
static size_t run_length(const uint64_t *words, size_t room, uint64_t begin,
                         uint32_t dense, uint64_t *last)
{
    uint64_t before = *last;
    size_t i = 0;

    for (; i < room; i++) {
        uint64_t time = (words[i] - begin) & CUNEI_TIME_MASK;
        uint32_t index = cunei_record_class(words[i]) - CUNEI_FUNCTION_FIRST;
        if (__builtin_expect((index >= dense) | (time - before >= CUNEI_SPAN_MAX), 0))
            break;
        before = time;
    }
    *last = before;
    return i;
}

/* How many functions, from the first on, may be plain records in this packet. */
static uint32_t plain_functions(const struct cunei_trace_process *process,
                                const struct cunei_packet *head)
{
    uint32_t classes = process->class_end - CUNEI_FUNCTION_FIRST;

    if (head->stream_class != CUNEI_STREAM_EVENTS)
        return 0;
    return process->dense_count < classes ? process->dense_count : classes;
}

/* How many of the last event's words announce the one behind it. */
static size_t announcing(uint64_t record, size_t size)
{
    uint32_t class = cunei_record_class(record);

    return class == CUNEI_CLASS_UNWIND || class == CUNEI_CLASS_TASK ? size : 0;
}

struct cunei_trace_events cunei_trace_check_part(
    const struct cunei_trace_process *process, const struct cunei_packet *head,
    struct cunei_trace_checked *checked, const uint64_t *words, size_t word_count)
{
    struct context context = {
        .process = process, .stream_class = head->stream_class, .line = &checked->line};
    uint64_t begin = head->timestamp_begin;
    uint32_t dense = plain_functions(process, head);
    bool is_first = !checked->has_begun;
    struct cunei_trace_events events = {.last_time =
                                            is_first ? begin : checked->last_time};
    uint64_t last = events.last_time - begin;

    if (is_first && word_count > 0 && head->stream_class == CUNEI_STREAM_EVENTS &&
        cunei_record_class(words[0]) != CUNEI_CLASS_STACK)
        events.wrong = "its first event is not a stack";
    while (!events.wrong && events.word_count < word_count) {
        const uint64_t *at = words + events.word_count;
        size_t room = word_count - events.word_count;
        size_t count = run_length(at, room, begin, dense, &last);
        size_t size = count;
        bool is_run = count > 0;
        if (!is_run) {
            last = (at[0] - begin) & CUNEI_TIME_MASK;
            count = 1;
            size = cunei_event_words(at, room);
            events.wrong =
                begin + last < events.last_time
                    ? "a time goes back"
                    : check_event(&context, at, size, is_first && at == words);
        }
        if (!events.wrong && last >= CUNEI_SPAN_MAX)
            events.wrong = "a time goes back, or too far ahead";
        if (!events.wrong) {
            events.word_count += size;
            events.event_count += count;
            events.last_time = begin + last;
            events.announcing = is_run ? 0 : announcing(at[0], size);
        }
    }
    checked->has_begun |= events.word_count > 0;
    checked->last_time = events.last_time;
    return events;
}

struct cunei_trace_events cunei_trace_check_events(
    const struct cunei_trace_process *process, const struct cunei_packet *head,
    const uint64_t *words, size_t word_count)
{
    struct cunei_trace_checked checked = {0};

    return cunei_trace_check_part(process, head, &checked, words, word_count);
}
