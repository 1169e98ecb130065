// SPDX-License-Identifier: MIT
/*
 * What the calling thread is called: the name of its threading.Thread, else what the
 * system knows it by.  Nothing of the program's own runs for it; needs the GIL.
 *
 * A name may change while the thread runs, by another thread, too.  Threading's setter
 * of names has a flag on its code object: when it is left, all threads are poked, and
 * each looks at its name again.  A name that is changed in another way is found when a
 * packet begins.
 */
#ifndef CUNEI_PROBE_THREADNAME_H
#define CUNEI_PROBE_THREADNAME_H

#include <Python.h>

#include <stdbool.h>

#include "wire/packet.h"

/* A hook of the recorder: see rt/recorder.h. */
void cunei_threadname_copy(char name[CUNEI_PACKET_THREAD_NAME]);

/* Write a `thread_name` event if the thread is not called what its stream says. */
void cunei_threadname_check(bool top_is_open);

/* Whether the function gives threads their names. */
bool cunei_threadname_is_setter(const char *module, const char *qualname,
                                const PyCodeObject *code);

#endif
