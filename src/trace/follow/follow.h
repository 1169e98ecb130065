// SPDX-License-Identifier: MIT
/*
 * Following a trace while it is recorded: what is new in it, poll by poll.
 *
 *     struct cunei_trace_follow *follow = NULL;
 *     int rc = cunei_trace_follow_open(&follow, path, NULL, &error);
 *     while (rc == 0 && (rc = cunei_trace_follow_poll(follow, read, context)) > 0)
 *         … rc 1: wait a moment …
 *     cunei_trace_follow_close(follow);
 *
 * A poll hands out new packets, and new words of packets that are still being written,
 * checked as those of a finished trace are (trace/packet/check.h).  Each word is handed
 * out once, those of a stream in their order.  The program is not asked and does not
 * notice: nothing is mapped or locked, and no file stays open between polls.  Memory
 * grows with functions, streams and processes, not with events.
 *
 * Not for several threads at once.
 */
#ifndef CUNEI_TRACE_FOLLOW_FOLLOW_H
#define CUNEI_TRACE_FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cunei_trace;
struct cunei_trace_choice;
struct cunei_trace_error;
struct cunei_trace_follow;
struct cunei_trace_part;

/*
 * Follow the trace directory at `path`, or a process's folder.  An empty directory is
 * one that a recording may begin in.  Only chosen processes are read; `choice` is
 * borrowed, NULL: all.  Errors as from cunei_trace_open, or -ENOMEM.
 */
int cunei_trace_follow_open(struct cunei_trace_follow **follow, const char *path,
                            const struct cunei_trace_choice *choice,
                            struct cunei_trace_error *error);

/*
 * Call `read` for each part.  1: more may come, 2: more is there already, 0: each
 * process has ended, and all of it was read (a process that starts later is found by
 * another poll).  Negative errno, or what `read` returned: the follower can only be
 * closed.  Damage is not an error: it is noted in the trace, and passed.
 */
int cunei_trace_follow_poll(struct cunei_trace_follow *follow,
                            int (*read)(void *context,
                                        const struct cunei_trace_part *part),
                            void *context);

/*
 * The processes so far, in the order in which they were found, with their state,
 * description and functions as of the last poll.  Addresses of processes, streams and
 * functions are valid until the next poll, the texts of functions until the close.
 */
const struct cunei_trace *cunei_trace_follow_trace(
    const struct cunei_trace_follow *follow);

/* Whether a process is chosen, and so read. */
bool cunei_trace_follow_is_read(const struct cunei_trace_follow *follow,
                                size_t process);

/* Whether a process has ended, and all of it was handed out. */
bool cunei_trace_follow_has_ended(const struct cunei_trace_follow *follow,
                                  size_t process);

/* The most bytes of each stream's file that one poll hands out; 8 MiB by default. */
void cunei_trace_follow_set_portion(struct cunei_trace_follow *follow, uint64_t bytes);

/* Packets that were overwritten before they were read. */
uint64_t cunei_trace_follow_missed(const struct cunei_trace_follow *follow);

void cunei_trace_follow_close(struct cunei_trace_follow *follow);

#endif
