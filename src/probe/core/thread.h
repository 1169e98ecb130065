// SPDX-License-Identifier: MIT
/*
 * A thread as the probe sees it: the parts that rooms keep for it (C calls, exceptions,
 * regions, steps of tasks), each made at first need and freed together at the thread's
 * end.  Each room finds its own part through a thread-local pointer of its own, which
 * the hot path reads directly; this is only how the parts come to an end.
 */
#ifndef CUNEI_PROBE_CORE_THREAD_H
#define CUNEI_PROBE_CORE_THREAD_H

#include <stdbool.h>

/*
 * Call `end` with `part` when the calling thread ends.  Code of other libraries may run
 * later in the same thread, and begin the part anew.  False: no memory, and `part` is
 * still the caller's.
 */
bool cunei_thread_add_part(void *part, void (*end)(void *part));

#endif
