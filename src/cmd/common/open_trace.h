// SPDX-License-Identifier: MIT
/*
 * Opening a trace for a command: the traces of killed processes are repaired first,
 * where they can be written.
 */
#ifndef CUNEI_CMD_COMMON_OPEN_TRACE_H
#define CUNEI_CMD_COMMON_OPEN_TRACE_H

struct cunei_trace;
struct cunei_trace_error;
struct cunei_trace_recover_options;

/* Open and repair it, without messages.  Returns as cunei_trace_open. */
int cunei_cmd_load_trace(const char *path, struct cunei_trace *trace,
                         struct cunei_trace_error *error);

/* The same with an error message.  Returns 0, or the exit status. */
int cunei_cmd_open_trace(const char *path, struct cunei_trace *trace);

/* Only whether it can be opened: 0, or the exit status after an error message. */
int cunei_cmd_check_trace(const char *path);

/* Each stream of a ring takes a descriptor: allow as many as we may have. */
void cunei_cmd_allow_descriptors(void);

struct cunei_trace_choice;

/* Whether the trace at `path` has each of the chosen processes: 0, or the exit
 * status after an error message. */
int cunei_cmd_check_choice(const struct cunei_trace *trace, const char *path,
                           const struct cunei_trace_choice *choice);

/* Print that the trace at `path` has no such thread; returns the exit status. */
int cunei_cmd_fail_to_find_thread(const char *path, const char *thread);

struct cunei_refusals;

/* Add the processes that could not record, other than those that the trace has. */
void cunei_cmd_read_refusals(const char *path, const struct cunei_trace *trace,
                             struct cunei_refusals *refusals);

/* Print why a trace could not be opened; returns the exit status. */
int cunei_cmd_fail_to_open(int rc, const char *path,
                           const struct cunei_trace_error *error);

/*
 * Where recovery finds this user's pointers to live files.  fini frees the texts.
 */
void cunei_cmd_recover_options_init(struct cunei_trace_recover_options *options);
void cunei_cmd_recover_options_fini(struct cunei_trace_recover_options *options);

#endif
