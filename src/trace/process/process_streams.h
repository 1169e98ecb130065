// SPDX-License-Identifier: MIT
/* The list of a process's streams, while it is filled. */
#ifndef CUNEI_TRACE_PROCESS_PROCESS_STREAMS_H
#define CUNEI_TRACE_PROCESS_PROCESS_STREAMS_H

#include <stdint.h>

struct cunei_trace_process;
struct cunei_trace_stream;

/* The stream with this number, added at the end if it is new; -ENOMEM. */
int cunei_process_streams_add(struct cunei_trace_process *process, uint64_t number,
                              struct cunei_trace_stream **stream);

/* Forget the live packets of a stream that are also in its file, up to a sequence
 * number. */
void cunei_process_streams_drop_written(struct cunei_trace_stream *stream,
                                        uint64_t last);

#endif
