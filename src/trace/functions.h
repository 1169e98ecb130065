// SPDX-License-Identifier: MIT
/*
 * The functions of a process: the lines of its metadata, and the `define` events of
 * its definitions stream for those beyond the classes.  The newest lines may still be
 * in the live file.
 */
#ifndef CUNEI_TRACE_FUNCTIONS_H
#define CUNEI_TRACE_FUNCTIONS_H

struct cunei_trace_error;
struct cunei_trace_live;
struct cunei_trace_process;

/*
 * Fill in the functions of a process whose streams are known.  A torn last line of the
 * metadata is of no concern: no event uses it.
 */
int cunei_trace_functions_load(struct cunei_trace_process *process,
                               const struct cunei_trace_live *live,
                               struct cunei_trace_error *error);
void cunei_trace_functions_fini(struct cunei_trace_process *process);

#endif
