// SPDX-License-Identifier: MIT
/*
 * Calls of C functions that end this process, or start or end its children.
 *
 * os.kill, os.wait and similar: their arguments and results show how children ended
 * that were killed, and by which signal of ours.  No event of CPython has the result of
 * a C function.
 *
 * os.posix_spawn, os.execv, os.execve and the function behind subprocess: whether they
 * run a Python that cannot record.
 *
 * Before CPython 3.12 also os._exit, and os.chroot, which puts the trace out of reach,
 * and the end by os.execv: there are no CALL events for single code objects, and a hook
 * would be called for all code.
 *
 * So these functions report themselves: during a recording their vectorcall slot points
 * to a function of ours, which calls the original.  The function in their method stays:
 * it is their key in a set or dict, such as os.supports_fd.  Only the function behind
 * subprocess has no such slot before CPython 3.12, and its method is replaced.
 */
#ifndef CUNEI_PROBE_EVENTS_PROCESS_CALL_HOOKS_H
#define CUNEI_PROBE_EVENTS_PROCESS_CALL_HOOKS_H

/* Hook them, or not; needs the GIL.  Leaves no exception. */
void cunei_process_call_hooks_watch(void);
void cunei_process_call_hooks_unwatch(void);

#endif
