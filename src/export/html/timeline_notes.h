// SPDX-License-Identifier: MIT
/*
 * The contents of a page's timeline, noted while streams are read with all cores
 * (export/encode_pieces.h): an encoding's bytes are notes, each with its text behind
 * it.
 *
 *     struct cunei_encoder encoder = cunei_notes_encoder;
 *     encoder.context = &thinning;
 *     encoder.write = …;
 *     rc = cunei_encode(export, &encoder);
 */
#ifndef CUNEI_EXPORT_HTML_TIMELINE_NOTES_H
#define CUNEI_EXPORT_HTML_TIMELINE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUNEI_NOTES_LEVELS 40u /* deeper short calls are not drawn */

struct cunei_buffer;
struct cunei_encoder;

enum cunei_note_kind {
    CUNEI_NOTE_THREAD,  /* depth: pid; number: tid; text: its name */
    CUNEI_NOTE_CALL,    /* value: how long it took; number: its function; text: its
                           arguments, parameters and result, if any were recorded */
    CUNEI_NOTE_BEGIN,   /* of a step; value: its task … */
    CUNEI_NOTE_END,     /* … and its end */
    CUNEI_NOTE_GC,      /* value: how long it took; number: the generation */
    CUNEI_NOTE_RAISE,   /* text: the exception's type */
    CUNEI_NOTE_LOST,    /* value: for how long; number: of events, 0: unknown */
    CUNEI_NOTE_MARK,    /* text: the name, of `number` bytes, and the value;
                           depth: whether it has one; value: whether it is an error */
    CUNEI_NOTE_COUNTER, /* value: a double; number: the counter */
    CUNEI_NOTE_TAG,     /* number: a function that is a region; text: its name */
};

struct cunei_note {
    uint32_t kind;
    uint32_t text_size; /* what follows is padded to whole words */
    uint64_t time_ns;   /* since the trace's first event */
    uint64_t value;
    uint32_t depth;
    uint32_t number;
};

/* Passes `room` items: the first half as they come, the others evenly over time. */
struct cunei_sieve {
    uint32_t count;
    uint64_t last; /* the part of the time that the last one was in */
};

bool cunei_sieve_passes(struct cunei_sieve *sieve, uint32_t room, uint64_t duration_ns,
                        uint64_t time_ns);

/*
 * Which calls are noted: all that took `least_ns`, and some others of each level.
 * A thread comes in pieces.  Each notes the calls that might be among those of the
 * whole thread, and the reader of the notes puts them through a sieve again.
 */
struct cunei_thinning {
    uint64_t duration_ns; /* of the trace */
    uint64_t least_ns;
    uint32_t short_levels; /* at most CUNEI_NOTES_LEVELS */
    uint32_t short_room;   /* of each of them */
};

bool cunei_thinning_passes(const struct cunei_thinning *thinning,
                           struct cunei_sieve *levels, const struct cunei_note *call);

/* Without a `write`; its context begins with a struct cunei_thinning. */
extern const struct cunei_encoder cunei_notes_encoder;

/* The note at an offset, and the offset of the next one; NULL: the end. */
const struct cunei_note *cunei_notes_next(const struct cunei_buffer *notes,
                                          size_t *offset);

/* `text_size` bytes; no NUL is behind them. */
static inline const char *cunei_note_text(const struct cunei_note *note)
{
    return (const char *)(note + 1);
}

#endif
