// SPDX-License-Identifier: MIT
/*
 * The name of the calling thread: that of its threading.Thread, else the system's.
 * None of the program's code runs for it; needs the GIL.
 *
 * A name may change while the thread runs, also from another thread.  The setter of
 * threading is watched: when it is called, all threads are asked to read their names
 * again.  A name that is changed in another way is found when a packet begins.
 */
#ifndef CUNEI_PROBE_EVENTS_THREAD_NAME_H
#define CUNEI_PROBE_EVENTS_THREAD_NAME_H

#include <Python.h>

#include <stdbool.h>

#include "wire/packet.h"

/* A hook of the recorder: see rt/recorder.h. */
void cunei_thread_name_copy(char name[CUNEI_PACKET_THREAD_NAME]);

/* Write a `thread_name` event if the thread's name is not the one in its stream. */
void cunei_thread_name_check(bool top_is_open);

/* Whether the function renames threads: it must have CALL events. */
bool cunei_thread_name_watches(PyCodeObject *code);

/* That function calls str, and will set the name then. */
void cunei_thread_name_changes(void);

#endif
