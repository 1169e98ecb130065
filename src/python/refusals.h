// SPDX-License-Identifier: MIT
/*
 * The processes of a recording that could not record, each with its reason.
 *
 *     cunei_refusals_add(&refusals, pid, ENOSPC);
 *     cunei_refusals_remove_recorded(&refusals, pid);   for each process of the trace
 *     cunei_refusals_format(&refusals, &text);
 *     cunei_refusals_fini(&refusals);
 */
#ifndef CUNEI_PYTHON_REFUSALS_H
#define CUNEI_PYTHON_REFUSALS_H

#include <stddef.h>
#include <stdint.h>

#define CUNEI_REFUSALS_MAX 65536 /* more are not kept: any process can send some */

struct cunei_buffer;

struct cunei_refusal {
    int64_t pid; /* in the pid namespace of the process that reported it */
    int reason;  /* see python/refusal_reason.h */
};

struct cunei_refusals {
    struct cunei_refusal *items; /* owned, in order of arrival */
    size_t count;
};

/*
 * A number that is no reason counts as CUNEI_REFUSAL_UNKNOWN.  A process that was not
 * seen (CUNEI_REFUSAL_UNSEEN) and gave a reason itself counts once, with that.
 */
void cunei_refusals_add(struct cunei_refusals *refusals, int64_t pid, int64_t reason);

/*
 * The trace has this process: it was seen, and if its folder was moved, it was
 * recorded, at least in part.
 */
void cunei_refusals_remove_recorded(struct cunei_refusals *refusals, int64_t pid);

/* How many have this reason. */
size_t cunei_refusals_count(const struct cunei_refusals *refusals, int reason);

/* Append the reasons as words, each with its number if there are several. */
void cunei_refusals_format(const struct cunei_refusals *refusals,
                           struct cunei_buffer *text);

void cunei_refusals_fini(struct cunei_refusals *refusals);

#endif
