// SPDX-License-Identifier: MIT
/*
 * Whether a packet is what it says: nothing behind this check looks twice.
 *
 * The head is checked first, from the bytes alone; then the events, against the
 * functions of the process.  A clause says what is wrong.
 */
#ifndef CUNEI_TRACE_CHECK_H
#define CUNEI_TRACE_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct cunei_packet;
struct cunei_trace_process;

#define CUNEI_PACKET_WORDS (sizeof(struct cunei_packet) / sizeof(uint64_t))

/* NULL, or what is wrong with the head of a packet of stream `number`. */
const char *cunei_trace_check_head(const struct cunei_packet *head,
                                   const uint8_t uuid[16], uint64_t number);

/* The same of its place behind a packet of that number, which ends then. */
const char *cunei_trace_check_order(const struct cunei_packet *head,
                                    uint64_t last_sequence, uint64_t last_end);

/* What the check of events found out. */
struct cunei_trace_events {
    size_t word_count; /* words of the events that are in order */
    size_t event_count;
    uint64_t last_time; /* of the last of them; the packet's begin if there is none */
    const char *wrong;  /* NULL, or what is wrong with the event behind them */
};

/* Check the events that follow `head`, which is in order, in its `word_count` words. */
struct cunei_trace_events cunei_trace_check_events(
    const struct cunei_trace_process *process, const struct cunei_packet *head,
    const uint64_t *words, size_t word_count);

#endif
