// SPDX-License-Identifier: MIT
/*
 * The registry of code objects that have a word, as the files see it that
 * probe/code/code.h is made of: private to them.
 *
 *     code.c   who is in it, and what is known by a word
 *     word.c   how a code object comes to its word
 */
#ifndef CUNEI_PROBE_CODE_REGISTRY_H
#define CUNEI_PROBE_CODE_REGISTRY_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/code/code.h"

struct cunei_entry {
    PyCodeObject
        *code;      /* borrowed: until its word goes, and it did not stay; NULL: free */
    uint32_t id;    /* or the next free place */
    uint32_t flags; /* of enum cunei_code_flag */
    bool watched;
    bool lined;    /* its lines are recorded */
    bool stays;    /* its word goes, but the code object does not */
    bool muted;    /* events of it are switched off somewhere */
    bool followed; /* see cunei_code_follow */
    struct cunei_code_state state;
    bool tagged;                    /* the program calls it a region */
    struct cunei_line_table *table; /* owned; NULL: it needs none */
};

/* Places are 1 … count, in the lower half of a word. */
static inline uint32_t cunei_registry_place(uint64_t word)
{
    return (uint32_t)word;
}

uint32_t cunei_registry_count(void);

/* The entry at a place that was given out; it never moves. */
struct cunei_entry *cunei_registry_at(uint32_t place);

/* A copy of the entry gets a place; 0: there is none to be had. */
uint32_t cunei_registry_add(const struct cunei_entry *entry);
void cunei_registry_remove(uint32_t place);

/* The word of a code object, whatever it says; 0: it has none. */
uint64_t cunei_registry_word(PyCodeObject *code);

/*
 * Give a code object that has an entry another word; the entry stays.  -1 with an
 * exception set, which cannot be where there is a word already.
 */
int cunei_registry_exchange(struct cunei_entry *entry, uint64_t word);

/* Take all words away, and so all entries; with the world stopped. */
void cunei_registry_clear(void);

#endif
