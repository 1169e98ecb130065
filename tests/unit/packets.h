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

static inline void tape_fini(struct tape *tape)
{
    for (size_t i = 0; i < tape->count; i++)
        free(tape->packets[i]);
    *tape = (struct tape){0};
}

#endif
