// SPDX-License-Identifier: MIT
/*
 * All threads of another process, stopped for a moment.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT: unlike SIGSTOP, neither the parent nor the shell
 * notices.  Should the caller die, the kernel lets the threads continue.
 */
#ifndef CUNEI_ATTACH_STOPPED_THREADS_H
#define CUNEI_ATTACH_STOPPED_THREADS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Call `function` while all threads are stopped; returns its result.  If that is
 * -EAGAIN or -EBUSY, the threads continue for a moment, and it is called again, some
 * times. -EPERM: the process may not be traced; -EALREADY: another process traces it;
 * -ETIMEDOUT: a thread did not stop; -ESRCH: the process has ended.  The time from the
 * first stop to the last release is added to `*stopped_ns`.
 */
int cunei_stopped_threads_run(pid_t pid, int (*function)(void *context), void *context,
                              uint64_t *stopped_ns);

#endif
