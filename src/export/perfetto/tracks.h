// SPDX-License-Identifier: MIT
/* Perfetto's tracks: of processes, of their threads, of tasks. */
#ifndef CUNEI_EXPORT_PERFETTO_TRACKS_H
#define CUNEI_EXPORT_PERFETTO_TRACKS_H

#include <stddef.h>
#include <stdint.h>

struct cunei_encoding;

/* A number that no other track has; `thread` is its serial in the process. */
uint64_t cunei_perfetto_thread_track(const struct cunei_encoding *encoding,
                                     uint32_t thread);
uint64_t cunei_perfetto_counter_track(const struct cunei_encoding *encoding,
                                      uint32_t counter);
uint64_t cunei_perfetto_task_track(const struct cunei_encoding *encoding,
                                   uint64_t task);

/* Describe the process, its current thread, one of its counters or tasks. */
void cunei_perfetto_define_process(struct cunei_encoding *encoding);
void cunei_perfetto_define_thread(struct cunei_encoding *encoding, const char *name,
                                  size_t size);
void cunei_perfetto_define_counter(struct cunei_encoding *encoding, uint32_t counter);
void cunei_perfetto_define_task(struct cunei_encoding *encoding, uint64_t task,
                                const char *name, size_t size);

#endif
