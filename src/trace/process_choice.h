// SPDX-License-Identifier: MIT
/* Choosing processes of a trace by what people call them. */
#ifndef CUNEI_TRACE_PROCESS_CHOICE_H
#define CUNEI_TRACE_PROCESS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_trace;
struct cunei_trace_error;
struct cunei_trace_process;

/*
 * Processes as people call them: by pid, by folder, by the name that multiprocessing
 * gave them, or by their script or module, all but the first also as a glob.  No word,
 * or no choice: all.
 */
struct cunei_trace_choice {
    const char *const *words; /* borrowed */
    size_t count;
};

bool cunei_trace_is_called(const struct cunei_trace_process *process, const char *word);
bool cunei_trace_is_chosen(const struct cunei_trace_process *process,
                           const struct cunei_trace_choice *choice);

/* What is damaged of chosen processes, from the one at `*next` on, which is passed
 * over; NULL: nothing. */
const struct cunei_trace_error *cunei_trace_next_damage(
    const struct cunei_trace *trace, const struct cunei_trace_choice *choice,
    size_t *next);

#endif
