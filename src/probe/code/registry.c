// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/registry.h"

#include <stdlib.h>

#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/lock.h"

#define CHUNK_SIZE  1024u
#define CHUNK_COUNT 4096u

static Py_ssize_t extra_index = -1;
static bool extra_inline;
static void (*lined_removed)(void);

/*
 * Entries never move: other threads look them up while one is added.  The latch guards
 * the list of free ones; a thread that frees a code object needs nothing else.  Owned.
 */
static struct cunei_entry *chunks[CHUNK_COUNT];
static uint32_t entry_count, first_free;
static cunei_latch latch = CUNEI_LATCH_INIT;

struct cunei_entry *cunei_registry_at(uint32_t place)
{
    return &chunks[(place - 1) / CHUNK_SIZE][(place - 1) % CHUNK_SIZE];
}

uint32_t cunei_registry_count(void)
{
    return entry_count;
}

void cunei_registry_watch_lined(void (*removed)(void))
{
    lined_removed = removed;
}

void cunei_registry_remove(uint32_t place)
{
    cunei_latch_close(&latch);
    struct cunei_entry *entry =
        place > 0 && place <= entry_count ? cunei_registry_at(place) : NULL;
    if (entry && entry->code && !entry->stays) {
        if (entry->lined && lined_removed)
            lined_removed();
        free(entry->table);
        *entry = (struct cunei_entry){.id = first_free};
        first_free = place;
    }
    cunei_latch_open(&latch);
}

/* CPython calls it when the code object is freed, or its tag is removed. */
static void forget_tag(void *extra)
{
    cunei_registry_remove(cunei_registry_place((uintptr_t)extra));
}

/* A free place; 0: the registry is full.  Latch closed. */
static uint32_t find_place(void)
{
    uint32_t place = first_free;

    if (place) {
        first_free = cunei_registry_at(place)->id;
        return place;
    }
    struct cunei_entry **chunk = &chunks[entry_count / CHUNK_SIZE];
    if (entry_count == CHUNK_SIZE * CHUNK_COUNT)
        return 0;
    if (!*chunk)
        *chunk = calloc(CHUNK_SIZE, sizeof(**chunk));
    return *chunk ? ++entry_count : 0;
}

uint32_t cunei_registry_add(const struct cunei_entry *entry)
{
    cunei_latch_close(&latch);
    uint32_t place = find_place();
    if (place)
        *cunei_registry_at(place) = *entry;
    cunei_latch_open(&latch);
    return place;
}

int cunei_registry_set_tag(PyCodeObject *code, uint64_t tag)
{
    return cunei_code_extra_set(code, extra_index, tag, extra_inline);
}

int cunei_registry_init(Py_ssize_t *index, bool *is_inline)
{
    const uint64_t test_tag = UINT64_C(0x1234567) << 40;

    if (extra_index < 0)
        extra_index = PyUnstable_Eval_RequestCodeExtraIndex(forget_tag);
    if (extra_index < 0) {
        PyErr_SetString(PyExc_RuntimeError, "no co_extra index is left");
        return -1;
    }
    PyCodeObject *code = PyCode_NewEmpty("cunei", "probe", 1);
    if (!code)
        return -1;
    if (cunei_registry_set_tag(code, test_tag) < 0) {
        Py_DECREF(code);
        return -1;
    }
    extra_inline = cunei_code_extra_is_readable(code, extra_index, test_tag);
    *is_inline = extra_inline;
    *index = extra_index;
    Py_DECREF(code);
    return 0;
}

void cunei_registry_share(void)
{
#if PY_VERSION_HEX < 0x03090000
    if (extra_index >= 0)
        cunei_compat_311_share_extra(extra_index, CUNEI_EXTRA_COUNT);
#endif
}

void cunei_registry_exchange(struct cunei_entry *entry, uint64_t tag)
{
    entry->stays = true; /* forget_tag is called for the old tag */
    (void)cunei_registry_set_tag(entry->code, tag);
    entry->stays = false;
}

uint64_t cunei_registry_tag(PyCodeObject *code)
{
    return cunei_code_extra_call(code, extra_index);
}

void cunei_registry_clear(void)
{
    for (uint32_t place = 1; place <= entry_count; place++) {
        PyCodeObject *code = cunei_registry_at(place)->code;
        /* It cannot fail: there is a slot already. */
        if (code)
            (void)cunei_registry_set_tag(code, 0);
    }
}
