// SPDX-License-Identifier: MIT
/*
 * Tapes that a dice writes: programs that call, yield, raise, switch, and go astray.
 *
 *     seed = round;
 *     write_tape(&tape);
 */
#ifndef CUNEI_TESTS_CHANCE_H
#define CUNEI_TESTS_CHANCE_H

#include <stdbool.h>

#include "packets.h"

static uint64_t seed;

/* What a round is about: tasks and greenlets together have a test of their own. */
static bool has_tasks, has_greenlets;

static inline uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

/* A greenlet that continues with some of what it had open, or with nothing. */
static inline void put_switch(struct tape *tape, uint64_t time)
{
    uint32_t open[8], count = dice(8);

    for (uint32_t i = 0; i < count; i++)
        open[i] = F + dice(FUNCTION_COUNT);
    tape_switch(tape, dice(5), open, count, time);
}

static inline void put_exception(struct tape *tape, uint64_t time)
{
    static const char *const types[] = {"ValueError", "app.Error", ""};
    const struct tape_raise raise = {types[dice(3)], dice(2) ? F + dice(2) : 0,
                                     dice(3),        dice(2) ? G : 0,
                                     dice(2),        dice(5)};

    tape_exception(tape, &raise, (int)dice(3), time);
}

/* One event that is no call. */
static inline void put_builtin(struct tape *tape, uint64_t time)
{
    static const char *const names[] = {"", "one", "a longer name"};

    switch (dice(7)) {
    case 0:
        tape_gc(tape, (int)dice(2), dice(4), dice(100), time);
        break;
    case 1:
        put_exception(tape, time);
        break;
    case 2:
        tape_name(tape, 1 + dice(3), names[dice(3)], time);
        break;
    case 3:
        if (has_greenlets)
            put_switch(tape, time);
        break;
    case 4:
        if (has_tasks && tape->depth < 40) {
            tape_task(tape, 1 + dice(4), "", CUNEI_PHASE_LEAVE, time);
            tape_event(tape, F + dice(FUNCTION_COUNT), CUNEI_PHASE_RESUME, time);
        }
        break;
    default:
        if (has_tasks && tape->depth < 40)
            tape_step(tape, 1 + dice(4), names[dice(3)], F + dice(FUNCTION_COUNT),
                      (int)dice(2) * 2, time);
        break;
    }
}

/* One event of a program that calls, yields, raises, and now and then goes astray. */
static inline void put_event(struct tape *tape, uint64_t time)
{
    uint32_t function = F + dice(FUNCTION_COUNT);
    uint32_t top = tape->depth ? tape->open[tape->depth - 1] : function;

    switch (dice(18)) {
    case 0:
        tape_leave(tape, function, time);
        break;
    case 16:
    case 17:
        put_builtin(tape, time);
        break;
    case 1:
        tape_unwind(tape, dice(4), time);
        tape_leave(tape, dice(2) ? top : function, time);
        break;
    case 2:
    case 3:
        if (tape->depth > 0)
            tape_event(tape, top, CUNEI_PHASE_YIELD, time);
        break;
    case 4:
        tape_event(tape, function, CUNEI_PHASE_RESUME, time);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        if (tape->depth > 0)
            tape_leave(tape, top, time);
        break;
    default:
        if (tape->depth < 40)
            tape_enter(tape, dice(3) ? function : top, time);
        break;
    }
}

static inline void write_tape(struct tape *tape)
{
    uint32_t thread = 1, packets = 1 + dice(24);
    uint64_t time = dice(1000);

    has_tasks = dice(2);
    has_greenlets = !has_tasks;
    for (uint32_t i = 0; i < packets; i++) {
        if (dice(8) == 0) {
            thread++;
            tape->depth = dice(3);
            for (uint32_t j = 0; j < tape->depth; j++)
                tape->open[j] = F + dice(FUNCTION_COUNT);
        }
        if (dice(6) == 0) {
            tape->sequence += dice(2);
            tape->discarded += dice(2);
            tape->depth -= tape->depth ? dice(tape->depth) : 0;
        }
        if (dice(6) == 0) {
            tape->flags = CUNEI_PACKET_RENEWED;
            tape->depth -= tape->depth ? dice(tape->depth) : 0;
        }
        tape_packet(tape, thread, time += dice(50));
        tape->flags = 0;
        for (uint32_t j = dice(30); j > 0; j--)
            put_event(tape, time += dice(50));
    }
}

#endif
