// SPDX-License-Identifier: MIT
/*
 * Reading the events that the program records itself: regions, counters, marks,
 * parameters.  The events must have been checked (trace/packet/check.h).
 */
#ifndef CUNEI_WIRE_USER_EVENT_H
#define CUNEI_WIRE_USER_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event.h"

struct cunei_function;

/* What a definition stands for, by its file. */
enum cunei_definition {
    CUNEI_DEFINITION_FUNCTION,
    CUNEI_DEFINITION_REGION,
    CUNEI_DEFINITION_COUNTER,
    CUNEI_DEFINITION_TOKENS,
};
enum cunei_definition cunei_definition_of(const struct cunei_function *function);

/* A text of an event, borrowed from it; not ended by NUL. */
struct cunei_user_event_text {
    const char *data;
    size_t size;
};

/* Its name; and the text of one that is text, or nothing. */
struct cunei_user_event_text cunei_user_event_name(
    const struct cunei_user_value *value);
struct cunei_user_event_text cunei_user_event_text(
    const struct cunei_user_value *value);

/* 64 bits of a value as a number. */
double cunei_user_event_number(uint64_t bits, bool is_double);

#endif
