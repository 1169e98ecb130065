// SPDX-License-Identifier: MIT
#include "trace/check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "trace/trace.h"

/* Times beyond this would overflow in sums; the clock needs centuries to get there. */
#define TIME_MAX (UINT64_C(1) << 62)

const char *cunei_trace_check_head(const struct cunei_packet *head,
                                   const uint8_t uuid[16], uint64_t number)
{
    uint64_t content = atomic_load_explicit(&head->content_bits, memory_order_relaxed);
    uint64_t whole = head->packet_bits;

    if (atomic_load_explicit(&head->magic, memory_order_relaxed) != CUNEI_PACKET_MAGIC)
        return "no packet begins there";
    if (memcmp(head->uuid, uuid, 16) != 0)
        return "the packet belongs to another process";
    if (head->stream != number)
        return "the packet belongs to another stream";
    if (head->stream_class > CUNEI_STREAM_DEFINITIONS)
        return "the packet is of an unknown kind";
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
        return "the packet's number goes back";
    if (head->timestamp_begin < last_end)
        return "the packet begins before the one in front of it ends";
    return NULL;
}

static bool is_defined(const struct cunei_trace_process *process, uint64_t id)
{
    return id >= CUNEI_FUNCTION_FIRST && id < CUNEI_FUNCTION_END &&
           cunei_trace_function(process, (uint32_t)id) != NULL;
}

static const char *check_functions(const struct cunei_trace_process *process,
                                   const uint32_t *functions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(i == 0 && functions[i] == 0) && !is_defined(process, functions[i]))
            return "a stack holds a function that is not defined";
    }
    return NULL;
}

/* Of functions that an event names, where there need not be one. */
static bool is_defined_or_none(const struct cunei_trace_process *process, uint32_t id)
{
    return id == 0 || is_defined(process, id);
}

static const char *check_value(const struct cunei_trace_process *process,
                               const struct cunei_user_value *value)
{
    bool has_text = value->kind >= CUNEI_VALUE_TEXT;

    if (value->kind >= CUNEI_VALUE_KINDS)
        return "a value is of an unknown kind";
    if (value->length > CUNEI_VALUE_MAX)
        return "a value's text is too long";
    if (value->name_length > value->length ||
        (has_text && value->name_length == value->length))
        return "a value's name is longer than its text";
    if (has_text && value->text[value->name_length] != '=')
        return "a value's text does not stand behind its name";
    return is_defined_or_none(process, value->target)
               ? NULL
               : "a value is of a function that is not defined";
}

static const char *check_counter(const struct cunei_trace_process *process,
                                 const struct cunei_counter *counter)
{
    if (counter->kind > (CUNEI_COUNTER_VALUE_DOUBLE | CUNEI_COUNTER_TOTAL_DOUBLE))
        return "a counter is of an unknown kind";
    return is_defined(process, counter->counter) ? NULL : "a counter is not defined";
}

static const char *check_payload(const struct cunei_trace_process *process,
                                 uint32_t class, const uint64_t *words)
{
    const struct cunei_stack *stack = (const void *)words;
    const struct cunei_switch *change = (const void *)words;
    const struct cunei_exception *exception = (const void *)words;
    const struct cunei_line *line = (const void *)words;
    const struct cunei_argument *argument = (const void *)words;
    const struct cunei_demote *demote = (const void *)words;
    const struct cunei_sample *sample = (const void *)words;
    const struct cunei_token *token = (const void *)words;

    switch (class) {
    case CUNEI_CLASS_STACK:
        return check_functions(process, stack->functions, stack->count);
    case CUNEI_CLASS_SWITCH:
        return check_functions(process, change->functions, change->count);
    case CUNEI_CLASS_CALL:
        return is_defined(process, words[1]) ? NULL : "a function is not defined";
    case CUNEI_CLASS_EXCEPTION:
        return is_defined_or_none(process, exception->function) &&
                       is_defined_or_none(process, exception->handler)
                   ? NULL
                   : "an exception is of a function that is not defined";
    case CUNEI_CLASS_LINE:
        return is_defined(process, line->function)
                   ? NULL
                   : "a line is of a function that is not defined";
    case CUNEI_CLASS_ARGUMENT:
        if (argument->name_length && argument->name_length >= argument->length)
            return "an argument's name is longer than its text";
        return is_defined(process, argument->function)
                   ? NULL
                   : "an argument is of a function that is not defined";
    case CUNEI_CLASS_DEMOTE:
        return is_defined_or_none(process, demote->function) &&
                       demote->level < CUNEI_LEVELS
                   ? NULL
                   : "what a budget switches is impossible";
    case CUNEI_CLASS_SAMPLE:
        return is_defined(process, sample->function) &&
                       is_defined_or_none(process, sample->caller) &&
                       (cunei_record_phase(sample->record) != CUNEI_PHASE_LEAVE ||
                        sample->span == 0 || is_defined(process, sample->span))
                   ? NULL
                   : "an estimate is of a function that is not defined";
    case CUNEI_CLASS_MARK:
    case CUNEI_CLASS_PARAMETER:
    case CUNEI_CLASS_TAG:
    case CUNEI_CLASS_METADATA:
        return check_value(process, (const void *)words);
    case CUNEI_CLASS_COUNTER:
        return check_counter(process, (const void *)words);
    case CUNEI_CLASS_TOKEN:
        return is_defined(process, token->name) ? NULL
                                                : "a stream of tokens is not defined";
    default:
        return NULL;
    }
}

/* A line that is told by how far it is from the last one in full. */
static const char *check_near(uint64_t record, const struct cunei_line *last)
{
    if (last->function == 0)
        return "a line has none before it that it is near to";
    uint32_t line = cunei_line_near(record, last).line;
    return line > 0 && line <= INT32_MAX ? NULL : "a line's number is impossible";
}

/* NULL, or what is wrong with an event that is no plain record of a known function. */
static const char *check_event(const struct cunei_trace_process *process,
                               uint32_t stream_class, const uint64_t *words,
                               size_t room, const struct cunei_line *last_line,
                               bool is_first)
{
    uint32_t class = cunei_record_class(words[0]);

    /* To take in what it says may take as long as a million events. */
    if (class == CUNEI_CLASS_STACK && !is_first)
        return "a stack is not its first event";
    if (class >= CUNEI_FUNCTION_FIRST)
        return stream_class == CUNEI_STREAM_EVENTS && class < process->class_end &&
                       is_defined(process, class)
                   ? NULL
                   : "a function is not defined";
    const struct cunei_layout *layout = cunei_event_layout(class);
    if (!layout)
        return "an event is of an unknown class";
    if (layout->stream != stream_class)
        return "an event is of a class that is not for its stream";
    if (cunei_event_words(words, room) == 0)
        return "an event does not fit in its packet";
    if (cunei_class_is_near(class))
        return check_near(words[0], last_line);
    return check_payload(process, class, words);
}

/*
 * The run of plain records of known functions from `words` on, which is nearly all of
 * a packet: a time that goes back, or far ahead, ends it like any other event that
 * wants a closer look.  Times are relative to the packet's begin and grow, so that only
 * the last needs to be compared with the span of a packet.
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

/* How many functions, from the first on, may be plain records in this stream. */
static uint32_t plain_functions(const struct cunei_trace_process *process,
                                const struct cunei_packet *head)
{
    uint32_t classes = process->class_end - CUNEI_FUNCTION_FIRST;

    if (head->stream_class != CUNEI_STREAM_EVENTS)
        return 0;
    return process->dense_count < classes ? process->dense_count : classes;
}

struct cunei_trace_events cunei_trace_check_events(
    const struct cunei_trace_process *process, const struct cunei_packet *head,
    const uint64_t *words, size_t word_count)
{
    uint64_t begin = head->timestamp_begin, last = 0;
    uint32_t dense = plain_functions(process, head);
    struct cunei_trace_events events = {.last_time = begin};
    struct cunei_line line = {0}; /* the last one in full */

    if (word_count > 0 && head->stream_class == CUNEI_STREAM_EVENTS &&
        cunei_record_class(words[0]) != CUNEI_CLASS_STACK)
        events.wrong = "its first event is no stack";
    while (!events.wrong && events.word_count < word_count) {
        const uint64_t *at = words + events.word_count;
        size_t room = word_count - events.word_count;
        size_t count = run_length(at, room, begin, dense, &last);
        size_t size = count;
        if (count == 0) {
            last = (at[0] - begin) & CUNEI_TIME_MASK;
            events.wrong = begin + last < events.last_time
                               ? "a time goes back"
                               : check_event(process, head->stream_class, at, room,
                                             &line, at == words);
            count = 1;
            size = events.wrong ? 0 : cunei_event_words(at, room);
            if (size && cunei_record_class(at[0]) == CUNEI_CLASS_LINE)
                line = *(const struct cunei_line *)(const void *)at;
        }
        if (!events.wrong && last >= CUNEI_SPAN_MAX)
            events.wrong = "a time goes back, or too far ahead";
        if (!events.wrong) {
            events.word_count += size;
            events.event_count += count;
            events.last_time = begin + last;
        }
    }
    return events;
}
