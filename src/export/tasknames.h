// SPDX-License-Identifier: MIT
/*
 * What tasks are called, also where that was told outside of what is exported.
 *
 * Names are read from the whole trace as soon as one is asked for, with all cores, on
 * whichever thread that is: a trace without tasks is never read for them.
 */
#ifndef CUNEI_EXPORT_TASKNAMES_H
#define CUNEI_EXPORT_TASKNAMES_H

#include <stdint.h>

struct cunei_export;
struct cunei_survey;
struct cunei_tasknames;
struct cunei_trace_process;

struct cunei_tasknames *cunei_tasknames_new(void); /* NULL: there is no memory */
void cunei_tasknames_free(struct cunei_tasknames *names);

/* What a task was called last, as in a report, borrowed from the export; NULL: that was
 * never told.  Errors as cunei_survey_init. */
int cunei_tasknames_find(const struct cunei_export *export,
                         const struct cunei_trace_process *process, uint64_t number,
                         const char **name);

/* Which tasks were told: of who tells each only once. */
struct cunei_tasknames_told {
    uint8_t *items; /* owned: give it back with free() */
};

/* The same of a task whose name was told before what is exported, the first time only:
 * the others are told by the trace itself. */
int cunei_tasknames_take(const struct cunei_export *export,
                         const struct cunei_trace_process *process, uint64_t number,
                         struct cunei_tasknames_told *told, const char **name);

/* Name the tasks of a survey of what is exported. */
int cunei_tasknames_fill(const struct cunei_export *export,
                         struct cunei_survey *survey);

#endif
