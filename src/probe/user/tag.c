// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/tag.h"

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

struct tag {
    PyCodeObject *code;           /* compared only */
    PyObject *ref;                /* owned: a weak one to it */
    struct cunei_user_name *said; /* owned */
};

/* In the order in which they were added, and by the address of the code; the lock
 * guards both. */
static struct tag *tags; /* owned */
static size_t tag_count, tag_capacity;
static struct cunei_map by_code;
static cunei_mutex lock;

/* What has an id and was not told yet; the latch guards it. */
struct untold {
    struct untold *next;
    struct cunei_user_name *said; /* owned */
    uint32_t id;
    uint32_t recording;
};
static struct untold *untold;
static atomic_bool has_untold, is_wanted, is_used;
static cunei_latch latch = CUNEI_LATCH_INIT;

static void (*when_added)(PyCodeObject *code);

void cunei_tag_init(void (*added)(PyCodeObject *code))
{
    when_added = added;
}

static uint64_t hash_of(const PyCodeObject *code)
{
    return cunei_hash_number((uintptr_t)code);
}

/* The tag of this code, or of one that had its address before; NULL: none. */
static struct tag *find(const PyCodeObject *code)
{
    struct cunei_map_search search = {.hash = hash_of(code)};

    for (uint32_t i; cunei_map_next(&by_code, &search, &i);) {
        if (tags[i].code == code)
            return &tags[i];
    }
    return NULL;
}

static void release(struct tag *tag)
{
    Py_DECREF(tag->ref);
    cunei_user_name_free(tag->said);
}

/* Forget those whose code is gone. */
static void remove_dead(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < tag_count; i++) {
        cunei_map_remove(&by_code, hash_of(tags[i].code), (uint32_t)i);
        /* There is room: it was just removed. */
        if (cunei_compat_is_alive(tags[i].ref)) {
            (void)cunei_map_add(&by_code, hash_of(tags[i].code), (uint32_t)kept);
            tags[kept++] = tags[i];
        } else
            release(&tags[i]);
    }
    tag_count = kept;
}

/* Room for one more; where there is none, for twice as many as live. */
static bool reserve(void)
{
    if (tag_count < tag_capacity)
        return true;
    remove_dead();
    return CUNEI_VECTOR_RESERVE(tags, tag_capacity, 2 * tag_count + 1);
}

/* Lock held; takes the reference. */
static bool put(PyCodeObject *code, PyObject *ref, struct cunei_user_name *said)
{
    struct tag *tag = find(code);

    if (tag)
        release(tag); /* renamed, or of another code that had this address */
    else {
        if (!reserve() ||
            cunei_map_add(&by_code, hash_of(code), (uint32_t)tag_count) < 0)
            return false;
        tag = &tags[tag_count++];
    }
    *tag = (struct tag){code, ref, cunei_user_name_keep(said)};
    return true;
}

int cunei_tag_add(PyCodeObject *code, struct cunei_user_name *said)
{
    PyObject *ref = PyWeakref_NewRef((PyObject *)code, NULL);

    if (!ref)
        return -1;
    cunei_mutex_lock(&lock);
    bool is_put = put(code, ref, said);
    cunei_mutex_unlock(&lock);
    if (!is_put) {
        Py_DECREF(ref);
        PyErr_NoMemory();
        return -1;
    }
    /* One that has run already is told of now. */
    uint64_t word = cunei_recorder_is_on() ? cunei_code_word(code) : 0;
    if (cunei_code_id(word) && atomic_load(&is_wanted))
        cunei_tag_identified(code, cunei_code_id(word));
    if (when_added)
        when_added(code);
    return 0;
}

void cunei_tag_begin(void)
{
    atomic_store(&is_used, false);
}

void cunei_tag_choose(bool are_wanted)
{
    atomic_store(&is_wanted, are_wanted);
}

/* The code of the next tag from a place on, a new reference, or NULL. */
static PyCodeObject *next_code(size_t *place)
{
    PyCodeObject *code = NULL;

    cunei_mutex_lock(&lock);
    while (!code && *place < tag_count)
        code = (PyCodeObject *)cunei_compat_referent(tags[(*place)++].ref);
    cunei_mutex_unlock(&lock);
    return code;
}

/* What is visited may run code of the program's, an audit hook: not under the lock. */
bool cunei_tag_visit(void (*visit)(PyCodeObject *code))
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

/* Its name, owned; NULL: it has none. */
static struct cunei_user_name *said_of(PyCodeObject *code)
{
    struct cunei_user_name *said = NULL;

    cunei_mutex_lock(&lock);
    const struct tag *tag = find(code);
    if (tag && cunei_compat_is_alive(tag->ref))
        said = cunei_user_name_keep(tag->said);
    cunei_mutex_unlock(&lock);
    return said;
}

bool cunei_tag_is_wanted(PyCodeObject *code)
{
    struct cunei_user_name *said =
        atomic_load_explicit(&is_wanted, memory_order_relaxed) ? said_of(code) : NULL;

    cunei_user_name_free(said);
    return said != NULL;
}

void cunei_tag_identified(PyCodeObject *code, uint32_t id)
{
    struct untold *item = malloc(sizeof(*item));
    struct cunei_user_name *said = said_of(code);

    if (!item || !said) {
        free(item);
        cunei_user_name_free(said);
        return;
    }
    *item = (struct untold){untold, said, id, cunei_recorder_number()};
    cunei_latch_close(&latch);
    item->next = untold;
    untold = item;
    cunei_latch_open(&latch);
    atomic_store(&has_untold, true);
    atomic_store(&is_used, true);
}

static void tell_all(void)
{
    cunei_latch_close(&latch);
    struct untold *items = untold;
    untold = NULL;
    cunei_latch_open(&latch);
    while (items) {
        struct untold *item = items;
        const struct cunei_user_given_value value = {
            .name = item->said->text,
            .name_size = strlen(item->said->text),
            .target = item->id,
        };
        items = item->next;
        if (item->recording == cunei_recorder_number())
            cunei_user_given_value_write(CUNEI_CLASS_TAG, &value, true);
        cunei_user_name_free(item->said);
        free(item);
    }
}

void cunei_tag_tell(void)
{
    if (__builtin_expect(atomic_load_explicit(&has_untold, memory_order_relaxed), 0) &&
        atomic_exchange(&has_untold, false))
        tell_all();
}

bool cunei_tag_is_used(void)
{
    return atomic_load_explicit(&is_used, memory_order_relaxed);
}
