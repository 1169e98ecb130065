// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/code.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "probe/code/registry.h"
#include "probe/core/world.h"

static atomic_bool has_muted; /* in this recording */

static struct cunei_entry *entry_of(uint64_t tag)
{
    return cunei_registry_at(cunei_registry_place(tag));
}

/* Code objects, owned. */
struct collection {
    PyCodeObject **codes;
    size_t count;
    enum cunei_code_set which;
};

static bool is_in(const struct collection *collection, const struct cunei_entry *entry)
{
    if (!entry->code || Py_REFCNT(entry->code) == 0)
        return false; /* free, or about to be */
    switch (collection->which) {
    case CUNEI_CODE_SET_WATCHED:
        return entry->watched;
    case CUNEI_CODE_SET_LINED:
        return entry->lined;
    case CUNEI_CODE_SET_MUTED:
        return entry->muted;
    case CUNEI_CODE_SET_ALL:
        break;
    }
    return true;
}

/* With the world stopped. */
static void collect(void *context)
{
    struct collection *collection = context;
    const uint32_t count = cunei_registry_count();

    collection->codes = calloc(count, sizeof(PyCodeObject *));
    for (uint32_t place = 1; place <= count && collection->codes; place++) {
        const struct cunei_entry *entry = cunei_registry_at(place);
        if (is_in(collection, entry)) {
            Py_INCREF(entry->code);
            collection->codes[collection->count++] = entry->code;
        }
    }
}

void cunei_code_visit(enum cunei_code_set which, cunei_code_visitor *visit)
{
    struct collection collection = {.which = which};

    cunei_world_stop(collect, &collection);
    for (size_t i = 0; i < collection.count; i++) {
        visit(collection.codes[i]);
        Py_DECREF(collection.codes[i]);
    }
    free(collection.codes);
}

void cunei_code_mute(uint64_t tag)
{
    entry_of(tag)->muted = true;
    atomic_store(&has_muted, true);
}

bool cunei_code_follow(PyCodeObject *code)
{
    uint64_t tag = cunei_code_tag(code);

    if (!(tag & CUNEI_CODE_OFF) || entry_of(tag)->followed)
        return false;
    entry_of(tag)->followed = true;
    return true;
}

bool cunei_code_has_muted(void)
{
    return atomic_load(&has_muted);
}

void cunei_code_clear(void)
{
    cunei_registry_clear();
    atomic_store(&has_muted, false);
}

/* Tags that are only for measurements have no place. */
struct cunei_code_state *cunei_code_state(uint64_t tag)
{
    static struct cunei_code_state none;
    return cunei_registry_place(tag) ? &entry_of(tag)->state : &none;
}

uint64_t cunei_code_tag(PyCodeObject *code)
{
    uint64_t tag = cunei_registry_tag(code);
    return tag & CUNEI_CODE_STALE ? 0 : tag;
}

bool cunei_code_is_seen(PyCodeObject *code)
{
    return cunei_registry_tag(code) != 0;
}

const struct cunei_line_table *cunei_code_table(uint64_t tag)
{
    return cunei_registry_place(tag) ? entry_of(tag)->table : NULL;
}

void cunei_code_set_table(PyCodeObject *code, struct cunei_line_table *table)
{
    struct cunei_entry *entry = entry_of(cunei_registry_tag(code));

    free(entry->table);
    entry->table = table;
}

uint32_t cunei_code_id(uint64_t tag)
{
    if (tag & CUNEI_CODE_COLD)
        return entry_of(tag)->id;
    return cunei_record_class(tag);
}

uint32_t cunei_code_cold(uint64_t tag, uint32_t *flags)
{
    const struct cunei_entry *entry = entry_of(tag);

    *flags = entry->flags;
    return entry->id;
}

uint32_t cunei_code_flags(uint64_t tag)
{
    return tag & CUNEI_CODE_COLD ? entry_of(tag)->flags : 0;
}

bool cunei_code_is_decorated(uint64_t tag)
{
    return cunei_registry_place(tag) && entry_of(tag)->decorated;
}
