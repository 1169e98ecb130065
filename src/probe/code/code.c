// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/code.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "probe/code/registry.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/lock.h"
#include "probe/core/world.h"
#include "probe/events/line_event.h"
#include "wire/event.h"

#define CHUNK_SIZE  1024u
#define CHUNK_COUNT 4096u

static Py_ssize_t extra_index = -1;
static bool extra_inline;

/*
 * Entries never move: other threads look them up while one is added.  The latch guards
 * which are free; a thread that frees a code object needs nothing else.  Owned.
 */
static struct cunei_entry *chunks[CHUNK_COUNT];
static uint32_t entry_count, first_free;
static cunei_latch latch = CUNEI_LATCH_INIT;

static atomic_bool has_muted; /* in this recording */

/* The entry at a place that was given out. */
static struct cunei_entry *entry_at(uint32_t place)
{
    return &chunks[(place - 1) / CHUNK_SIZE][(place - 1) % CHUNK_SIZE];
}

struct cunei_entry *cunei_registry_at(uint32_t place)
{
    return entry_at(place);
}

uint32_t cunei_registry_count(void)
{
    return entry_count;
}

void cunei_registry_remove(uint32_t place)
{
    cunei_latch_close(&latch);
    if (place > 0 && place <= entry_count && entry_at(place)->code &&
        !entry_at(place)->stays) {
        if (entry_at(place)->lined)
            cunei_line_event_forget();
        free(entry_at(place)->table);
        *entry_at(place) = (struct cunei_entry){.id = first_free};
        first_free = place;
    }
    cunei_latch_open(&latch);
}

/* CPython calls it when the code object, or its word, goes. */
static void forget_word(void *extra)
{
    cunei_registry_remove(cunei_registry_place((uintptr_t)extra));
}

/* A place that nobody has; 0: there is none to be had.  Latch closed. */
static uint32_t find_place(void)
{
    uint32_t place = first_free;

    if (place) {
        first_free = entry_at(place)->id;
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
        *entry_at(place) = *entry;
    cunei_latch_open(&latch);
    return place;
}

int cunei_code_set_word(PyCodeObject *code, uint64_t word)
{
    return cunei_code_extra_set(code, extra_index, word, extra_inline);
}

int cunei_code_init(Py_ssize_t *index, bool *is_inline)
{
    const uint64_t probe_word = UINT64_C(0x1234567) << 40;

    if (extra_index < 0)
        extra_index = PyUnstable_Eval_RequestCodeExtraIndex(forget_word);
    if (extra_index < 0) {
        PyErr_SetString(PyExc_RuntimeError, "no place left on code objects");
        return -1;
    }
    PyCodeObject *code = PyCode_NewEmpty("cunei", "probe", 1);
    if (!code)
        return -1;
    if (cunei_code_set_word(code, probe_word) < 0) {
        Py_DECREF(code);
        return -1;
    }
    extra_inline = cunei_code_extra_is_readable(code, extra_index, probe_word);
    *is_inline = extra_inline;
    *index = extra_index;
    Py_DECREF(code);
    return 0;
}

void cunei_code_share(void)
{
#if PY_VERSION_HEX < 0x03090000
    if (extra_index >= 0)
        cunei_compat_311_share_extra(extra_index, CUNEI_EXTRA_COUNT);
#endif
}

int cunei_registry_exchange(struct cunei_entry *entry, uint64_t word)
{
    entry->stays = true; /* forget_word is called for the old word */
    int rc = cunei_code_set_word(entry->code, word);
    entry->stays = false;
    return rc;
}

uint64_t cunei_registry_word(PyCodeObject *code)
{
    return cunei_code_extra_call(code, extra_index);
}

void cunei_registry_clear(void)
{
    for (uint32_t place = 1; place <= entry_count; place++) {
        PyCodeObject *code = entry_at(place)->code;
        /* It cannot fail, for there is a word already. */
        if (code)
            (void)cunei_code_set_word(code, 0);
    }
    atomic_store(&has_muted, false);
}

/* Code objects, owned. */
struct collection {
    PyCodeObject **codes;
    size_t count;
    enum {
        ALL,
        WATCHED,
        LINED,
        MUTED
    } which;
};

static bool is_in(const struct collection *collection, const struct cunei_entry *entry)
{
    if (!entry->code || Py_REFCNT(entry->code) == 0)
        return false; /* free, or about to be */
    switch (collection->which) {
    case WATCHED:
        return entry->watched;
    case LINED:
        return entry->lined;
    case MUTED:
        return entry->muted;
    default:
        return true;
    }
}

/* With the world stopped. */
static void collect(void *context)
{
    struct collection *collection = context;

    collection->codes = calloc(entry_count, sizeof(PyCodeObject *));
    for (uint32_t place = 1; place <= entry_count && collection->codes; place++) {
        const struct cunei_entry *entry = entry_at(place);
        if (is_in(collection, entry)) {
            Py_INCREF(entry->code);
            collection->codes[collection->count++] = entry->code;
        }
    }
}

static void visit_collected(struct collection collection, cunei_code_visitor *visit)
{
    cunei_world_stop(collect, &collection);
    for (size_t i = 0; i < collection.count; i++) {
        visit(collection.codes[i]);
        Py_DECREF(collection.codes[i]);
    }
    free(collection.codes);
}

void cunei_code_visit(cunei_code_visitor *visit)
{
    visit_collected((struct collection){.which = ALL}, visit);
}

void cunei_code_visit_watched(cunei_code_visitor *visit)
{
    visit_collected((struct collection){.which = WATCHED}, visit);
}

void cunei_code_visit_lined(cunei_code_visitor *visit)
{
    visit_collected((struct collection){.which = LINED}, visit);
}

void cunei_code_visit_muted(cunei_code_visitor *visit)
{
    visit_collected((struct collection){.which = MUTED}, visit);
}

void cunei_code_mute(uint64_t word)
{
    entry_at(cunei_registry_place(word))->muted = true;
    atomic_store(&has_muted, true);
}

bool cunei_code_follow(PyCodeObject *code)
{
    uint64_t word = cunei_code_word(code);

    if (!(word & CUNEI_CODE_OFF) || entry_at(cunei_registry_place(word))->followed)
        return false;
    entry_at(cunei_registry_place(word))->followed = true;
    return true;
}

bool cunei_code_has_muted(void)
{
    return atomic_load(&has_muted);
}

/* Words that are only for measurements have no place. */
struct cunei_code_state *cunei_code_state(uint64_t word)
{
    static struct cunei_code_state none;
    return cunei_registry_place(word) ? &entry_at(cunei_registry_place(word))->state
                                      : &none;
}

uint64_t cunei_code_word(PyCodeObject *code)
{
    uint64_t word = cunei_registry_word(code);
    return word & CUNEI_CODE_STALE ? 0 : word;
}

bool cunei_code_is_seen(PyCodeObject *code)
{
    return cunei_registry_word(code) != 0;
}

const struct cunei_line_table *cunei_code_table(uint64_t word)
{
    return cunei_registry_place(word) ? entry_at(cunei_registry_place(word))->table
                                      : NULL;
}

void cunei_code_set_table(PyCodeObject *code, struct cunei_line_table *table)
{
    struct cunei_entry *entry =
        entry_at(cunei_registry_place(cunei_registry_word(code)));

    free(entry->table);
    entry->table = table;
}

uint32_t cunei_code_id(uint64_t word)
{
    if (word & CUNEI_CODE_COLD)
        return entry_at(cunei_registry_place(word))->id;
    return cunei_record_class(word);
}

uint32_t cunei_code_cold(uint64_t word, uint32_t *flags)
{
    const struct cunei_entry *entry = entry_at(cunei_registry_place(word));

    *flags = entry->flags;
    return entry->id;
}

uint32_t cunei_code_flags(uint64_t word)
{
    return word & CUNEI_CODE_COLD ? entry_at(cunei_registry_place(word))->flags : 0;
}

bool cunei_code_is_tagged(uint64_t word)
{
    uint32_t place = cunei_registry_place(word);
    return place && entry_at(place)->tagged;
}
