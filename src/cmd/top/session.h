// SPDX-License-Identifier: MIT
/* The screen of `cunei top`, from its first to its last row. */
#ifndef CUNEI_CMD_TOP_SESSION_H
#define CUNEI_CMD_TOP_SESSION_H

struct cunei_top_options;
struct cunei_top_program;
struct cunei_top_targets;
struct cunei_top_view;

/* `program` is the one that is run, or NULL; it is started here, and has ended when
 * this returns.  Returns an exit status. */
int cunei_top_session_run(const struct cunei_top_targets *targets,
                          const struct cunei_top_options *options,
                          const struct cunei_top_view *view,
                          struct cunei_top_program *program);

#endif
