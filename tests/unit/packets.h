// SPDX-License-Identifier: MIT
/*
 * Packets with invented times, for the tests of the model.
 *
 *     struct tape tape = {0};
 *     tape_packet(&tape, 1, 100);      (thread 1, at tick 100)
 *     tape_enter(&tape, F, 110);
 *     …
 *     tape_fini(&tape);
 *
 * A tape knows what is really open and starts each packet with it.
 */
#ifndef CUNEI_TESTS_PACKETS_H
#define CUNEI_TESTS_PACKETS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/event.h"
#include "wire/packet.h"

#define TAPE_PACKETS 512
#define TAPE_WORDS   4096
#define TAPE_DEPTH   128

struct tape {
    struct {
        struct cunei_packet head;
        uint64_t words[TAPE_WORDS];
        size_t count;
    } * packets[TAPE_PACKETS];
    size_t count;
    uint32_t open[TAPE_DEPTH]; /* really open, outermost first */
    uint32_t depth;
    uint64_t sequence;
    uint64_t discarded;
    uint32_t flags; /* of the packets to come */
};

enum {
    F = CUNEI_FUNCTION_FIRST,
    G,
    H,
    FUNCTION_COUNT = 8
};

static inline void tape_put(struct tape *tape, uint64_t word)
{
    tape->packets[tape->count - 1]->words[tape->packets[tape->count - 1]->count++] =
        word;
}

static inline void tape_packet(struct tape *tape, uint32_t thread, uint64_t time)
{
    uint32_t padding = tape->depth % 2;

    tape->packets[tape->count] = calloc(1, sizeof(**tape->packets));
    tape->packets[tape->count]->head = (struct cunei_packet){
        .thread = thread,
        .vtid = 1000 + thread,
        .timestamp_begin = time,
        .sequence = tape->sequence++,
        .events_discarded = tape->discarded,
        .flags = tape->flags,
    };
    tape->count++;
    tape_put(tape, cunei_record(time, CUNEI_CLASS_STACK, 0));
    tape_put(tape, (uint64_t)(tape->depth + padding) << 32);
    uint32_t functions[TAPE_DEPTH + 1] = {0};
    memcpy(functions + padding, tape->open, tape->depth * sizeof(*functions));
    for (uint32_t i = 0; i < tape->depth + padding; i += 2)
        tape_put(tape, functions[i] | (uint64_t)functions[i + 1] << 32);
}

static inline void tape_event(struct tape *tape, uint32_t function, int phase,
                              uint64_t time)
{
    if (phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME)
        tape->open[tape->depth++] = function;
    else if (tape->depth > 0 && tape->open[tape->depth - 1] == function)
        tape->depth--;
    tape_put(tape, cunei_record(time, function, (uint32_t)phase));
}

static inline void tape_enter(struct tape *tape, uint32_t function, uint64_t time)
{
    tape_event(tape, function, CUNEI_PHASE_ENTER, time);
}

static inline void tape_leave(struct tape *tape, uint32_t function, uint64_t time)
{
    tape_event(tape, function, CUNEI_PHASE_LEAVE, time);
}

static inline void tape_unwind(struct tape *tape, uint64_t run, uint64_t time)
{
    tape_put(tape, cunei_record(time, CUNEI_CLASS_UNWIND, 0));
    tape_put(tape, run);
}

/* The words of a payload's text, padded; returns how many bytes they are. */
static inline uint32_t tape_text_size(const char *text)
{
    return (uint32_t)(strlen(text) + 7) / 8 * 8;
}

static inline void tape_text(struct tape *tape, const char *text)
{
    char bytes[256] = "";

    memcpy(bytes, text, strlen(text));
    for (uint32_t i = 0; i < tape_text_size(text); i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof(word));
        tape_put(tape, word);
    }
}

/* Another greenlet runs, of which these are open. */
static inline void tape_switch(struct tape *tape, uint64_t greenlet,
                               const uint32_t *functions, uint32_t count, uint64_t time)
{
    uint32_t padded[TAPE_DEPTH + 1] = {0}, padding = count % 2;

    tape_put(tape, cunei_record(time, CUNEI_CLASS_SWITCH, 0));
    tape_put(tape, greenlet);
    tape_put(tape, (uint64_t)(count + padding) << 32);
    for (uint32_t i = 0; i < count; i++)
        tape->open[i] = padded[padding + i] = functions[i];
    for (uint32_t i = 0; i < count + padding; i += 2)
        tape_put(tape, padded[i] | (uint64_t)padded[i + 1] << 32);
    tape->depth = count;
}

/* The next event is a step of a task. */
static inline void tape_task(struct tape *tape, uint64_t task, const char *name,
                             int phase, uint64_t time)
{
    tape_put(tape, cunei_record(time, CUNEI_CLASS_TASK, (uint32_t)phase));
    tape_put(tape, task);
    tape_put(tape, (uint64_t)tape_text_size(name) << 32);
    tape_text(tape, name);
}

/* Both at once. */
static inline void tape_step(struct tape *tape, uint64_t task, const char *name,
                             uint32_t function, int phase, uint64_t time)
{
    tape_task(tape, task, name, phase, time);
    tape_event(tape, function, phase, time);
}

static inline void tape_gc(struct tape *tape, int phase, uint32_t generation,
                           uint64_t collected, uint64_t time)
{
    tape_put(tape, cunei_record(time, CUNEI_CLASS_GC, (uint32_t)phase));
    tape_put(tape, collected);
    tape_put(tape, generation);
}

static inline void tape_name(struct tape *tape, uint32_t thread, const char *name,
                             uint64_t time)
{
    tape_put(tape, cunei_record(time, CUNEI_CLASS_THREAD_NAME, 0));
    tape_put(tape, thread);
    tape_put(tape, (uint64_t)tape_text_size(name) << 32);
    tape_text(tape, name);
}

struct tape_raise {
    const char *type;
    uint32_t function, line, handler, handler_line, unwound;
};

static inline void tape_exception(struct tape *tape, const struct tape_raise *raise,
                                  int phase, uint64_t time)
{
    tape_put(tape, cunei_record(time, CUNEI_CLASS_EXCEPTION, (uint32_t)phase));
    tape_put(tape, raise->function | (uint64_t)raise->line << 32);
    tape_put(tape, raise->handler | (uint64_t)raise->handler_line << 32);
    tape_put(tape, raise->unwound | (uint64_t)tape_text_size(raise->type) << 32);
    tape_text(tape, raise->type);
}

static inline void tape_argument(struct tape *tape, uint32_t function, uint32_t index,
                                 const char *name, const char *value, int phase,
                                 uint64_t time)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%s%s%s", name, *name ? "=" : "", value);
    tape_put(tape, cunei_record(time, CUNEI_CLASS_ARGUMENT, (uint32_t)phase));
    tape_put(tape, function | (uint64_t)index << 32);
    tape_put(tape, strlen(name) | (uint64_t)tape_text_size(text) << 32);
    tape_text(tape, text);
}

static inline void tape_fini(struct tape *tape)
{
    for (size_t i = 0; i < tape->count; i++)
        free(tape->packets[i]);
    *tape = (struct tape){0};
}

#endif
