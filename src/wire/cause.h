// SPDX-License-Identifier: MIT
/*
 * Why a snapshot was made: a trigger that fired.  A line of the description of the
 * process in which it fired (wire/process.h):
 *
 *     cause TIME VALUE COUNT THREAD LINE TRIGGER WHAT FUNCTION THREAD_NAME
 *
 * five numbers and four texts, each text quoted by cunei_text_quote, and the whole
 * again, as every value of the description is.
 */
#ifndef CUNEI_WIRE_CAUSE_H
#define CUNEI_WIRE_CAUSE_H

#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;

struct cunei_cause {
    uint64_t time_ns;  /* wall clock: when it fired first */
    uint64_t value;    /* ns, an exit status or a signal, by its trigger; else 0 */
    uint64_t count;    /* how often it fired in this process for the same snapshot */
    uint32_t thread;   /* of the operating system; 0: none */
    uint32_t line;     /* in the function; 0: not known */
    char *trigger;     /* owned, as all that follow: as the user wrote it */
    char *what;        /* in words: "ValueError raised" */
    char *function;    /* module:qualname; "": none is known */
    char *thread_name; /* "": it has none */
};

/* A cause, and in which process of a trace. */
struct cunei_caused {
    char *folder; /* owned: of the process … */
    uint32_t pid; /* … and its number */
    struct cunei_cause cause;
};

/* Append the line, with its key and line break. */
void cunei_cause_format(const struct cunei_cause *cause, struct cunei_buffer *out);

/* Parse the value of such a line, without the quotes around the whole; it is taken
 * apart in place.  -EINVAL: it is none; -ENOMEM. */
int cunei_cause_parse(struct cunei_cause *cause, char *value);

int cunei_cause_copy(struct cunei_cause *copy, const struct cunei_cause *cause);
void cunei_cause_fini(struct cunei_cause *cause);

#endif
