// SPDX-License-Identifier: MIT
/*
 * Word of processes that could not record, and why: they must not say it themselves,
 * the launcher says it at the end.
 *
 * It is left as an empty file in the trace directory, whose name has the reason.  Where
 * that is what cannot be done (another user's directory, none in this root, a read-only
 * one), it goes to a socket that the launcher listens at, in the abstract namespace,
 * which needs no directory and no rights.
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
    } reasons[CUNEI_REFUSAL_REASONS]; /* those with a count, the first ones first */
};

/* Never fails, never waits. */
void cunei_refusal_leave(const char *directory, int error);

/* A descriptor to collect from, above the standard ones; or a negative errno. */
int cunei_refusal_listen(const char *directory);

/* All that came so far; `listener` may be negative. */
void cunei_refusal_collect(const char *directory, int listener,
                           struct cunei_refusals *refusals);

#endif
