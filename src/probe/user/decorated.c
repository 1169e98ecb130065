// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/decorated.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vector.h"
#include "probe/code/code.h"
#include "probe/core/compat.h"
#include "probe/core/lock.h"
#include "probe/user/user_name.h"
#include "probe/user/user_value.h"
#include "rt/recorder.h"
#include "wire/event.h"

struct function {
    PyCodeObject *code;                /* compared only */
    PyObject *ref;                     /* owned: a weak reference to it */
    struct cunei_user_name *user_name; /* owned */
};

/*
 * In the order in which they were added, and by the address of the code.  The lock
 * guards both.
 */
static struct function *functions; /* owned */
static size_t function_count, function_capacity;
static struct cunei_map by_code;
static cunei_mutex lock;

/* Functions with an id whose `tag` event is not written yet; the latch guards them. */
struct pending {
    struct pending *next;
    struct cunei_user_name *user_name; /* owned */
    uint32_t id;
    uint32_t recording;
};
static struct pending *pending;
static atomic_bool has_pending, is_wanted, is_used;
static cunei_latch latch = CUNEI_LATCH_INIT;

static void (*when_added)(PyCodeObject *code);

void cunei_decorated_init(void (*added)(PyCodeObject *code))
{
    when_added = added;
}

static uint64_t hash_of(const PyCodeObject *code)
{
    return cunei_hash_number((uintptr_t)code);
}

/* The function of this code, or of dead code with the same address; NULL: none. */
static struct function *find(const PyCodeObject *code)
{
    struct cunei_map_search search = {.hash = hash_of(code)};

    for (uint32_t i; cunei_map_next(&by_code, &search, &i);) {
        if (functions[i].code == code)
            return &functions[i];
    }
    return NULL;
}

static void release(struct function *function)
{
    Py_DECREF(function->ref);
    cunei_user_name_free(function->user_name);
}

/* Forget functions whose code is dead. */
static void remove_dead(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < function_count; i++) {
        cunei_map_remove(&by_code, hash_of(functions[i].code), (uint32_t)i);
        /* There is room: it was just removed. */
        if (cunei_compat_is_alive(functions[i].ref)) {
            (void)cunei_map_add(&by_code, hash_of(functions[i].code), (uint32_t)kept);
            functions[kept++] = functions[i];
        } else
            release(&functions[i]);
    }
    function_count = kept;
}

/* Make room for one more; if full, for twice as many as are alive. */
static bool reserve(void)
{
    if (function_count < function_capacity)
        return true;
    remove_dead();
    return CUNEI_VECTOR_RESERVE(functions, function_capacity, 2 * function_count + 1);
}

/* Lock held; takes the reference over. */
static bool put(PyCodeObject *code, PyObject *ref, struct cunei_user_name *user_name)
{
    struct function *function = find(code);

    if (function)
        release(function); /* a new name, or dead code with the same address */
    else {
        if (!reserve() ||
            cunei_map_add(&by_code, hash_of(code), (uint32_t)function_count) < 0)
            return false;
        function = &functions[function_count++];
    }
    *function = (struct function){code, ref, cunei_user_name_keep(user_name)};
    return true;
}

int cunei_decorated_add(PyCodeObject *code, struct cunei_user_name *user_name)
{
    PyObject *ref = PyWeakref_NewRef((PyObject *)code, NULL);

    if (!ref)
        return -1;
    cunei_mutex_lock(&lock);
    bool is_put = put(code, ref, user_name);
    cunei_mutex_unlock(&lock);
    if (!is_put) {
        Py_DECREF(ref);
        PyErr_NoMemory();
        return -1;
    }
    /* If it has run already, write its event now. */
    uint64_t tag = cunei_recorder_is_on() ? cunei_code_tag(code) : 0;
    if (cunei_code_id(tag) && atomic_load(&is_wanted))
        cunei_decorated_set_id(code, cunei_code_id(tag));
    if (when_added)
        when_added(code);
    return 0;
}

void cunei_decorated_begin(void)
{
    atomic_store(&is_used, false);
}

void cunei_decorated_enable(bool are_wanted)
{
    atomic_store(&is_wanted, are_wanted);
}

/* The code of the next function from `*place` on, a new reference, or NULL. */
static PyCodeObject *next_code(size_t *place)
{
    PyCodeObject *code = NULL;

    cunei_mutex_lock(&lock);
    while (!code && *place < function_count)
        code = (PyCodeObject *)cunei_compat_referent(functions[(*place)++].ref);
    cunei_mutex_unlock(&lock);
    return code;
}

/* Without the lock: `visit` may run an audit hook of the program. */
bool cunei_decorated_visit(void (*visit)(PyCodeObject *code))
{
    size_t place = 0;
    bool has_any = false;

    for (PyCodeObject *code; (code = next_code(&place));) {
        has_any = true;
        if (visit)
            visit(code);
        else
            place = SIZE_MAX;
        Py_DECREF(code);
    }
    return has_any;
}

/* Its name, owned; NULL: it is not decorated. */
static struct cunei_user_name *user_name_of(PyCodeObject *code)
{
    struct cunei_user_name *user_name = NULL;

    cunei_mutex_lock(&lock);
    const struct function *function = find(code);
    if (function && cunei_compat_is_alive(function->ref))
        user_name = cunei_user_name_keep(function->user_name);
    cunei_mutex_unlock(&lock);
    return user_name;
}

bool cunei_decorated_is_recorded(PyCodeObject *code)
{
    struct cunei_user_name *user_name =
        atomic_load_explicit(&is_wanted, memory_order_relaxed) ? user_name_of(code)
                                                               : NULL;

    cunei_user_name_free(user_name);
    return user_name != NULL;
}

void cunei_decorated_set_id(PyCodeObject *code, uint32_t id)
{
    struct pending *item = malloc(sizeof(*item));
    struct cunei_user_name *user_name = user_name_of(code);

    if (!item || !user_name) {
        free(item);
        cunei_user_name_free(user_name);
        return;
    }
    *item = (struct pending){pending, user_name, id, cunei_recorder_number()};
    cunei_latch_close(&latch);
    item->next = pending;
    pending = item;
    cunei_latch_open(&latch);
    atomic_store(&has_pending, true);
    atomic_store(&is_used, true);
}

static void write_pending(void)
{
    cunei_latch_close(&latch);
    struct pending *items = pending;
    pending = NULL;
    cunei_latch_open(&latch);
    while (items) {
        struct pending *item = items;
        const char *name = cunei_user_name_utf8(item->user_name);
        const struct cunei_named_value value = {
            .name = name,
            .name_size = strlen(name),
            .target = item->id,
        };
        items = item->next;
        if (item->recording == cunei_recorder_number())
            cunei_user_value_write(CUNEI_CLASS_TAG, &value, true);
        cunei_user_name_free(item->user_name);
        free(item);
    }
}

void cunei_decorated_write(void)
{
    if (__builtin_expect(atomic_load_explicit(&has_pending, memory_order_relaxed), 0) &&
        atomic_exchange(&has_pending, false))
        write_pending();
}

bool cunei_decorated_is_used(void)
{
    return atomic_load_explicit(&is_used, memory_order_relaxed);
}
