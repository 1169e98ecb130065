// SPDX-License-Identifier: MIT
/* Which functions of a trace are the project's, rather than a library's. */
#ifndef CUNEI_TRACE_DIRECTORY_PROJECT_H
#define CUNEI_TRACE_DIRECTORY_PROJECT_H

struct cunei_trace;
struct cunei_trace_process;

/*
 * The folder of the program's project, as the launcher found it; borrowed from the
 * process.  NULL: it is not known, or no function of the process is in it; then all
 * code is the project's that was not installed (`project` of base/pattern.h).
 */
const char *cunei_project_folder(const struct cunei_trace_process *process);

/* That of the first process that has one. */
const char *cunei_trace_project(const struct cunei_trace *trace);

#endif
