// SPDX-License-Identifier: MIT
/*
 * Triggers, watched over in a recording: one that grows, or one that has ended.
 *
 *     struct cunei_trigger_watch *watch = NULL;
 *     int rc = cunei_trigger_watch_open(&watch, path, &triggers, &listener, &error);
 *     while (rc >= 0 && (rc = cunei_trigger_watch_poll(watch)) > 0)
 *         … rc 1: cunei_trigger_watch_look(watch, now_ns), wait a moment …
 *     if (rc >= 0)
 *         rc = cunei_trigger_watch_finish(watch);
 *     cunei_trigger_watch_close(watch);
 *
 * Nothing of it happens in the program: this reads what cunei_trace_follow_poll hands
 * out.  Memory grows with functions, threads and processes, not with events.
 */
#ifndef CUNEI_TRIGGER_WATCH_H
#define CUNEI_TRIGGER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trigger/firing.h"

struct cunei_trace;
struct cunei_trace_error;
struct cunei_trigger_watch;
struct cunei_triggers;

/* Triggers and listener are borrowed.  Errors as from cunei_trace_follow_open. */
int cunei_trigger_watch_open(struct cunei_trigger_watch **watch, const char *path,
                             const struct cunei_triggers *triggers,
                             const struct cunei_trigger_listener *listener,
                             struct cunei_trace_error *error);

/* Before the first poll: what was before the wall clock `now_ns` does not fire, nor the
 * ends of processes that do not run any more.  -ENOMEM. */
int cunei_trigger_watch_skip(struct cunei_trigger_watch *watch, uint64_t now_ns);

/* As cunei_trace_follow_poll. */
int cunei_trigger_watch_poll(struct cunei_trigger_watch *watch);

/* Look at what is open at the wall clock `now_ns`. */
void cunei_trigger_watch_look(struct cunei_trigger_watch *watch, uint64_t now_ns);

/* No poll follows: look at the ends of processes by what is known now. */
int cunei_trigger_watch_finish(struct cunei_trigger_watch *watch);

/* Whether the end of a process is still to be described, by it or by its parent. */
bool cunei_trigger_watch_is_waiting(const struct cunei_trigger_watch *watch);

const struct cunei_trace *cunei_trigger_watch_trace(
    const struct cunei_trigger_watch *watch);

/* How many functions, regions included, a trigger looks at. */
uint64_t cunei_trigger_watch_functions(const struct cunei_trigger_watch *watch,
                                       size_t trigger);

/* Packets that were overwritten before they were read. */
uint64_t cunei_trigger_watch_missed(const struct cunei_trigger_watch *watch);

void cunei_trigger_watch_close(struct cunei_trigger_watch *watch);

#endif
