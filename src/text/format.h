// SPDX-License-Identifier: MIT
/* Numbers as people read them.  Each function appends to `out`. */
#ifndef CUNEI_TEXT_FORMAT_H
#define CUNEI_TEXT_FORMAT_H

#include <stdint.h>

struct cunei_buffer;

void cunei_format_count(struct cunei_buffer *out, uint64_t count); /* 832 040 */
void cunei_format_duration(struct cunei_buffer *out, uint64_t ns); /* 1.02 s */
void cunei_format_percent(struct cunei_buffer *out, uint64_t part, uint64_t whole);
void cunei_format_size(struct cunei_buffer *out, uint64_t bytes); /* 1.2 GB */

/* "1 call", "2 calls": `one` is the singular. */
void cunei_format_several(struct cunei_buffer *out, uint64_t count, const char *one);

/* A name that the program gave; "" stands for an empty one. */
void cunei_format_name(struct cunei_buffer *out, const char *name);

#endif
