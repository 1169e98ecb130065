// SPDX-License-Identifier: MIT
/*
 * Functions that the program has decorated with `@cunei.region`.  The function itself
 * is unchanged, and its calls have the events of any function; one `tag` event per
 * recording says that they are a region.  It is known by its code object, as long as
 * that lives, from one recording to the next.
 */
#ifndef CUNEI_PROBE_USER_DECORATED_H
#define CUNEI_PROBE_USER_DECORATED_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

struct cunei_user_name;

/*
 * The calls of this code are a region of this name, from now on.  -1 with an exception:
 * no memory.
 */
int cunei_decorated_add(PyCodeObject *code, struct cunei_user_name *user_name);

/* Call `added` for each function that is decorated from now on. */
void cunei_decorated_init(void (*added)(PyCodeObject *code));

/*
 * A recording begins; and whether its source can record decorated functions: then they
 * are recorded, selected or not.
 */
void cunei_decorated_begin(void);
void cunei_decorated_enable(bool are_wanted);

/* Call `visit` for each one that is alive; whether there are any.  NULL: only that. */
bool cunei_decorated_visit(void (*visit)(PyCodeObject *code));

/* Whether this code is decorated, and recorded for that reason. */
bool cunei_decorated_is_recorded(PyCodeObject *code);

/* The id of decorated code is known. */
void cunei_decorated_set_id(PyCodeObject *code, uint32_t id);

/* Write the `tag` events that are due.  The top frame is open. */
void cunei_decorated_write(void);

/* Whether this recording has any. */
bool cunei_decorated_is_used(void);

#endif
