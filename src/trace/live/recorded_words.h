// SPDX-License-Identifier: MIT
/* How much a running process has recorded so far, for its rate. */
#ifndef CUNEI_TRACE_LIVE_RECORDED_WORDS_H
#define CUNEI_TRACE_LIVE_RECORDED_WORDS_H

#include <stdint.h>

struct cunei_trace_process;

/* The words of its events so far, nearly all of which have one; 0: it is not known. */
uint64_t cunei_trace_recorded_words(const struct cunei_trace_process *process);

#endif
