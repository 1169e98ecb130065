// SPDX-License-Identifier: MIT
/*
 * Deep recursion: a frame evaluator needs C stack for each frame, of which CPython 3.11
 * by itself needs none.  Near the end of a thread's stack, frames run on memory of our
 * own, so that a program does not overflow a stack that suffices without us.
 *
 *     if (cunei_stack_segment_is_at_end())
 *         cunei_stack_segment_run(work, context);     which calls work(context) there
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_STACK_SEGMENT_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_STACK_SEGMENT_H

#include <stdbool.h>

/* Whether the calling thread is near the end of its stack. */
bool cunei_stack_segment_is_at_end(void);

/*
 * Whether the calling thread has so little of it that it is at the end from the
 * beginning: it must be asked about every frame.
 */
bool cunei_stack_segment_is_small(void);

/* False: there is no memory, and nothing was called. */
bool cunei_stack_segment_run(void (*work)(void *context), void *context);

#endif
