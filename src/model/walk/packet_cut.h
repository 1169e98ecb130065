// SPDX-License-Identifier: MIT
/*
 * Cuts unwanted functions, and times before or after a window, out of a stream.
 *
 *     struct cunei_cut cut = {.options = &options};
 *     for each packet of a piece of a stream, in order:
 *         cunei_cut_packet(&cut, packet, words, word_count);
 *         … cut.packet, cut.words, cut.word_count …
 *     cunei_cut_fini(&cut);
 *
 * The result is a stream as if only the rest had been recorded, so that readers need
 * not know about selections.  A packet of which nothing is left stays, with
 * no words, so that none seems to be missing.
 */
#ifndef CUNEI_MODEL_WALK_PACKET_CUT_H
#define CUNEI_MODEL_WALK_PACKET_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack/open_counts.h"
#include "wire/event.h"
#include "wire/id_kind.h"
#include "wire/packet.h"

enum cunei_cut_choice {
    CUNEI_CUT_UNWANTED,
    CUNEI_CUT_WANTED,
    CUNEI_CUT_FOLDED, /* unwanted, with exceptions that only such functions see */
};

struct cunei_cut_options {
    const uint8_t *functions; /* borrowed: enum cunei_cut_choice by id - FIRST … */
    uint32_t function_count;  /* … up to here; NULL: all are wanted */
    struct cunei_id_kinds kinds;
    uint64_t from, until; /* ticks */
};

/* Private: what is open, wanted or not. */
struct cunei_cut_stack {
    uint32_t *functions; /* owned */
    uint32_t count, capacity;
    uint32_t omitted;
    struct cunei_open_counts counts;
};

struct cunei_cut {
    const struct cunei_cut_options *options;
    struct cunei_packet packet; /* the head of what is left … */
    uint64_t *words;            /* … and its events; owned */
    size_t word_count;

    /* Private; here because a worker keeps a cut, all zeros at first, for its life. */
    size_t capacity;
    struct cunei_cut_stack stack;
    struct cunei_line full; /* the last one in the packet that was in full … */
    struct cunei_line line; /* … and the last of all, as if it was */
    bool has_begun;         /* the packet's `stack` is written */
    bool failed;
};

/* -ENOMEM. */
int cunei_cut_packet(struct cunei_cut *cut, const struct cunei_packet *packet,
                     const uint64_t *words, size_t word_count);
/* The words that follow those cut before, of the packet that was cut last; more ids may
 * be known by now. */
int cunei_cut_continue(struct cunei_cut *cut, const struct cunei_packet *packet,
                       const uint64_t *words, size_t word_count);
void cunei_cut_fini(struct cunei_cut *cut);

#endif
