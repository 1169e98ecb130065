// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/number.h"

#include <stdlib.h>

#define FIRST_SIZE 64u

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

/* Make room for one more: objects that are gone go first.  Lock held. */
static int make_room(struct cunei_numbers *numbers)
{
    size_t alive = 0, size = FIRST_SIZE;

    if (numbers->used < numbers->size / 2)
        return 0;
    for (size_t i = 0; i < numbers->size; i++) {
        const struct cunei_number *item = &numbers->items[i];
        alive += item->object && cunei_compat_is_alive(item->ref);
    }
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

/* Its item, or where it goes: a free one, or that of an object that is gone. */
static struct cunei_number *item_of(struct cunei_numbers *numbers, PyObject *object)
{
    struct cunei_number *item = place_of(numbers->items, numbers->size, object);

    if (item->object && !cunei_compat_is_alive(item->ref)) {
        release(item);
        numbers->used--;
    }
    return item;
}

/* A number for an object that has none; lock held. */
static uint64_t add(struct cunei_numbers *numbers, PyObject *object)
{
    PyObject *ref = make_room(numbers) == 0 ? PyWeakref_NewRef(object, NULL) : NULL;

    if (!ref)
        return 0;
    *place_of(numbers->items, numbers->size, object) =
        (struct cunei_number){.object = object, .ref = ref, .number = ++numbers->last};
    numbers->used++;
    return numbers->last;
}

uint64_t cunei_numbers_find(struct cunei_numbers *numbers, PyObject *object,
                            bool *is_new)
{
    uint64_t number = 0;

    cunei_compat_lock(&numbers->lock);
    if (numbers->size > 0)
        number = item_of(numbers, object)->number;
    *is_new = number == 0;
    if (*is_new)
        number = add(numbers, object);
    cunei_compat_unlock(&numbers->lock);
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

    cunei_compat_lock(&numbers->lock);
    if (exact && numbers->size > 0) {
        struct cunei_number *item = item_of(numbers, object);
        is_other = item->object && !is_same(exact, item->name);
        if (is_other)
            Py_XSETREF(item->name, Py_NewRef(exact));
    }
    cunei_compat_unlock(&numbers->lock);
    if (!exact)
        PyErr_Clear();
    Py_XDECREF(exact);
    return is_other;
}

void cunei_numbers_clear(struct cunei_numbers *numbers)
{
    cunei_compat_lock(&numbers->lock);
    for (size_t i = 0; i < numbers->size; i++)
        release(&numbers->items[i]);
    free(numbers->items);
    numbers->items = NULL;
    numbers->size = numbers->used = 0;
    cunei_compat_unlock(&numbers->lock);
}
