// SPDX-License-Identifier: MIT
/*
 * Writing events from the cold paths of the probe.  Each finds room in the calling
 * thread's stream, or counts what it could not write; none of them raises.
 */
#ifndef CUNEI_PROBE_CORE_WRITE_H
#define CUNEI_PROBE_CORE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_stream;

/*
 * The calling thread's stream with room for so many words at `*now`, the time.  NULL:
 * one event is lost, and counted.  `top_is_open`: the frame on top has been entered, as
 * far as the stream knows.
 */
struct cunei_stream *cunei_write_room(uint64_t *now, unsigned words, bool top_is_open);

/*
 * One event of a function.  The top frame is the function's own: whether it is open
 * already follows from the phase.
 */
void cunei_write_function(uint32_t id, enum cunei_phase phase);

/* The same where the function's own frame is not what is on top. */
void cunei_write_phase(uint32_t id, enum cunei_phase phase, bool top_is_open);

/*
 * The leave of a function that an exception ends, and the mark in front of it; they
 * stay together.  `run` and `phase` as in struct cunei_unwind.
 */
void cunei_write_unwind(uint32_t id, enum cunei_phase phase, uint64_t run);

/*
 * A built-in event of `count` words, the record first; its time is filled in, the class
 * and phase are there.
 */
void cunei_write_words(uint64_t *words, unsigned count, bool top_is_open);

/*
 * The same for one that ends in text: `words` (the record and the fixed ones; the upper
 * half of the last is set to the padded length), then `size` bytes of `text`, which is
 * cut to CUNEI_WRITE_TEXT_MAX.
 */
#define CUNEI_WRITE_TEXT_MAX 8192u
void cunei_write_text(uint64_t *words, unsigned count, const char *text, size_t size,
                      bool top_is_open);

/*
 * For ends of frames that are told late: whether the calling thread's packet is of a
 * time when they were there, and has room for one.  A new one begins without them.
 */
bool cunei_write_has_old_packet(void);

#endif
