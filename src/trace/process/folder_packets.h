// SPDX-License-Identifier: MIT
/* What the names in a folder say about packets in it. */
#ifndef CUNEI_TRACE_PROCESS_FOLDER_PACKETS_H
#define CUNEI_TRACE_PROCESS_FOLDER_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

/* The number in `s<number>`, or -1 for other files. */
int64_t cunei_folder_stream_number(const char *name);

/*
 * Whether a folder below `at` (or AT_FDCWD) holds what was recorded.  Its metadata is
 * there before that, so that a folder with packets and without metadata has lost it.
 */
bool cunei_folder_has_packets(int at, const char *path);

#endif
