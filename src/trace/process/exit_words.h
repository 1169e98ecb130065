// SPDX-License-Identifier: MIT
/* How a process ended, in words. */
#ifndef CUNEI_TRACE_PROCESS_EXIT_WORDS_H
#define CUNEI_TRACE_PROCESS_EXIT_WORDS_H

#include "trace/process/process.h"

struct cunei_buffer;

/* In tables and JSON: ended, recording, terminated, killed, replaced or snapshot. */
const char *cunei_trace_state_word(enum cunei_trace_state state);

/* Append a few words: SIGSEGV, SIGTERM from its parent, exit(1), execv; or "recording".
 */
void cunei_exit_words_format(const struct cunei_trace_process *process,
                             struct cunei_buffer *out);

#endif
