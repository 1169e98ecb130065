// SPDX-License-Identifier: MIT
/*
 * What the calling thread is called: the name of its threading.Thread, else what the
 * system knows it by.  Nothing of the program's own runs for it; needs the GIL.
 *
 * A name may change while the thread runs, by another thread, too.  Threading's setter
 * of names is watched: when it is called, all threads are poked, and each looks at its
 * name again.  A name that is changed in another way is found when a packet begins.
 */
#ifndef CUNEI_PROBE_EVENTS_THREAD_NAME_H
#define CUNEI_PROBE_EVENTS_THREAD_NAME_H

#include <Python.h>

#include <stdbool.h>

#include "wire/packet.h"

/* A hook of the recorder: see rt/recorder.h. */
void cunei_thread_name_copy(char name[CUNEI_PACKET_THREAD_NAME]);

/* Write a `thread_name` event if the thread is not called what its stream says. */
void cunei_thread_name_check(bool top_is_open);

/* Whether the function gives threads other names: it must have CALL events. */
bool cunei_thread_name_watches(PyCodeObject *code);

/* It calls str, and will set the name then. */
void cunei_thread_name_changes(void);

#endif
