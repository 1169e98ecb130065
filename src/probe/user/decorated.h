// SPDX-License-Identifier: MIT
/*
 * Functions whose calls the program calls regions: `@cunei.region`.  The function stays
 * as it is, and nothing is written for its calls but what is written for any function;
 * a `tag` event says once what they are.  It is known by its code object, for as long
 * as that lives, and from one recording to the next.
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

/* Call `added` for each function that is tagged from now on. */
void cunei_decorated_init(void (*added)(PyCodeObject *code));

/* A recording begins; and whether its tagged functions can be heard of: then they are
 * recorded, whatever else is. */
void cunei_decorated_begin(void);
void cunei_decorated_enable(bool are_wanted);

/* All of them that live; NULL: whether there are any. */
bool cunei_decorated_visit(void (*visit)(PyCodeObject *code));

/* Whether this code is tagged, and to be recorded for that. */
bool cunei_decorated_is_recorded(PyCodeObject *code);

/* It has got this id. */
void cunei_decorated_set_id(PyCodeObject *code, uint32_t id);

/* Write the events of those that have got one.  The top frame is open. */
void cunei_decorated_write(void);

/* Whether there are any, in this recording. */
bool cunei_decorated_is_used(void);

#endif
