// SPDX-License-Identifier: MIT
/*
 * The parts of a thread that the rooms keep for it (C calls, exceptions, regions, steps
 * of tasks): each is made when it is first needed, and all are freed at the thread's
 * end.  Each room has a thread-local pointer to its own part, which the hot path reads
 * directly.
 */
#ifndef CUNEI_PROBE_CORE_THREAD_DATA_H
#define CUNEI_PROBE_CORE_THREAD_DATA_H

#include <stddef.h>

/*
 * A part of the calling thread, all zeros; NULL: no memory.  When the thread ends,
 * `end` frees it.  Destructors of other libraries may run later in the same thread, and
 * need the part again.
 */
void *cunei_thread_data_new(size_t size, void (*end)(void *part));

#endif
