// SPDX-License-Identifier: MIT
/*
 * What the recorder asks its user (the probe) about the calling thread.  Each hook may
 * be NULL.  All but `closing` may write events, which then come before the event that
 * the thread was about to write.
 */
#ifndef CUNEI_RT_RECORDER_HOOKS_H
#define CUNEI_RT_RECORDER_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/packet.h"

/* The most functions that the hook `stack` is asked for. */
#define CUNEI_RECORDER_STACK_MAX 4096

struct cunei_stream;

struct cunei_recorder_hooks {
    /*
     * Write the ids of the functions that are open, innermost first, at most `max`, and
     * return how many they are.  The top frame counts only if `top_is_open`.
     * `*omitted`: how many more there are.
     */
    size_t (*stack)(bool top_is_open, uint32_t *functions, size_t max, size_t *omitted);
    /* Write the name of the thread; leave it alone if the thread has none. */
    void (*name)(char name[CUNEI_PACKET_THREAD_NAME]);
    /* The thread has begun a packet, or cunei_recorder_poke was called. */
    void (*poked)(bool top_is_open);
    /* The thread's packet is about to be closed.  Call nothing of the Python API. */
    void (*closing)(struct cunei_stream *stream);
    /* The alarm time has passed (cunei_recorder_set_alarm); the first thread that
     * writes an event calls this, again and again until the alarm is set anew. */
    void (*alarmed)(void);
    /* Called in the child of a fork, in which nothing is recorded until
     * cunei_recorder_start is called there. */
    void (*forked)(void);
};

#endif
