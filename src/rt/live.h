// SPDX-License-Identifier: MIT
/* The live file of this process; private to rt/. */
#ifndef CUNEI_RT_LIVE_H
#define CUNEI_RT_LIVE_H

#include "wire/packet.h"

struct cunei_recorder_state;
struct cunei_slot;

int cunei_live_create(struct cunei_recorder_state *recording);
struct cunei_slot *cunei_live_add_slot(struct cunei_recorder_state *recording,
                                       enum cunei_stream_class stream_class);

/* Unmap the file; it stays for readers. */
void cunei_live_forget(struct cunei_recorder_state *recording);
void cunei_live_remove(struct cunei_recorder_state *recording);

/* Remove the link by which the file is found through the process's number. */
void cunei_live_remove_pointer(struct cunei_recorder_state *recording);

#endif
