// SPDX-License-Identifier: MIT
/*
 * The open regions of each thread, and those whose frames are suspended, of all
 * threads.  Private to the region files.
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
    unsigned recording;  /* the recording of the rest */
    unsigned unrecorded; /* begun by calls, without an event in this recording */
    size_t count, capacity;
    const void *greenlet; /* the one that runs */
    struct cunei_region_list_open *opens;
};

struct cunei_region_list_node {
    struct cunei_region_list_node *next;
    struct cunei_region_list_open open;
};

/* The calling thread's; NULL: no memory. */
struct cunei_region_list *cunei_region_list_get(void);

/* The same; NULL if no region is open. */
const struct cunei_region_list *cunei_region_list_peek(void);

/* Make room for one more; false: no memory, or too many. */
bool cunei_region_list_reserve(struct cunei_region_list *list);

void cunei_region_list_remove(struct cunei_region_list *list, size_t at);

/* Remove it until its frame resumes; without memory it is forgotten. */
void cunei_region_list_suspend(struct cunei_region_list *list, size_t at);

bool cunei_region_list_has_suspended(void);

/*
 * Remove and return those that were suspended with a frame, owned, the last suspended
 * first.
 */
struct cunei_region_list_node *cunei_region_list_take(const void *frame);

/* Empty all lists. */
void cunei_region_list_reset(void);

#endif
