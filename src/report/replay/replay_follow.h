// SPDX-License-Identifier: MIT
/*
 * The calls of a recording that grows, as they happen: those of all threads and
 * processes, in the order of their time.
 *
 *     struct cunei_replay_follow *follow = NULL;
 *     int rc = cunei_replay_follow_open(&follow, path, &options, stdout, &error);
 *     while (rc >= 0 && (rc = cunei_replay_follow_poll(follow)) > 0)
 *         … wait a moment …
 *     cunei_replay_follow_close(follow);
 *
 * A line is printed by the poll after the one that has found it: by then all threads
 * are known up to its time.
 */
#ifndef CUNEI_REPORT_REPLAY_REPLAY_FOLLOW_H
#define CUNEI_REPORT_REPLAY_REPLAY_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cunei_replay_follow;
struct cunei_replay_options;
struct cunei_trace;
struct cunei_trace_error;

/* Options and file are borrowed.  Errors as from cunei_trace_follow_open. */
int cunei_replay_follow_open(struct cunei_replay_follow **follow, const char *path,
                             const struct cunei_replay_options *options, FILE *out,
                             struct cunei_trace_error *error);

/* As cunei_trace_follow_poll; -EPIPE and the like: the file cannot be written. */
int cunei_replay_follow_poll(struct cunei_replay_follow *follow);

/* Print what was found and not printed yet. */
int cunei_replay_follow_flush(struct cunei_replay_follow *follow);

/* Whether a chosen thread was found; how many packets were missed. */
bool cunei_replay_follow_has_found(const struct cunei_replay_follow *follow);
uint64_t cunei_replay_follow_missed(const struct cunei_replay_follow *follow);
const struct cunei_trace *cunei_replay_follow_trace(
    const struct cunei_replay_follow *follow);
void cunei_replay_follow_close(struct cunei_replay_follow *follow);

#endif
