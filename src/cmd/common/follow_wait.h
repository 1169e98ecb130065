// SPDX-License-Identifier: MIT
/*
 * Waiting between two looks at a recording that grows, until someone wants to leave.
 *
 *     cunei_follow_wait_begin();
 *     while (… && cunei_follow_wait(interval_ns, STDOUT_FILENO) == CUNEI_FOLLOW_ON)
 *         …
 *
 * SIGINT, SIGTERM and SIGHUP only end the wait, so that what was read is still printed.
 * The second one ends the command.
 */
#ifndef CUNEI_CMD_COMMON_FOLLOW_WAIT_H
#define CUNEI_CMD_COMMON_FOLLOW_WAIT_H

#include <stdint.h>

enum cunei_follow_state {
    CUNEI_FOLLOW_ON,     /* the time has passed */
    CUNEI_FOLLOW_ASKED,  /* a signal asks to end */
    CUNEI_FOLLOW_UNREAD, /* what is written to `out` is not read any more */
};

void cunei_follow_wait_begin(void);

/* What the second signal prints to stdout, which gives the screen back, or NULL. */
void cunei_follow_wait_part_with(const char *text);

/* `out` is where the output goes; no wait is longer than this. */
enum cunei_follow_state cunei_follow_wait(uint64_t ns, int out);

#endif
