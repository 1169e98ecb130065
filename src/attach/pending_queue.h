// SPDX-License-Identifier: MIT
/*
 * The queue of pending calls of another process's main interpreter,
 * interp->ceval.pending, in CPython 3.12 and 3.13 with a GIL.
 *
 * It is only changed while all threads are stopped and its lock is free:
 *
 *     rc = cunei_pending_queue_read(&queue, target);
 *     if (rc == 0 && !cunei_pending_queue_is_locked(&queue))
 *         rc = cunei_pending_queue_place(&queue, text, size, &address);
 *     if (rc == 0)
 *         rc = cunei_pending_queue_push(&queue, function, address);
 *
 * The layout is known for some versions.  Reading compares all that is known about the
 * values with them, so that another layout is refused before anything is written.
 */
#ifndef CUNEI_ATTACH_PENDING_QUEUE_H
#define CUNEI_ATTACH_PENDING_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/target.h"

#define CUNEI_PENDING_QUEUE_SIZE 7232 /* bytes of the largest queue */

struct cunei_pending_layout;

/* As it was when it was read. */
struct cunei_pending_queue {
    const struct cunei_target *target; /* borrowed */
    const struct cunei_pending_layout *layout;
    uint64_t interpreter, address;
    uint8_t bytes[CUNEI_PENDING_QUEUE_SIZE];
};

struct cunei_pending_call {
    uint64_t function, argument;
};

/* Whether the layout of this Python is known. */
bool cunei_pending_queue_is_known(const struct cunei_target *target);

/*
 * -EBADMSG: what is there is not as it must be; -ESHUTDOWN: Python is ending; -EAGAIN:
 * it has not started yet.
 */
int cunei_pending_queue_read(struct cunei_pending_queue *queue,
                             const struct cunei_target *target);
bool cunei_pending_queue_is_locked(const struct cunei_pending_queue *queue);

/* Whether a thread executes a call that it has taken from the queue. */
bool cunei_pending_queue_is_busy(const struct cunei_pending_queue *queue);

/* How many calls wait, and one of them. */
size_t cunei_pending_queue_count(const struct cunei_pending_queue *queue);
struct cunei_pending_call cunei_pending_queue_at(
    const struct cunei_pending_queue *queue, size_t index);

/*
 * Write a text into slots that the queue does not use, where it stays until a call that
 * is added now; its address goes to `*text_address`.  -EAGAIN: there is no room.
 */
int cunei_pending_queue_place(struct cunei_pending_queue *queue, const char *text,
                              size_t size, uint64_t *text_address);

/* Add a call, and ask all threads to look into the queue. */
int cunei_pending_queue_push(const struct cunei_pending_queue *queue,
                             const struct cunei_pending_call *call);

/* Remove the last call. */
int cunei_pending_queue_pop(const struct cunei_pending_queue *queue);

/*
 * Ask once more, while the program runs.  In 3.12, a thread that was computing the eval
 * breaker when it was stopped may have cleared it afterwards.
 */
int cunei_pending_queue_remind(const struct cunei_pending_queue *queue);

#endif
