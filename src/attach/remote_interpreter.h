// SPDX-License-Identifier: MIT
/*
 * The interpreter and the thread states of another process, by its debug offsets
 * (CPython 3.13 and newer).  Every pointer comes from memory that may change while it
 * is read, so what it leads to is compared with what must be there.
 */
#ifndef CUNEI_ATTACH_REMOTE_INTERPRETER_H
#define CUNEI_ATTACH_REMOTE_INTERPRETER_H

#include <stddef.h>
#include <stdint.h>

#include "attach/target.h"

/* Read a field; 0 or -EFAULT, -EPERM, -ESRCH. */
int cunei_remote_read(const struct cunei_target *target, uint64_t address, void *bytes,
                      size_t size);
int cunei_remote_write(const struct cunei_target *target, uint64_t address,
                       const void *bytes, size_t size);

/*
 * The main interpreter.  -EBADMSG: what lies in memory is not as in the file, or not
 * plausible; -ESHUTDOWN: Python is ending; -EAGAIN: it has not started yet.
 */
int cunei_remote_interpreter_find(const struct cunei_target *target,
                                  uint64_t *interpreter);

/*
 * Its thread states, newest first, but the main thread's and that of the thread that
 * has or had the GIL before all others; `max` at most.  Only reliable while all threads
 * are stopped.  Returns how many, or -EBADMSG.
 */
int cunei_remote_interpreter_threads(const struct cunei_target *target,
                                     uint64_t interpreter, uint64_t *threads,
                                     size_t max);

/* Step through all of them; `*thread` is 0 before the first and behind the last. */
int cunei_remote_interpreter_next(const struct cunei_target *target,
                                  uint64_t interpreter, uint64_t *thread);

#endif
