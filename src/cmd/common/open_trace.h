// SPDX-License-Identifier: MIT
/*
 * Opening a trace for a command: what a killed process left is folded in first, where
 * that can be written, and a failure is said in the user's words.
 */
#ifndef CUNEI_CMD_COMMON_OPEN_TRACE_H
#define CUNEI_CMD_COMMON_OPEN_TRACE_H

struct cunei_trace;
struct cunei_trace_error;
struct cunei_trace_recover_options;

/* Open it, recovered if need be; says nothing.  As cunei_trace_open. */
int cunei_cmd_load_trace(const char *path, struct cunei_trace *trace,
                         struct cunei_trace_error *error);

/* The same; on failure it is said, and the exit status for it returned.  0: open. */
int cunei_cmd_open_trace(const char *path, struct cunei_trace *trace);

struct cunei_trace_choice;

/* Whether the trace at `path` has each of the chosen processes; if not, that is said
 * and the exit status for it returned. */
int cunei_cmd_check_choice(const struct cunei_trace *trace, const char *path,
                           const struct cunei_trace_choice *choice);

/* Say why a trace could not be opened; returns the exit status. */
int cunei_cmd_fail_to_open(int rc, const char *path,
                           const struct cunei_trace_error *error);

/*
 * Where recovery finds this user's pointers to live files.  The texts are owned by the
 * caller, who gives them back.
 */
void cunei_cmd_recover_options_init(struct cunei_trace_recover_options *options);
void cunei_cmd_recover_options_fini(struct cunei_trace_recover_options *options);

#endif
