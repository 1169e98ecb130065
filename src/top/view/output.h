// SPDX-License-Identifier: MIT
/*
 * What a program printed: the last part of it, in bounded memory.
 *
 *     struct cunei_top_output output = {0};
 *     cunei_top_output_add(&output, bytes, size);
 *     … cunei_top_output_lines(&output, lines, 20) …
 *     cunei_top_output_fini(&output);
 *
 * Lines are shown without escape sequences; a carriage return begins its line anew, as
 * on a terminal.
 */
#ifndef CUNEI_TOP_VIEW_OUTPUT_H
#define CUNEI_TOP_VIEW_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

struct cunei_buffer;

#define CUNEI_TOP_OUTPUT_MAX (1u << 20)

struct cunei_top_output {
    char *bytes; /* owned: a ring */
    size_t size;
    uint64_t total; /* ever added; the ring holds the end */
};

/* -ENOMEM. */
int cunei_top_output_add(struct cunei_top_output *output, const char *bytes,
                         size_t size);
void cunei_top_output_fini(struct cunei_top_output *output);

/* Append all that is kept, as it was printed, from the begin of a line on. */
void cunei_top_output_copy(const struct cunei_top_output *output,
                           struct cunei_buffer *out);

/* The same, safe to print: lines without escape sequences. */
void cunei_top_output_text(const struct cunei_top_output *output,
                           struct cunei_buffer *out);

#endif
