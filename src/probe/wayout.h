// SPDX-License-Identifier: MIT
/*
 * The ways out of a process before CPython 3.12: os._exit, os.execv, os.execve, and
 * os.chroot, by which it loses sight of the trace.
 *
 * The calls of a code object cannot be heard of there, but for the price of a hook that
 * is called for all that runs meanwhile.  So these functions say themselves that they
 * are called: while a recording is on, their entries in the table of posix lead to a
 * function of ours, which goes on to what was there.  No object of Python's changes.
 */
#ifndef CUNEI_PROBE_WAYOUT_H
#define CUNEI_PROBE_WAYOUT_H

/* Hear of them from now on, or no more; needs the GIL.  Leaves no exception. */
void cunei_wayout_watch(void);
void cunei_wayout_unwatch(void);

#endif
