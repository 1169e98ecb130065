// SPDX-License-Identifier: MIT
/*
 * Numbers for objects of the program, such as tasks and greenlets: unique in this
 * process, and the same for as long as the object lives.
 *
 * An object is known by its address and a weak reference, so that nothing is kept alive
 * and an address that is used again gets another number.  Any thread may call.
 */
#ifndef CUNEI_PROBE_CORE_OBJECT_NUMBER_H
#define CUNEI_PROBE_CORE_OBJECT_NUMBER_H

#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "probe/core/lock.h"

struct cunei_numbers {
    struct cunei_number *items; /* owned, private */
    size_t count, capacity;
    struct cunei_map by_object; /* by its address */
    size_t asked;               /* lookups since dead ones were removed */
    uint64_t last;
    cunei_mutex lock;
};

/*
 * The object's number, from 1; 0: no memory, or no weak reference.  `*is_new`: it had
 * none before.  No exception is set.
 */
uint64_t cunei_numbers_find(struct cunei_numbers *numbers, PyObject *object,
                            bool *is_new);

/* Whether an object that has a number had another name, or none, before this str. */
bool cunei_numbers_rename(struct cunei_numbers *numbers, PyObject *object,
                          PyObject *name);

/* Forget all objects; the next number is one that no other had. */
void cunei_numbers_clear(struct cunei_numbers *numbers);

#endif
