// SPDX-License-Identifier: MIT
/* `cunei top` without words: a list of what is recorded or can be, to choose from. */
#ifndef CUNEI_CMD_TOP_CHOOSE_H
#define CUNEI_CMD_TOP_CHOOSE_H

#include <stdbool.h>

struct cunei_top_targets;

/*
 * Add what the user chooses; without a screen, the only one that there is.  Returns 0,
 * or the exit status after an error message, or where the user has left the list.
 * `*has_left`: the latter.  `*to_attach`: the pid of a process that was chosen and is
 * not recorded, owned by the caller.
 */
int cunei_top_choose(struct cunei_top_targets *targets, bool has_screen, bool is_ascii,
                     bool *has_left, char **to_attach);

#endif
