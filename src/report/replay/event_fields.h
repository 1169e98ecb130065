// SPDX-License-Identifier: MIT
/*
 * What a built-in event holds, by its layout: the fields and values that babeltrace2
 * prints, or the members of a JSON object.
 */
#ifndef CUNEI_REPORT_REPLAY_EVENT_FIELDS_H
#define CUNEI_REPORT_REPLAY_EVENT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;

/* Append the payload of the event at `words`, which was checked, without its braces. */
void cunei_event_fields_format(struct cunei_buffer *out, const uint64_t *words,
                               bool json);

/* Append a text in quotes: as JSON, or as babeltrace2 prints it. */
void cunei_event_fields_text(struct cunei_buffer *out, const char *text, size_t size,
                             bool json);

#endif
