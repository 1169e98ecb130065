// SPDX-License-Identifier: MIT
/*
 * What a thread knows of C functions: the ids of those it has called, and which of its
 * frames are inside which.  It is the thread's own, and no other looks at it.
 *
 * Private to ccall.c, whose hot paths look inside.
 */
#ifndef CUNEI_PROBE_EVENTS_C_CALL_THREAD_H
#define CUNEI_PROBE_EVENTS_C_CALL_THREAD_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * A C function that this thread has called.  The word is what a code object's is, with
 * the version of the owner in its lower half and a bit of its own.
 */
struct cunei_c_call_thread_known {
    const PyMethodDef *method; /* NULL: the place is free */
    const PyTypeObject *owner;
    uint64_t tag;
    uint32_t id;
    char *text; /* owned: what it must say of itself; NULL: anything */
};

#define CUNEI_C_CALL_FOREVER (UINT64_C(1) << 34) /* the version makes no difference */

/* A frame and the C function it is in. */
struct cunei_c_call_thread_open {
    const void *frame;
    uint64_t tag; /* the id where a record has it, or in its lower half */
};

struct cunei_c_call_thread {
    uint64_t recording; /* of which this is; 0: of none */
    struct cunei_c_call_thread_open
        *top; /* the innermost; without any the first, unused */
    struct cunei_c_call_thread_known *table;
    size_t table_mask;
    size_t known_count;
    struct cunei_c_call_thread_open *opens; /* owned, as the table */
    struct cunei_c_call_thread_open *last;  /* there is no room behind it */
};

/* The calling thread's; as for streams in the static part of its storage. */
extern __attribute__((tls_model(
    "initial-exec"))) _Thread_local struct cunei_c_call_thread *cunei_c_call_thread_own;

/*
 * Where the function stands in the table, or the free place where it belongs; that has
 * a word of 0.
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

/* The calling thread's for the recording of this number; NULL: no memory. */
struct cunei_c_call_thread *cunei_c_call_thread_get(uint64_t recording);

/*
 * Remember a function, in place of what was known of it; lack of memory is no error.
 * Takes its text.
 */
void cunei_c_call_thread_add(struct cunei_c_call_thread *thread,
                             const struct cunei_c_call_thread_known *known);

/* Put an open call on top; false: no memory. */
bool cunei_c_call_thread_push(struct cunei_c_call_thread *thread,
                              const struct cunei_c_call_thread_open *open);

/* Take one away, wherever it stands. */
void cunei_c_call_thread_remove(struct cunei_c_call_thread *thread,
                                struct cunei_c_call_thread_open *open);

/* The innermost open call of the frame; NULL: none. */
struct cunei_c_call_thread_open *cunei_c_call_thread_find_open(
    const struct cunei_c_call_thread *thread, const void *frame);

#endif
