// SPDX-License-Identifier: MIT
/* How a process ended, in words. */
#ifndef CUNEI_TRACE_PROCESS_EXIT_WORDS_H
#define CUNEI_TRACE_PROCESS_EXIT_WORDS_H

struct cunei_buffer;
struct cunei_trace_process;

/* Append a few words: SIGSEGV, SIGTERM from its parent, exit(1), execv; or "recording".
 */
void cunei_exit_words_format(const struct cunei_trace_process *process,
                             struct cunei_buffer *out);

#endif
