// SPDX-License-Identifier: MIT
/*
 * The check of a packet.  Code that reads a checked packet does not check again.
 *
 * The head is checked first, from the bytes alone; then the events, against the
 * functions of the process.  Failures are a clause in English.
 */
#ifndef CUNEI_TRACE_PACKET_CHECK_H
#define CUNEI_TRACE_PACKET_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_packet;
struct cunei_trace_process;

#define CUNEI_PACKET_WORDS (sizeof(struct cunei_packet) / sizeof(uint64_t))

/* NULL, or what is wrong with the head of a packet of stream `number`. */
const char *cunei_trace_check_head(const struct cunei_packet *head,
                                   const uint8_t uuid[16], uint64_t number);

/* The same for a packet that follows one with this sequence number and end. */
const char *cunei_trace_check_order(const struct cunei_packet *head,
                                    uint64_t last_sequence, uint64_t last_end);

/* The result of a check of events. */
struct cunei_trace_events {
    size_t word_count; /* words of the valid events */
    size_t event_count;
    uint64_t last_time; /* of the last of them; the packet's begin if there is none */
    /* Words of the last event, if it says something about the one behind it: an
     * `unwind` or a `task`; otherwise 0. */
    size_t announcing;
    const char *wrong; /* NULL, or what is wrong with the next event */
};

/* Check the `word_count` words of events that follow a valid `head`. */
struct cunei_trace_events cunei_trace_check_events(
    const struct cunei_trace_process *process, const struct cunei_packet *head,
    const uint64_t *words, size_t word_count);

/* Where the check of a packet stands that is checked part by part; begins empty. */
struct cunei_trace_checked {
    bool has_begun;
    uint64_t last_time;     /* of the last event */
    struct cunei_line line; /* the last `line` event */
};

/* The same for the words behind those that were checked before; `checked` moves past
 * the valid events. */
struct cunei_trace_events cunei_trace_check_part(
    const struct cunei_trace_process *process, const struct cunei_packet *head,
    struct cunei_trace_checked *checked, const uint64_t *words, size_t word_count);

#endif
