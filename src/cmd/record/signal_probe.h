// SPDX-License-Identifier: MIT
/*
 * Telling a signal that was sent to us alone from one that the whole process group got:
 * a process of the group that keeps what it is sent until we ask for it.
 *
 * The system sends a signal to the youngest member of a group first, so that the
 * witness has it before we do.
 */
#ifndef CUNEI_CMD_RECORD_SIGNAL_PROBE_H
#define CUNEI_CMD_RECORD_SIGNAL_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cunei_signal_probe {
    pid_t pid;     /* 0: there is none, and nothing is known */
    int line;      /* to ask and to answer */
    uint64_t sent; /* by bit: what the group got, and we have not yet */
};

/* Call it with all signals blocked: the witness inherits that. */
void cunei_signal_probe_start(struct cunei_signal_probe *witness);
void cunei_signal_probe_stop(struct cunei_signal_probe *witness);

/* Whether the signal that we just got was sent to the group; each is told once. */
bool cunei_signal_probe_saw(struct cunei_signal_probe *witness, int signal_number);

#endif
