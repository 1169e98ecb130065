// SPDX-License-Identifier: MIT
/* The sums of each function of a process (model/profile/profile.h). */
#ifndef CUNEI_MODEL_FACTS_FUNCTION_FACTS_H
#define CUNEI_MODEL_FACTS_FUNCTION_FACTS_H

#include <stdint.h>

#include "model/facts/histogram.h"
#include "wire/event.h"

/*
 * A function's facts, in slot id - CUNEI_FUNCTION_FIRST + 1 of its profile; slot 0
 * takes what belongs to no function.  Times are in ticks unless a comment says
 * otherwise. What every event touches shares a cache line.
 */
struct cunei_facts {
    uint64_t calls;
    uint64_t self;      /* on top of the stack, or below regions alone */
    uint64_t total;     /* anywhere in the stack, recursion counted once */
    uint64_t opened_at; /* private, as the next two: while a piece is read */
    uint64_t max_ns;    /* of one activation: entry or resume to leave or yield */
    struct cunei_histogram histogram; /* of activations with both ends, in ns */
    uint32_t open;
    uint32_t edge;
    uint64_t resumes;
    uint64_t recursive; /* calls made while it was already open */
    uint64_t raised;    /* activations that an exception ended */
    uint64_t suspended; /* from a yield to the resumption, added over all of them */
    uint64_t yielded;   /* private, as the next two: while a piece is read */
    uint32_t outstanding;
    uint32_t forgotten;
    uint64_t nested;  /* resumes made while it was already open */
    uint64_t surplus; /* private: modulo 2⁶⁴, see cunei_facts_spent */
};

/*
 * The sum of the activations in the histogram.  It is `total` where each began and
 * ended and none was inside another.  What differs is kept apart: a sum of its own
 * would be in a second cache line, and made reports of many functions 10 % slower.
 */
static inline uint64_t cunei_facts_spent(const struct cunei_facts *facts)
{
    return facts->total + facts->surplus;
}

static inline uint32_t cunei_slot_function(uint32_t slot)
{
    return slot + (CUNEI_FUNCTION_FIRST - 1);
}

#endif
