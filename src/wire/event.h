// SPDX-License-Identifier: MIT
/*
 * The events of a stream, byte for byte.
 *
 * An event is one little-endian 64-bit word, the record, and for a built-in class the
 * payload that follows it (wire/event_class.h).  The record is written by one store:
 *
 *     bits  0–39   time: the low bits of the clock, relative to the clock's base
 *     bits 40–61   class: a built-in class below 1024, a function from there on
 *     bits 62–63   phase
 *
 * A packet spans less than 2³⁹ ticks, so that its 64-bit begin and the 40 bits give the
 * whole time.  In CTF each function is an event class of its own; functions numbered
 * from CUNEI_FUNCTION_CLASS_END on appear as `call` events, because the time that
 * babeltrace2 needs to load a trace grows with the square of its classes.
 *
 * Changing the record changes CUNEI_WIRE_VERSION.
 */
#ifndef CUNEI_WIRE_EVENT_H
#define CUNEI_WIRE_EVENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event_class.h"

#define CUNEI_WIRE_VERSION 1

#define CUNEI_TIME_BITS   40
#define CUNEI_CLASS_BITS  22
#define CUNEI_TIME_MASK   ((UINT64_C(1) << CUNEI_TIME_BITS) - 1)
#define CUNEI_CLASS_MASK  ((UINT64_C(1) << CUNEI_CLASS_BITS) - 1)
#define CUNEI_CLASS_SHIFT CUNEI_TIME_BITS
#define CUNEI_PHASE_SHIFT (CUNEI_TIME_BITS + CUNEI_CLASS_BITS)

/* No packet may span more: half of what the time bits can distinguish. */
#define CUNEI_SPAN_MAX (UINT64_C(1) << (CUNEI_TIME_BITS - 1))

enum cunei_phase {
    CUNEI_PHASE_ENTER,  /* the first entry of a call */
    CUNEI_PHASE_LEAVE,  /* its end, by return or by an exception */
    CUNEI_PHASE_RESUME, /* re-entry of a generator or coroutine, also by throw() */
    CUNEI_PHASE_YIELD,  /* it is suspended */
    CUNEI_PHASES,
};

/*
 * The classes of near lines: a line of the same function as the last `line` event of
 * its packet, at most 128 lines away.  Such an event is only a record
 * (cunei_line_near).
 */
#define CUNEI_NEAR_FIRST 768u
#define CUNEI_NEAR_COUNT 256u
#define CUNEI_NEAR_ABOVE 128u /* the first of them are for lines above it */

#define CUNEI_FUNCTION_FIRST     1024u
#define CUNEI_FUNCTION_CLASS_END (CUNEI_FUNCTION_FIRST + 20000u)
#define CUNEI_FUNCTION_END       (1u << CUNEI_CLASS_BITS)

/*
 * Names that the program gives are defined as functions are, in these files, without a
 * module, at line 0.  A region begins and ends with the enter and leave of its own
 * class, as a function does; it is suspended with the frame in which it began.  Unlike
 * calls, regions need not nest: a region may end while functions called in it are open,
 * and a function may return while regions that began in it are open.
 */
#define CUNEI_REGION_FILE  "<cunei region>"
#define CUNEI_COUNTER_FILE "<cunei counter>"
#define CUNEI_TOKENS_FILE  "<cunei tokens>"

static_assert(CUNEI_PHASE_SHIFT == 62, "the record is not 64 bits");
static_assert(CUNEI_NEAR_FIRST >= CUNEI_CLASS_COUNT &&
                  CUNEI_NEAR_FIRST + CUNEI_NEAR_COUNT <= CUNEI_FUNCTION_FIRST,
              "classes overlap");

/* The row of a built-in class, or NULL. */
const struct cunei_event_class *cunei_event_class(uint32_t number);

static inline bool cunei_field_is_array(const struct cunei_field *field)
{
    return field->kind == CUNEI_FIELD_FUNCTIONS || field->kind == CUNEI_FIELD_TEXT;
}

/* The number in a field that is not an array, which begins at `at`. */
static inline uint64_t cunei_field_number(const struct cunei_field *field,
                                          const void *at)
{
    return field->size == sizeof(uint64_t) ? *(const uint64_t *)at
                                           : *(const uint32_t *)at;
}

/* The first field of the event at `words` that refers to a function, or 0. */
uint64_t cunei_event_function(const uint64_t *words);

/*
 * How many words the event at `words` has; 0: its class is unknown, or it does not fit
 * in the `left` words.
 */
size_t cunei_event_words(const uint64_t *words, size_t left);

static inline uint64_t cunei_record(uint64_t time, uint32_t class, uint32_t phase)
{
    return (time & CUNEI_TIME_MASK) | (uint64_t) class << CUNEI_CLASS_SHIFT |
           (uint64_t)phase << CUNEI_PHASE_SHIFT;
}

static inline uint32_t cunei_record_class(uint64_t record)
{
    return (uint32_t)(record >> CUNEI_CLASS_SHIFT & CUNEI_CLASS_MASK);
}

static inline enum cunei_phase cunei_record_phase(uint64_t record)
{
    return (enum cunei_phase)(record >> CUNEI_PHASE_SHIFT);
}

static inline int cunei_class_is_near(uint32_t class)
{
    return class - CUNEI_NEAR_FIRST < CUNEI_NEAR_COUNT;
}

/* The built-in class of a record, that of `line` for near lines; 0: another one. */
static inline uint32_t cunei_event_class_of(uint64_t record)
{
    uint32_t class = cunei_record_class(record);

    return cunei_class_is_near(class)  ? CUNEI_CLASS_LINE
           : class < CUNEI_CLASS_COUNT ? class
                                       : 0;
}

/*
 * The `line` event that a near line stands for.  `last` is the last `line` event before
 * it in its packet; the class is the distance from that line.
 */
static inline struct cunei_line cunei_line_near(uint64_t record,
                                                const struct cunei_line *last)
{
    const uint64_t class = (uint64_t)CUNEI_CLASS_MASK << CUNEI_CLASS_SHIFT;
    uint32_t distance = cunei_record_class(record) - CUNEI_NEAR_FIRST;

    return (struct cunei_line){
        .record = (record & ~class) | (uint64_t)CUNEI_CLASS_LINE << CUNEI_CLASS_SHIFT,
        .line = last->line + distance - CUNEI_NEAR_ABOVE,
        .function = last->function,
    };
}

/* The whole time of a record in a packet that begins at `begin`. */
static inline uint64_t cunei_record_time(uint64_t record, uint64_t begin)
{
    return begin + ((record - begin) & CUNEI_TIME_MASK);
}

#endif
