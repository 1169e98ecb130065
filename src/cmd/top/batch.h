// SPDX-License-Identifier: MIT
/* `cunei top --once`, `--batch` and `--json`: samples on stdout, without a terminal. */
#ifndef CUNEI_CMD_TOP_BATCH_H
#define CUNEI_CMD_TOP_BATCH_H

struct cunei_top_options;
struct cunei_top_program;
struct cunei_top_targets;
struct cunei_top_view;

/* `program` is the one that is run, or NULL; it is started here, and has ended when
 * this returns.  Returns an exit status. */
int cunei_top_batch(const struct cunei_top_targets *targets,
                    const struct cunei_top_options *options,
                    const struct cunei_top_view *view,
                    struct cunei_top_program *program);

#endif
