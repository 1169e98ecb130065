// SPDX-License-Identifier: MIT
/*
 * C functions in a thread: the ids of those it has called, and its open calls with
 * their frames.  Only the thread itself uses it.
 *
 * Private to c_call.c, whose hot paths read the members.
 */
#ifndef CUNEI_PROBE_EVENTS_C_CALL_THREAD_H
#define CUNEI_PROBE_EVENTS_C_CALL_THREAD_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * A C function that this thread has called.  The tag is like a code object's, with the
 * version of the owner in its lower half and one bit of its own.
 */
struct cunei_c_call_thread_known {
    const PyMethodDef *method; /* NULL: the slot is free */
    const PyTypeObject *owner;
    uint64_t tag;
    uint32_t id;
    char *text; /* owned: the text that identifies it; NULL: none is needed */
};

#define CUNEI_C_CALL_FOREVER (UINT64_C(1) << 34) /* valid whatever the version */

/* A frame and the C function it is in. */
struct cunei_c_call_thread_open {
    const void *frame;
    uint64_t tag; /* the id at its place in a record, or in the lower half */
};

struct cunei_c_call_thread {
    uint64_t recording; /* the recording that this belongs to; 0: none */
    struct cunei_c_call_thread_open
        *top; /* the innermost; if there is none, the unused first one */
    struct cunei_c_call_thread_known *table;
    size_t table_mask;
    size_t known_count;
    struct cunei_c_call_thread_open *opens; /* owned, as the table */
    struct cunei_c_call_thread_open *last;  /* the last slot */
};

/* The calling thread's; initial-exec, as the stream is. */
extern __attribute__((tls_model(
    "initial-exec"))) _Thread_local struct cunei_c_call_thread *cunei_c_call_thread_own;

/*
 * The slot of the function in the table, or the free slot where it belongs, with a tag
 * of 0.
 */
static inline struct cunei_c_call_thread_known *cunei_c_call_thread_find(
    const struct cunei_c_call_thread *thread, const PyMethodDef *method,
    const PyTypeObject *owner)
{
    size_t i = (uintptr_t)method / sizeof(PyMethodDef) + (uintptr_t)owner / 64;

    for (;; i++) {
        struct cunei_c_call_thread_known *known =
            &thread->table[i & thread->table_mask];
        if ((known->method == method && known->owner == owner) || !known->method)
            return known;
    }
}

/* The calling thread's, for the recording of this number; NULL: no memory. */
struct cunei_c_call_thread *cunei_c_call_thread_get(uint64_t recording);

/* Add or replace a function, and take its text over; without memory nothing happens. */
void cunei_c_call_thread_add(struct cunei_c_call_thread *thread,
                             const struct cunei_c_call_thread_known *known);

/* Push an open call; false: no memory. */
bool cunei_c_call_thread_push(struct cunei_c_call_thread *thread,
                              const struct cunei_c_call_thread_open *open);

/* Remove an open call, at any position. */
void cunei_c_call_thread_remove(struct cunei_c_call_thread *thread,
                                struct cunei_c_call_thread_open *open);

/* The innermost open call of the frame; NULL: none. */
struct cunei_c_call_thread_open *cunei_c_call_thread_find_open(
    const struct cunei_c_call_thread *thread, const void *frame);

#endif
