// SPDX-License-Identifier: MIT
/* The table of functions and their definitions; private to rt/. */
#ifndef CUNEI_RT_DEFINE_H
#define CUNEI_RT_DEFINE_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_function;
struct cunei_recorder_state;

/* An empty table, for the next recording. */
void cunei_define_reset(struct cunei_recorder_state *recording);

/* The same in a forked child, without freeing: that would only copy its parent's
 * pages. */
void cunei_define_abandon(struct cunei_recorder_state *recording);
void cunei_define_lock(void);
void cunei_define_unlock(void);

/* Write the definitions that are not in the files yet; `force`: ask for no space. */
int cunei_define_flush(struct cunei_recorder_state *recording, bool force);

/* The id of a function; 0: it has none, or with `only_known` none yet. */
uint32_t cunei_define(struct cunei_recorder_state *recording,
                      const struct cunei_function *function, bool only_known);

#endif
