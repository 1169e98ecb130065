// SPDX-License-Identifier: MIT
/*
 * The registry of code objects that have a tag (probe/code/code_tag.h), until they are
 * freed: this is how a new recording finds and removes all tags.  Other rooms see the
 * entries through code.h and code_resolve.h.
 *
 * All of it belongs to the main interpreter.  Its GIL guards it, or without a GIL the
 * rules of probe/core/world.h; looking an entry up takes no lock.
 */
#ifndef CUNEI_PROBE_CODE_REGISTRY_H
#define CUNEI_PROBE_CODE_REGISTRY_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/code/code_tag.h"

struct cunei_line_table;

struct cunei_entry {
    PyCodeObject
        *code;      /* borrowed: until its tag is removed; NULL: the entry is free */
    uint32_t id;    /* or the next free place */
    uint32_t flags; /* of enum cunei_code_flag */
    bool watched;
    bool lined;     /* its lines are recorded */
    bool stays;     /* its tag is being replaced: the entry remains */
    bool muted;     /* events of it are switched off somewhere */
    bool followed;  /* see cunei_code_follow */
    bool decorated; /* decorated as a region */
    struct cunei_code_state state;
    struct cunei_line_table *table; /* owned; NULL: it needs none */
};

/*
 * Request a co_extra slot.  Its index goes to `*index`, and whether it may be read
 * inline to `*is_inline`.  -1 with an exception set: no slot is left.
 */
int cunei_registry_init(Py_ssize_t *index, bool *is_inline);

/*
 * CPython 3.8 frees objects of one interpreter when another one collects garbage, and
 * frees co_extra with the functions of that other one: call this in it before.
 */
void cunei_registry_share(void);

/* Call `removed` whenever a code object whose lines were recorded is freed. */
void cunei_registry_watch_lined(void (*removed)(void));

/* Places are 1 … count, in the lower half of a tag. */
static inline uint32_t cunei_registry_place(uint64_t tag)
{
    return (uint32_t)tag;
}

uint32_t cunei_registry_count(void);

/* The entry at a place that is in use; it never moves. */
struct cunei_entry *cunei_registry_at(uint32_t place);

/* Add a copy of the entry; its place, or 0: the registry is full. */
uint32_t cunei_registry_add(const struct cunei_entry *entry);
void cunei_registry_remove(uint32_t place);

/* The tag of a code object, stale or not; 0: it has none. */
uint64_t cunei_registry_tag(PyCodeObject *code);

/* Set the tag of a code object, 0: none.  -1 with an exception set. */
int cunei_registry_set_tag(PyCodeObject *code, uint64_t tag);

/* Replace the tag of a code object that has an entry, and so a tag: cannot fail. */
void cunei_registry_exchange(struct cunei_entry *entry, uint64_t tag);

/* Remove all tags, and so all entries; with the world stopped. */
void cunei_registry_clear(void);

#endif
