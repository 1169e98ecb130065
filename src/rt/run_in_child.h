// SPDX-License-Identifier: MIT
/*
 * Work on files in a program that has all its descriptors in use.
 *
 * A child does it, which shares the memory of this process but has a copy of its
 * descriptors, three of which it closes first.  The calling thread waits for the child,
 * as with vfork(2).  The program does not notice the child: its end sends no signal,
 * and wait(2) does not return it.
 */
#ifndef CUNEI_RT_RUN_IN_CHILD_H
#define CUNEI_RT_RUN_IN_CHILD_H

/* TSan takes the child for a thread that it does not know, and stops the program. */
#if defined(__SANITIZE_THREAD__)
#define CUNEI_RUN_IN_CHILD_WORKS 0
#elif defined(__has_feature)
#define CUNEI_RUN_IN_CHILD_WORKS (!__has_feature(thread_sanitizer))
#else
#define CUNEI_RUN_IN_CHILD_WORKS 1
#endif

/*
 * The result of `work`, which is called in this process and, if that returns -EMFILE,
 * again in the child.  It must leave no descriptor open and take no lock.
 */
int cunei_run_in_child(int (*work)(void *context), void *context);

#endif
