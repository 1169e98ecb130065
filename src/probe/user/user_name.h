// SPDX-License-Identifier: MIT
/*
 * Names that a program gives its regions, counters and streams of tokens: a text that
 * has an id in each recording.  It is not a Python object, so that a thread can free it
 * at its very end.
 *
 * A program may create names without end.  Each recording defines a limited number of
 * each kind; events of further ones are lost, and counted.
 */
#ifndef CUNEI_PROBE_USER_USER_NAME_H
#define CUNEI_PROBE_USER_USER_NAME_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* Names of each kind in a recording, and bytes of their texts. */
#define CUNEI_USER_NAMES_MAX       65536u
#define CUNEI_USER_NAMES_MAX_BYTES (16u << 20)

struct cunei_user_name;

/*
 * `file` is the kind: CUNEI_REGION_FILE, …; it lives as long as the process.  NULL with
 * an exception: no memory.
 */
struct cunei_user_name *cunei_user_name_new(PyObject *text, const char *file);

struct cunei_user_name *cunei_user_name_keep(struct cunei_user_name *user_name);
void cunei_user_name_free(struct cunei_user_name *user_name);

/* Its id in the current recording; 0: it has none. */
uint32_t cunei_user_name_id(struct cunei_user_name *user_name);

/*
 * Write an event of the thing with this name: its id goes into the lower half of the
 * last word.
 */
void cunei_user_name_write(struct cunei_user_name *user_name, uint64_t *words,
                           unsigned count);

/* Whether two have the same text. */
bool cunei_user_name_is_same(const struct cunei_user_name *a,
                             const struct cunei_user_name *b);

/* Its text, as long as it lives. */
const char *cunei_user_name_utf8(const struct cunei_user_name *user_name);

/* The name in an argument as an exact str, new; NULL with an exception. */
PyObject *cunei_user_name_text(PyObject *name, const char *what);

/* As a str, new. */
PyObject *cunei_user_name_object(const struct cunei_user_name *user_name);

#endif
