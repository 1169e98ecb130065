// SPDX-License-Identifier: MIT
/* Why a process cannot be attached, in parts: "process 7 …: WHY; DO THIS" */
#ifndef CUNEI_CMD_ATTACH_REFUSAL_WORDS_H
#define CUNEI_CMD_ATTACH_REFUSAL_WORDS_H

struct cunei_buffer;

/* Append both parts; `todo` may be NULL. */
void cunei_refusal_words_split(const char *sentences, struct cunei_buffer *why,
                               struct cunei_buffer *todo);

#endif
