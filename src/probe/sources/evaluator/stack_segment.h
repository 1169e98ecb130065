// SPDX-License-Identifier: MIT
/*
 * Deep recursion: an evaluator of frames needs a piece of the C stack for each, of
 * which CPython by itself needs none from 3.11 on.  Before a program runs out of it
 * that would not without us, it goes on in memory of our own.
 *
 *     if (cunei_stack_segment_is_at_end())
 *         cunei_stack_segment_run(work, context);     which calls work(context) there
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_STACK_SEGMENT_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_STACK_SEGMENT_H

#include <stdbool.h>

/* Whether little is left of the stack that the calling thread is on. */
bool cunei_stack_segment_is_at_end(void);

/*
 * Whether the calling thread has so little of it that it is at the end from the
 * beginning: it must be asked about every frame.
 */
bool cunei_stack_segment_is_small(void);

/* False where nothing was called: there is no memory to be had. */
bool cunei_stack_segment_run(void (*work)(void *context), void *context);

#endif
