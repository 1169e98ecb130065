// SPDX-License-Identifier: MIT
/* Following one process: private to trace/follow/follow.c. */
#ifndef CUNEI_TRACE_FOLLOW_FOLLOW_PROCESS_H
#define CUNEI_TRACE_FOLLOW_FOLLOW_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/directory/functions.h"
#include "trace/follow/follow_stream.h"
#include "trace/live/ring.h"

struct cunei_trace_choice;

struct cunei_follow_process {
    bool is_chosen;
    bool has_ended;                      /* and all of it was handed out */
    uint32_t slot_count;                 /* slots of the live file that are streams */
    struct cunei_follow_stream *streams; /* owned: as the process's */
    size_t stream_count;
    struct cunei_trace_functions_place place;
    uint64_t tail[2]; /* what the tail was like when it was read */
    bool has_tail;
    uint64_t described_size, described_ns; /* of the description that was read */
    struct cunei_trace_ring_place ring;
    bool had_ring;
    unsigned quiet; /* polls since something came */
};

/* Begin to follow the process in the folder at `path`, as the last of the trace. */
int cunei_follow_process_open(struct cunei_follow_process *follow,
                              struct cunei_trace_process *process, const char *path,
                              struct cunei_trace_error *error);

/*
 * Hand out what is new of the process `poll->index`.  -EBADMSG and other errors of
 * reading: `error` says what cannot be read, and its rest is passed over.
 */
int cunei_follow_process_poll(struct cunei_follow_process *follow,
                              struct cunei_follow_poll *poll,
                              const struct cunei_trace_choice *choice,
                              struct cunei_trace_error *error);
void cunei_follow_process_fini(struct cunei_follow_process *follow);

#endif
