// SPDX-License-Identifier: MIT
/*
 * What tasks are called, also where that was told outside of what is exported.
 *
 * Names are read from the whole trace as soon as one is asked for, with all cores, on
 * whichever thread that is: a trace without tasks is never read for them.
 */
#ifndef CUNEI_EXPORT_TASK_NAMES_H
#define CUNEI_EXPORT_TASK_NAMES_H

#include <stdint.h>

struct cunei_export;
struct cunei_analysis;
struct cunei_task_names;
struct cunei_trace_process;

struct cunei_task_names *cunei_task_names_new(void); /* NULL: there is no memory */
void cunei_task_names_free(struct cunei_task_names *names);

/* What a task was called last, as in a report, borrowed from the export; NULL: that was
 * never told.  Errors as cunei_analyze. */
int cunei_task_names_find(const struct cunei_export *export,
                          const struct cunei_trace_process *process, uint64_t number,
                          const char **name);

/* Which tasks were told: of who tells each only once. */
struct cunei_task_names_seen {
    uint8_t *items; /* owned: give it back with free() */
};

/* The same of a task whose name was told before what is exported, the first time only:
 * the others are told by the trace itself. */
int cunei_task_names_find_once(const struct cunei_export *export,
                               const struct cunei_trace_process *process,
                               uint64_t number, struct cunei_task_names_seen *told,
                               const char **name);

/* Name the tasks of a analysis of what is exported. */
int cunei_task_names_fill(const struct cunei_export *export,
                          struct cunei_analysis *analysis);

#endif
