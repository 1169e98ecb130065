// SPDX-License-Identifier: MIT
/*
 * Work on files in a program that has all its descriptors in use.
 *
 * It is done by a child that shares the memory of this process, but has a copy of its
 * descriptors, three of which it closes first.  The calling thread waits for it, as
 * with vfork(2).  The program sees nothing of the child: no signal tells of its end,
 * and wait(2) does not return it.
 */
#ifndef CUNEI_RT_RUN_IN_CHILD_H
#define CUNEI_RT_RUN_IN_CHILD_H

/* TSan takes the child for a thread that it does not know, and gives up. */
#if defined(__SANITIZE_THREAD__)
#define CUNEI_APART_WORKS 0
#elif defined(__has_feature)
#define CUNEI_APART_WORKS (!__has_feature(thread_sanitizer))
#else
#define CUNEI_APART_WORKS 1
#endif

/*
 * The result of `work`, which is called here or, if that gives -EMFILE, apart.  It must
 * leave no descriptor open and take no lock, and may be called twice.
 */
int cunei_run_in_child(int (*work)(void *context), void *context);

#endif
