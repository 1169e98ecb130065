// SPDX-License-Identifier: MIT
/* Choosing processes of a trace, as --process does. */
#ifndef CUNEI_TRACE_DIRECTORY_PROCESS_CHOICE_H
#define CUNEI_TRACE_DIRECTORY_PROCESS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct cunei_trace;
struct cunei_trace_error;
struct cunei_trace_process;

/*
 * Each word is a pid, or a glob for a folder, for a name that multiprocessing gave, or
 * for a script or module.  No word, or no choice: all processes.
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
