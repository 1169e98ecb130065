// SPDX-License-Identifier: MIT
/*
 * Where open regions are kept: in a list that each thread has for itself, and, those
 * whose frames are suspended, in one for all of them.  Private to region.c.
 */
#ifndef CUNEI_PROBE_USER_REGION_LIST_H
#define CUNEI_PROBE_USER_REGION_LIST_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>

#include "probe/user/region_form.h"

struct cunei_user_name;

struct cunei_region_list_open {
    struct cunei_user_name *user_name; /* owned */
    const void *frame;                 /* compared only, as the greenlet is */
    const void *greenlet;              /* NULL: the one before the first switch */
    enum cunei_region_form form;
};

struct cunei_region_list {
    unsigned recording;  /* of which the rest tells */
    unsigned unrecorded; /* begun by calls, and not recorded in this one */
    size_t count, capacity;
    const void *greenlet; /* that runs */
    struct cunei_region_list_open *opens;
};

struct cunei_region_list_node {
    struct cunei_region_list_node *next;
    struct cunei_region_list_open open;
};

/* The calling thread's; NULL: no memory. */
struct cunei_region_list *cunei_region_list_get(void);

/* The same, but NULL where nothing is open. */
const struct cunei_region_list *cunei_region_list_peek(void);

/* Whether there is room for one more. */
bool cunei_region_list_reserve(struct cunei_region_list *list);

void cunei_region_list_remove(struct cunei_region_list *list, size_t at);

/* Take it out of the list until its frame goes on; without memory it is forgotten. */
void cunei_region_list_suspend(struct cunei_region_list *list, size_t at);

bool cunei_region_list_has_suspended(void);

/* Those that were suspended with a frame, owned, the last to be suspended first. */
struct cunei_region_list_node *cunei_region_list_take(const void *frame);

/* All lists are empty from now on. */
void cunei_region_list_reset(void);

#endif
