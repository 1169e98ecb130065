// SPDX-License-Identifier: MIT
/*
 * A thread of the launcher that follows the recording and makes snapshots when triggers
 * fire.  The program has nothing to do with it: the thread reads files, ten times a
 * second, at a low priority.
 *
 *     struct cunei_trigger_follower *follower = NULL;
 *     rc = cunei_trigger_follower_start(&follower, &options, directory, shown, bytes);
 *     … the program ends, and its end is described …
 *     cunei_trigger_follower_finish(follower);
 *     cunei_trigger_follower_print(follower);
 *     cunei_trigger_follower_free(follower);
 */
#ifndef CUNEI_CMD_RECORD_TRIGGER_FOLLOWER_H
#define CUNEI_CMD_RECORD_TRIGGER_FOLLOWER_H

#include <stdint.h>

struct cunei_trigger_follower;
struct cunei_trigger_options;

/* To be called with all signals blocked, which the thread inherits.  All is borrowed;
 * `ring_bytes` as in cmd/record/trigger_snapshots.h.  Negative errno. */
int cunei_trigger_follower_start(struct cunei_trigger_follower **follower,
                                 const struct cunei_trigger_options *options,
                                 const char *directory, const char *shown,
                                 uint64_t ring_bytes);

/* End the thread; read the rest, and look at how processes ended.  NULL is ignored, as
 * by the next two. */
void cunei_trigger_follower_finish(struct cunei_trigger_follower *follower);

/* Print what happened. */
void cunei_trigger_follower_print(const struct cunei_trigger_follower *follower);
void cunei_trigger_follower_free(struct cunei_trigger_follower *follower);

#endif
