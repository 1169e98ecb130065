// SPDX-License-Identifier: MIT
/*
 * The ways out of a process before CPython 3.12: os._exit, os.execv, os.execve, and
 * os.chroot, by which it loses sight of the trace.
 *
 * The calls of a code object cannot be heard of there, but for the price of a hook that
 * is called for all that runs meanwhile.  So these functions say themselves that they
 * are called: while a recording is on, their slot for vectorcalls leads to a function
 * of ours, which goes on to what was there.  The function that their method names
 * stays: by it they are found in a set or dict, such as os.supports_fd.
 */
#ifndef CUNEI_PROBE_EVENTS_EXIT_HOOKS_H
#define CUNEI_PROBE_EVENTS_EXIT_HOOKS_H

/* Hear of them from now on, or no more; needs the GIL.  Leaves no exception. */
void cunei_exit_hooks_watch(void);
void cunei_exit_hooks_unwatch(void);

#endif
