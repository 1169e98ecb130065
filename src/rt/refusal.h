// SPDX-License-Identifier: MIT
/*
 * Messages from processes that could not record, with the reason.  Such a process must
 * not print anything; the launcher prints the reasons at the end.
 *
 * A message is an empty file in the trace directory with the reason in its name.  If
 * the process cannot write there (another user's directory, another root, a read-only
 * disk), it sends the message to a socket of the launcher in the abstract namespace,
 * which needs no directory and no permission.
 *
 *     int listener = cunei_refusal_listen(directory);       in the launcher
 *     cunei_refusal_leave(directory, EACCES);               in any process below it
 *     cunei_refusal_collect(directory, listener, &refusals);
 */
#ifndef CUNEI_RT_REFUSAL_H
#define CUNEI_RT_REFUSAL_H

#define CUNEI_REFUSAL_NAME ".refused-" /* then PID-REASON */

#define CUNEI_REFUSAL_REASONS 8

struct cunei_refusals {
    unsigned count; /* processes */
    struct {
        int error; /* see python/refusal_reason.h */
        unsigned count;
    } reasons[CUNEI_REFUSAL_REASONS]; /* those with a count, in order of arrival */
};

/* Never fails, never waits. */
void cunei_refusal_leave(const char *directory, int error);

/*
 * The folder of this process was moved, replaced or removed while it recorded.  The
 * socket comes first: who did that may remove a file in the trace directory as well.
 */
void cunei_refusal_report_loss(const char *folder);

/* A descriptor to collect from, above the standard ones; or a negative errno. */
int cunei_refusal_listen(const char *directory);

/* All messages so far; `listener` may be negative. */
void cunei_refusal_collect(const char *directory, int listener,
                           struct cunei_refusals *refusals);

#endif
