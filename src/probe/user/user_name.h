// SPDX-License-Identifier: MIT
/*
 * What a program calls its own regions, counters and streams of tokens: a text that has
 * an id in each recording.  No object of Python's, so that a thread can let go of it at
 * its very end.
 *
 * A program may make up names without end.  In each recording only so many are defined
 * of each kind, and events of further ones are lost, and counted.
 */
#ifndef CUNEI_PROBE_USER_USER_NAME_H
#define CUNEI_PROBE_USER_USER_NAME_H

#include <Python.h>

#include <stdatomic.h>
#include <stdint.h>

/* Of each kind in a recording, and so many bytes of their texts. */
#define CUNEI_USER_NAMES_MAX       65536u
#define CUNEI_USER_NAMES_MAX_BYTES (16u << 20)

struct cunei_user_name {
    _Atomic unsigned references;
    _Atomic uint64_t known; /* the number of a recording, and the id in it */
    const char *file;       /* which says what it is of: CUNEI_REGION_FILE, … */
    char text[];
};

/* `file` lives as long as the process.  NULL with an exception: no memory. */
struct cunei_user_name *cunei_user_name_new(PyObject *text, const char *file);

struct cunei_user_name *cunei_user_name_keep(struct cunei_user_name *user_name);
void cunei_user_name_free(struct cunei_user_name *user_name);

/* Its id in the recording that is on; 0: it has none. */
uint32_t cunei_user_name_id(struct cunei_user_name *user_name);

/* A text that is given as a name, new: an exact one; NULL with an exception. */
PyObject *cunei_user_name_text(PyObject *name, const char *what);

/* As an object of Python's, new. */
PyObject *cunei_user_name_object(const struct cunei_user_name *user_name);

#endif
