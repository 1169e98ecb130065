// SPDX-License-Identifier: MIT
/* Why a snapshot was made, in words; the same in every command. */
#ifndef CUNEI_TEXT_CAUSE_WORDS_H
#define CUNEI_TEXT_CAUSE_WORDS_H

#include <stdint.h>

struct cunei_buffer;
struct cunei_cause;
struct cunei_json;

/*
 * "slow:app:handle>50ms: call took 83.1 ms in app:handle, thread worker-1 of process
 * 4711, at 12:43:10.123, and 2 more times".  `pid` 0: the process is not named.  What
 * the program named is not made safe to print.
 */
void cunei_cause_words_format(const struct cunei_cause *cause, uint32_t pid,
                              struct cunei_buffer *out);

/* Where it happened: "app:load, line 12"; nothing where that is not known. */
void cunei_cause_words_format_place(const struct cunei_cause *cause,
                                    struct cunei_buffer *out);

/* Its members, into an object that is open. */
void cunei_cause_words_put(const struct cunei_cause *cause, struct cunei_json *json);

#endif
