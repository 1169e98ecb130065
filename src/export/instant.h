// SPDX-License-Identifier: MIT
/*
 * Events that take no time, described alike for every format: what the program itself
 * records (marks, parameters, metadata, tokens, counters, tags), and exceptions.
 *
 *     struct cunei_instant instant;
 *     if (cunei_instant_describe(process, event, &instant))
 *         … instant.category, instant.name, instant.details …
 *
 * A new class of such events is a row in the table of instant.c.
 */
#ifndef CUNEI_EXPORT_INSTANT_H
#define CUNEI_EXPORT_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_buffer;
struct cunei_trace_process;

enum cunei_detail_kind {
    CUNEI_DETAIL_UNSIGNED,
    CUNEI_DETAIL_INT,
    CUNEI_DETAIL_DOUBLE,
    CUNEI_DETAIL_TEXT,
};

/* A named value of an instant. */
struct cunei_detail {
    const char *name;
    enum cunei_detail_kind kind;
    uint64_t bits;    /* of a number */
    const char *text; /* no NUL behind it */
    size_t size;
};

#define CUNEI_DETAILS_MAX 2u

/* Everything is borrowed from the event and the process. */
struct cunei_instant {
    uint32_t class;
    const char *category;
    const char *name; /* no NUL behind it */
    size_t name_size;
    struct cunei_detail details[CUNEI_DETAILS_MAX];
    unsigned detail_count;
    const struct cunei_user_value *value; /* the event, if it is such a one */
};

/* False: events of that class have a form of their own in each format. */
bool cunei_instant_describe(const struct cunei_trace_process *process,
                            const uint64_t *event, struct cunei_instant *instant);

/* Where events are missing: from the last one that is known on, in ticks. */
struct cunei_loss {
    uint64_t begin, end;
    uint64_t count; /* 0: unknown */
};

struct cunei_instant cunei_instant_of_loss(const struct cunei_loss *loss);

/* The details as a JSON object; nothing where there are none. */
void cunei_instant_put_json(const struct cunei_instant *instant,
                            struct cunei_buffer *out);

#endif
