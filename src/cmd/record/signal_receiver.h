// SPDX-License-Identifier: MIT
/*
 * Was a signal sent to this process alone, or to its process group?  A child process in
 * the group collects the signals that it receives, until we ask for them.
 *
 * The system sends a signal to the youngest member of a group first, so that the
 * probe has it before we do.
 */
#ifndef CUNEI_CMD_RECORD_SIGNAL_RECEIVER_H
#define CUNEI_CMD_RECORD_SIGNAL_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cunei_signal_receiver {
    pid_t pid;     /* 0: it could not be started */
    int line;      /* to ask and to answer */
    uint64_t sent; /* by bit: signals that the group got and we have not yet */
};

/* To be called with all signals blocked: the probe inherits the mask. */
void cunei_signal_receiver_start(struct cunei_signal_receiver *probe);
void cunei_signal_receiver_stop(struct cunei_signal_receiver *probe);

/* Whether the signal that we just got was sent to the group; each is reported once. */
bool cunei_signal_receiver_saw(struct cunei_signal_receiver *probe, int signal_number);

#endif
