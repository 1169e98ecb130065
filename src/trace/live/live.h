// SPDX-License-Identifier: MIT
/*
 * Reading the live file of a process.  Its writer may be running, or may have ended
 * long ago, and the file may hold arbitrary bytes.
 *
 * The file is read, never mapped: it may shrink at any time, and a mapping would then
 * be fatal.  Buffers are copied before the stream file is looked at, so that a packet
 * that moves from one to the other in between is seen twice, and known by its sequence
 * number, but never missed.
 */
#ifndef CUNEI_TRACE_LIVE_LIVE_H
#define CUNEI_TRACE_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/live/hidden_file.h"
#include "wire/live.h"

struct cunei_metadata;
struct cunei_process;
struct cunei_trace_packets;
struct cunei_trace_process;

struct cunei_trace_live {
    struct cunei_trace_hidden file;
    bool is_whole;          /* its head is one of ours, for this process */
    uint32_t stream_count;  /* that the file has room for */
    struct cunei_live head; /* a copy, without its slots */
};

/*
 * Open the live file of a process; a missing file is not an error.  Other failures to
 * open or read it are.
 */
int cunei_trace_live_open(struct cunei_trace_live *live,
                          const struct cunei_trace_process *process);
void cunei_trace_live_close(struct cunei_trace_live *live);

/* Whether its writer may still be at work. */
bool cunei_trace_live_is_alive(const struct cunei_trace_live *live,
                               const struct cunei_metadata *metadata);

/* What kind of stream a slot is for. */
int cunei_trace_live_class(const struct cunei_trace_live *live, uint32_t number,
                           enum cunei_stream_class *stream_class);

/* How many events of a slot were lost so far; 0 where that cannot be read. */
uint64_t cunei_trace_live_discarded(const struct cunei_trace_live *live,
                                    uint32_t number);

/*
 * Copy the packets of a slot, in order of their sequence.  Each is as it was at one
 * moment: trimmed to its content, its head in order, its events unchecked.  The list,
 * which was empty, is the caller's.
 */
int cunei_trace_live_copy(const struct cunei_trace_live *live, uint32_t number,
                          struct cunei_trace_packets *list);

/*
 * At one moment: the closed packets of a slot from number `first` on, as above, and the
 * head of the one that its thread writes.  Returns 1: there is one, or 0.
 */
int cunei_trace_live_look(const struct cunei_trace_live *live, uint32_t number,
                          uint64_t first, struct cunei_trace_packets *closed,
                          struct cunei_packet *head);

/*
 * The heads of the packets in a slot's buffers, in order of their sequence, as they
 * were at one moment; content that they do not have yet may follow.  Returns how many
 * there are.
 */
int cunei_trace_live_heads(const struct cunei_trace_live *live, uint32_t number,
                           struct cunei_packet heads[2]);

/*
 * Copy the words of a packet with this head, after the first `from` ones, up to its
 * content.  -EAGAIN: the slot does not hold it any more.
 */
int cunei_trace_live_words(const struct cunei_trace_live *live,
                           const struct cunei_packet *head, size_t from,
                           uint64_t *words);

/* Two numbers that change when definitions come. */
int cunei_trace_live_tail_state(const struct cunei_trace_live *live, uint64_t state[2]);

/*
 * Copy the definitions that may not have reached the metadata file yet: whole lines,
 * unchecked, NUL-terminated.  The text is the caller's; it may be empty.
 */
int cunei_trace_live_tail(const struct cunei_trace_live *live, char **text,
                          size_t *size);

/* Copy its counters into `process`. */
void cunei_trace_live_count(const struct cunei_trace_live *live,
                            struct cunei_process *process);

#endif
