// SPDX-License-Identifier: MIT
/* The trace of a run that shows it and does not keep it. */
#ifndef CUNEI_CMD_RECORD_TEMPORARY_TRACE_H
#define CUNEI_CMD_RECORD_TEMPORARY_TRACE_H

struct cunei_recorded_run;

/* Remove it.  That of a process that outlives the program stays, with a note. */
void cunei_temporary_trace_remove(const struct cunei_recorded_run *recording);

#endif
