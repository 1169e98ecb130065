// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/object_number.h"

#include <stdlib.h>

#include "base/vector.h"
#include "probe/core/compat.h"

/* So often numbers are looked up, per object, before dead ones are removed. */
#define ASKED_PER_OBJECT 4u
#define ASKED_FIRST      64u

struct cunei_number {
    PyObject *object; /* borrowed, only compared: it may be dead */
    PyObject *ref;    /* owned: a weak reference to it */
    PyObject *name;   /* owned: the last one that was recorded, an exact str, or NULL */
    uint64_t number;
};

static uint64_t hash_of(const PyObject *object)
{
    return cunei_hash_number((uintptr_t)object);
}

/* The item of this object, or of a dead one with the same address; NULL: none. */
static struct cunei_number *find(const struct cunei_numbers *numbers,
                                 const PyObject *object)
{
    struct cunei_map_search search = {.hash = hash_of(object)};

    for (uint32_t i; cunei_map_next(&numbers->by_object, &search, &i);) {
        if (numbers->items[i].object == object)
            return &numbers->items[i];
    }
    return NULL;
}

static void release(const struct cunei_number *item)
{
    Py_XDECREF(item->ref);
    Py_XDECREF(item->name);
}

/* Forget dead objects: their weak references fragment memory. */
static void remove_dead(struct cunei_numbers *numbers)
{
    size_t kept = 0;

    for (size_t i = 0; i < numbers->count; i++) {
        const struct cunei_number item = numbers->items[i];
        cunei_map_remove(&numbers->by_object, hash_of(item.object), (uint32_t)i);
        if (cunei_compat_is_alive(item.ref)) {
            /* There is room: it was just removed. */
            (void)cunei_map_add(&numbers->by_object, hash_of(item.object),
                                (uint32_t)kept);
            numbers->items[kept++] = item;
        } else
            release(&item);
    }
    numbers->count = kept;
    numbers->asked = 0;
}

/* Make room for one more; if full, for twice as many as are alive.  Lock held. */
static bool make_room(struct cunei_numbers *numbers)
{
    bool is_full = numbers->count == numbers->capacity;

    if (!is_full &&
        ++numbers->asked < ASKED_PER_OBJECT * (numbers->count + ASKED_FIRST))
        return true;
    remove_dead(numbers);
    return CUNEI_VECTOR_RESERVE(numbers->items, numbers->capacity,
                                2 * numbers->count + 1);
}

/* Give an object its number; `item`: of a dead one with the same address, or NULL. */
static uint64_t add(struct cunei_numbers *numbers, struct cunei_number *item,
                    PyObject *object)
{
    PyObject *ref = PyWeakref_NewRef(object, NULL);

    if (!ref)
        return 0;
    if (item)
        release(item);
    else if (cunei_map_add(&numbers->by_object, hash_of(object),
                           (uint32_t)numbers->count) < 0) {
        Py_DECREF(ref);
        return 0;
    } else
        item = &numbers->items[numbers->count++];
    *item =
        (struct cunei_number){.object = object, .ref = ref, .number = ++numbers->last};
    return numbers->last;
}

/* Whether the item is this object's, and not a dead one's. */
static bool is_its(const struct cunei_number *item)
{
    return item && cunei_compat_is_alive(item->ref);
}

uint64_t cunei_numbers_find(struct cunei_numbers *numbers, PyObject *object,
                            bool *is_new)
{
    uint64_t number = 0;

    cunei_mutex_lock(&numbers->lock);
    if (make_room(numbers)) {
        struct cunei_number *item = find(numbers, object);
        *is_new = !is_its(item);
        number = *is_new ? add(numbers, item, object) : item->number;
    }
    cunei_mutex_unlock(&numbers->lock);
    if (number == 0)
        PyErr_Clear();
    return number;
}

static bool is_same(PyObject *name, PyObject *other)
{
    return name == other || (other && PyUnicode_Compare(name, other) == 0);
}

bool cunei_numbers_rename(struct cunei_numbers *numbers, PyObject *object,
                          PyObject *name)
{
    /* An exact str: comparing or freeing it runs no code of the program. */
    PyObject *exact = PyUnicode_FromObject(name);
    bool is_other = false;

    cunei_mutex_lock(&numbers->lock);
    if (exact) {
        struct cunei_number *item = find(numbers, object);
        is_other = is_its(item) && !is_same(exact, item->name);
        if (is_other)
            Py_XSETREF(item->name, Py_NewRef(exact));
    }
    cunei_mutex_unlock(&numbers->lock);
    if (!exact)
        PyErr_Clear();
    Py_XDECREF(exact);
    return is_other;
}

void cunei_numbers_clear(struct cunei_numbers *numbers)
{
    cunei_mutex_lock(&numbers->lock);
    for (size_t i = 0; i < numbers->count; i++)
        release(&numbers->items[i]);
    free(numbers->items);
    cunei_map_fini(&numbers->by_object);
    numbers->items = NULL;
    numbers->count = numbers->capacity = numbers->asked = 0;
    cunei_mutex_unlock(&numbers->lock);
}
