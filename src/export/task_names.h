// SPDX-License-Identifier: MIT
/*
 * The names of tasks, also of those that were named outside of the selection.
 *
 * The first search reads the names from the whole trace with all cores, on the thread
 * that searches: a trace without tasks is not read for them.
 */
#ifndef CUNEI_EXPORT_TASK_NAMES_H
#define CUNEI_EXPORT_TASK_NAMES_H

#include <stdint.h>

struct cunei_export;
struct cunei_analysis;
struct cunei_task_names;
struct cunei_trace_process;

struct cunei_task_names *cunei_task_names_new(void); /* NULL: no memory */
void cunei_task_names_free(struct cunei_task_names *names);

/* The last name of a task, as in a report, borrowed from the export; NULL: it has none.
 * Errors as cunei_analyze. */
int cunei_task_names_find(const struct cunei_export *export,
                          const struct cunei_trace_process *process, uint64_t number,
                          const char **name);

/* Tasks whose names are written, for formats that write each once. */
struct cunei_task_names_seen {
    uint8_t *items; /* owned: free it with free() */
};

/* The same for a task that was named before the selection, the first time only: names
 * in the selection are events of it. */
int cunei_task_names_find_once(const struct cunei_export *export,
                               const struct cunei_trace_process *process,
                               uint64_t number, struct cunei_task_names_seen *seen,
                               const char **name);

/* Name the tasks of an analysis of what is exported. */
int cunei_task_names_fill(const struct cunei_export *export,
                          struct cunei_analysis *analysis);

#endif
