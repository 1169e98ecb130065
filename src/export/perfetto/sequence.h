// SPDX-License-Identifier: MIT
/*
 * A packet sequence of Perfetto: a clock that counts from event to event, names that
 * are written once, and the packets of both.
 *
 *     struct cunei_perfetto_event event = cunei_perfetto_open(encoding, time,
 * TYPE_BEGIN); cunei_perfetto_number(&encoding->out, "line", 12);
 *     cunei_perfetto_close(encoding, event);
 *
 * Each encoding (export/encoder.h) is a sequence of its own, so that none depends on
 * another.
 */
#ifndef CUNEI_EXPORT_PERFETTO_SEQUENCE_H
#define CUNEI_EXPORT_PERFETTO_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/encoder.h"

/* The state of an encoding. */
struct cunei_perfetto_state {
    uint64_t track;    /* of the thread, which events are on by default */
    uint64_t last_ns;  /* of the sequence's clock */
    uint8_t *interned; /* owned: which functions are */
    uint8_t *resumed;  /* owned: which open calls are, of those that began in it */
    uint32_t depth, capacity;
    uint32_t pid, tid;
    bool has_begun; /* the sequence */
};

/* An event that is being written, and its packet. */
struct cunei_perfetto_event {
    size_t packet, event;
};

/* Numbers of categories, names and places: a category of what is resumed, besides the
 * module's, and then those of functions. */
enum {
    CUNEI_PERFETTO_RESUMED = 1,
    CUNEI_PERFETTO_FIRST,
};

/* Annotations of the start or the end of a call, in few bytes. */
enum cunei_perfetto_note {
    CUNEI_PERFETTO_PLAIN,
    CUNEI_PERFETTO_FOUND,
    CUNEI_PERFETTO_RETURNED,
    CUNEI_PERFETTO_YIELDED,
    CUNEI_PERFETTO_RAISED,
    CUNEI_PERFETTO_SWITCHED,
    CUNEI_PERFETTO_UNSEEN,
    CUNEI_PERFETTO_OPEN,
};

/* When an event is: so long after the last one, or by the wall clock. */
struct cunei_perfetto_time {
    uint64_t ns;
    bool is_wall;
};

/* Private: where it is not just the next event. */
struct cunei_perfetto_time cunei_perfetto_begin(struct cunei_encoding *encoding,
                                                uint64_t ns);

/* Begins the sequence, where that has not happened yet. */
static inline struct cunei_perfetto_time cunei_perfetto_pass(
    struct cunei_encoding *encoding, uint64_t time)
{
    struct cunei_perfetto_state *state = encoding->state;
    uint64_t ns = cunei_wall_clock_ns(encoding->wall, time);

    if (__builtin_expect(!state->has_begun || ns < state->last_ns, 0))
        return cunei_perfetto_begin(encoding, ns);
    uint64_t passed = ns - state->last_ns;
    state->last_ns = ns;
    return (struct cunei_perfetto_time){passed, false};
}

static inline uint64_t cunei_perfetto_sequence(const struct cunei_encoding *encoding)
{
    return encoding->number + 1;
}

/* A packet of the sequence; it ends with cunei_proto_close. */
size_t cunei_perfetto_packet(struct cunei_encoding *encoding);

/* An event of one of the types that perfetto/fields.h has. */
struct cunei_perfetto_event cunei_perfetto_open(struct cunei_encoding *encoding,
                                                uint64_t time, unsigned type);
struct cunei_perfetto_event cunei_perfetto_open_at(struct cunei_encoding *encoding,
                                                   struct cunei_perfetto_time when,
                                                   unsigned type);
void cunei_perfetto_close(struct cunei_encoding *encoding,
                          struct cunei_perfetto_event event);

/* Annotations of an event. */
void cunei_perfetto_text(struct cunei_buffer *out, const char *name, size_t name_size,
                         const char *text, size_t size);
void cunei_perfetto_number(struct cunei_buffer *out, const char *name, uint64_t number);
void cunei_perfetto_value(struct cunei_buffer *out, const char *name, size_t size,
                          const struct cunei_user_value *value);
void cunei_perfetto_detail(struct cunei_buffer *out, const struct cunei_detail *detail);

/* The note, if it is one, in at most CUNEI_PERFETTO_NOTE_MAX bytes; returns their end.
 */
#define CUNEI_PERFETTO_NOTE_MAX 8u
char *cunei_perfetto_put_note(char *at, enum cunei_perfetto_note note);
void cunei_perfetto_note(struct cunei_buffer *out, enum cunei_perfetto_note note);

/* A text as UTF-8, which the format requires. */
void cunei_perfetto_name(struct cunei_buffer *out, uint32_t field, const char *name,
                         size_t size);

/* Whether the names of the process's function `index` are new to the sequence; marks
 * them as known. */
bool cunei_perfetto_is_new(struct cunei_encoding *encoding, uint32_t index);

/* Those names under the number `id`, in the packet of an event that needs them. */
void cunei_perfetto_intern(struct cunei_encoding *encoding, uint32_t function,
                           uint64_t id);

#endif
