// SPDX-License-Identifier: MIT
/* `cunei top --post-mortem`: what each process of a recording did at its end. */
#ifndef CUNEI_CMD_TOP_POST_MORTEM_H
#define CUNEI_CMD_TOP_POST_MORTEM_H

struct cunei_top_options;
struct cunei_top_targets;
struct cunei_top_view;

/* Returns an exit status. */
int cunei_top_post_mortem(const struct cunei_top_targets *targets,
                          const struct cunei_top_options *options,
                          const struct cunei_top_view *view);

#endif
