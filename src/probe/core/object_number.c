// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/object_number.h"

#include <stdlib.h>

#include "probe/core/compat.h"

#define FIRST_SIZE 64u

/* So often numbers are asked for, per object, before it is checked who is gone. */
#define ASKED_PER_OBJECT 4u

struct cunei_number {
    PyObject *object; /* borrowed, and only compared: it may be gone; NULL: free */
    PyObject *ref;    /* owned: a weak reference to it */
    PyObject *name;   /* owned: the last one heard of, an exact str, or NULL */
    uint64_t number;
};

static struct cunei_number *place_of(struct cunei_number *items, size_t size,
                                     PyObject *object)
{
    uint64_t hash = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    size_t place = (size_t)(hash >> 32) & (size - 1);

    while (items[place].object && items[place].object != object)
        place = (place + 1) & (size - 1);
    return &items[place];
}

static void release(struct cunei_number *item)
{
    Py_XDECREF(item->ref);
    Py_XDECREF(item->name);
    *item = (struct cunei_number){0};
}

static size_t count_alive(const struct cunei_numbers *numbers)
{
    size_t alive = 0;

    for (size_t i = 0; i < numbers->size; i++) {
        const struct cunei_number *item = &numbers->items[i];
        alive += item->object && cunei_compat_is_alive(item->ref);
    }
    return alive;
}

/* Put those that are alive, so many, where there is room; lock held. */
static int rebuild(struct cunei_numbers *numbers, size_t alive)
{
    size_t size = FIRST_SIZE;

    while (size < 4 * alive)
        size *= 2;
    struct cunei_number *items = calloc(size, sizeof(*items));
    if (!items)
        return -1;
    numbers->used = 0;
    for (size_t i = 0; i < numbers->size; i++) {
        struct cunei_number *item = &numbers->items[i];
        /* Elsewhere one may have died since it was counted, never come to life. */
        if (item->object && cunei_compat_is_alive(item->ref)) {
            *place_of(items, size, item->object) = *item;
            numbers->used++;
        } else
            release(item);
    }
    free(numbers->items);
    numbers->items = items;
    numbers->size = size;
    return 0;
}

/*
 * Make sure that there is room for one more, and let those go that are gone: not at
 * once, but soon, because what is left of them keeps memory in pieces.  Lock held.
 */
static int make_room(struct cunei_numbers *numbers)
{
    bool is_full = numbers->used >= numbers->size / 2;

    if (!is_full && ++numbers->asked < ASKED_PER_OBJECT * (numbers->used + FIRST_SIZE))
        return 0;
    size_t alive = count_alive(numbers);
    numbers->asked = 0;
    return is_full || alive < numbers->used / 2 ? rebuild(numbers, alive) : 0;
}

/* A number for an object that has none, where it belongs; lock held. */
static uint64_t add(struct cunei_numbers *numbers, struct cunei_number *item,
                    PyObject *object)
{
    PyObject *ref = PyWeakref_NewRef(object, NULL);

    if (!ref)
        return 0;
    numbers->used += !item->object;
    release(item);
    *item =
        (struct cunei_number){.object = object, .ref = ref, .number = ++numbers->last};
    return numbers->last;
}

/* Whether it is the object's, and not that of one which had its address before. */
static bool is_its(const struct cunei_number *item)
{
    return item->object && cunei_compat_is_alive(item->ref);
}

uint64_t cunei_numbers_find(struct cunei_numbers *numbers, PyObject *object,
                            bool *is_new)
{
    uint64_t number = 0;

    cunei_mutex_lock(&numbers->lock);
    if (make_room(numbers) == 0) {
        struct cunei_number *item = place_of(numbers->items, numbers->size, object);
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
    /* Of an exact type: to compare it, or to let it go, runs no code of others. */
    PyObject *exact = PyUnicode_FromObject(name);
    bool is_other = false;

    cunei_mutex_lock(&numbers->lock);
    if (exact && numbers->size > 0) {
        struct cunei_number *item = place_of(numbers->items, numbers->size, object);
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
    for (size_t i = 0; i < numbers->size; i++)
        release(&numbers->items[i]);
    free(numbers->items);
    numbers->items = NULL;
    numbers->size = numbers->used = numbers->asked = 0;
    cunei_mutex_unlock(&numbers->lock);
}
