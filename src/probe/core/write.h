// SPDX-License-Identifier: MIT
/*
 * Writing events on the cold paths of the probe.  Each function finds room in the
 * calling thread's stream, or counts the event as lost; none of them raises.
 */
#ifndef CUNEI_PROBE_CORE_WRITE_H
#define CUNEI_PROBE_CORE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_stream;

/*
 * The calling thread's stream with room for `words` words, and the time in `*now`.
 * NULL: the event is lost, and counted.  `top_is_open`: the stream has the entry of the
 * frame on top.
 */
struct cunei_stream *cunei_write_room(uint64_t *now, unsigned words, bool top_is_open);

/*
 * One event of a function whose frame is on top: whether that is open already follows
 * from the phase.
 */
void cunei_write_function(uint32_t id, enum cunei_phase phase);

/* The same where another frame is on top. */
void cunei_write_phase(uint32_t id, enum cunei_phase phase, bool top_is_open);

/*
 * The leave of a function that ends with an exception, and the `unwind` event before
 * it, in one packet.  `run` and `phase` as in struct cunei_unwind.
 */
void cunei_write_unwind(uint32_t id, enum cunei_phase phase, uint64_t run);

/*
 * A built-in event of `count` words; the first is the record, with class and phase, and
 * gets its time here.
 */
void cunei_write_words(uint64_t *words, unsigned count, bool top_is_open);

/*
 * The same for an event that ends in text: `words` (the record and the fixed ones; the
 * upper half of the last becomes the padded length), then `size` bytes of `text`, cut
 * to CUNEI_WRITE_TEXT_MAX.
 */
#define CUNEI_WRITE_TEXT_MAX 8192u
void cunei_write_text(uint64_t *words, unsigned count, const char *text, size_t size,
                      bool top_is_open);

/* How many events of this kind are the last ones in the calling thread's packet. */
uint64_t cunei_write_count_last(uint32_t id, enum cunei_phase phase);

/*
 * For ends of frames that are recorded late: whether the calling thread's packet began
 * when they were open, and has room for one.  The stack of a new packet has no such
 * frames.
 */
bool cunei_write_has_old_packet(void);

#endif
