// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/stamp.h"
#include "probe/argument.h"
#include "probe/compat.h"
#include "probe/extra.h"
#include "probe/greenlet.h"
#include "probe/hot.h"
#include "probe/lineevent.h"
#include "probe/lock.h"
#include "probe/names.h"
#include "probe/process.h"
#include "probe/qualname.h"
#include "probe/task.h"
#include "probe/world.h"
#include "rt/recorder.h"
#include "wire/event.h"

#define CHUNK_SIZE  1024u
#define CHUNK_COUNT 4096u

struct entry {
    PyCodeObject *code; /* borrowed: until forget_word is called for it; NULL: free */
    uint32_t id;        /* or the next free place */
    uint32_t flags;     /* of enum cunei_code_flag */
    bool watched;
    bool lined;                    /* its lines are recorded */
    bool stays;                    /* its word goes, but the code object does not */
    bool muted;                    /* events of it are switched off somewhere */
    struct cunei_linetable *table; /* owned; NULL: it needs none */
};

/* What a function is called, owned; either may be NULL. */
struct names {
    PyObject *module;
    PyObject *qualname;
};

static Py_ssize_t extra_index = -1;
static bool extra_inline;

/*
 * Entries never move: other threads look them up while one is added.  The latch guards
 * which are free; a thread that frees a code object needs nothing else.  Owned.
 */
static struct entry *chunks[CHUNK_COUNT];
static uint32_t entry_count, first_free;
static struct cunei_stamps stamps;
static cunei_latch latch = CUNEI_LATCH_INIT;

/* Who gives a code object its word has the lock, and so has who changes these. */
static const struct cunei_patterns everything;
static const struct cunei_patterns *selection = &everything;
static struct cunei_code_hooks hooks;
static cunei_mutex lock;

static atomic_bool has_muted; /* in this recording */

static uint32_t place_of(uint64_t word)
{
    return (uint32_t)word;
}

/* The entry at a place that was given out. */
static struct entry *entry_at(uint32_t place)
{
    return &chunks[(place - 1) / CHUNK_SIZE][(place - 1) % CHUNK_SIZE];
}

/* CPython calls it when the code object, or its word, goes. */
static void forget_word(void *extra)
{
    uint32_t place = place_of((uintptr_t)extra);

    cunei_latch_close(&latch);
    if (place > 0 && place <= entry_count && entry_at(place)->code &&
        !entry_at(place)->stays) {
        if (entry_at(place)->lined)
            cunei_lineevent_forget();
        free(entry_at(place)->table);
        *entry_at(place) = (struct entry){.id = first_free};
        first_free = place;
    }
    cunei_latch_open(&latch);
}

/* A place that nobody has; 0: there is none to be had.  Latch closed. */
static uint32_t find_place(void)
{
    uint32_t place = first_free;

    if (place) {
        first_free = entry_at(place)->id;
        return place;
    }
    struct entry **chunk = &chunks[entry_count / CHUNK_SIZE];
    if (entry_count == CHUNK_SIZE * CHUNK_COUNT)
        return 0;
    if (!*chunk)
        *chunk = calloc(CHUNK_SIZE, sizeof(**chunk));
    return *chunk ? ++entry_count : 0;
}

static uint32_t add_entry(const struct entry *entry)
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
    return cunei_extra_set(code, extra_index, word, extra_inline);
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
    extra_inline = cunei_extra_is_readable(code, extra_index, probe_word);
    *is_inline = extra_inline;
    *index = extra_index;
    Py_DECREF(code);
    return 0;
}

void cunei_code_share(void)
{
#if PY_VERSION_HEX < 0x03090000
    if (extra_index >= 0)
        cunei_older_share_extra(extra_index, CUNEI_EXTRA_COUNT);
#endif
}

struct reset {
    const struct cunei_patterns *patterns;
    const struct cunei_code_hooks *hooks;
};

static void reset_all(void *context)
{
    const struct reset *reset = context;

    for (uint32_t place = 1; place <= entry_count; place++) {
        PyCodeObject *code = entry_at(place)->code;
        /* It cannot fail, for there is a word already. */
        if (code)
            (void)cunei_code_set_word(code, 0);
    }
    selection = reset->patterns ? reset->patterns : &everything;
    hooks = *reset->hooks;
    atomic_store(&has_muted, false);
}

/*
 * With the lock, so that nobody is in the middle of giving a word, and with the world
 * stopped, so that no code object is freed meanwhile.
 */
void cunei_code_reset(const struct cunei_patterns *patterns,
                      const struct cunei_code_hooks *wanted)
{
    struct reset reset = {patterns, wanted};

    cunei_mutex_lock(&lock);
    cunei_world_stop(reset_all, &reset);
    cunei_mutex_unlock(&lock);
}

/* Give a code object that has an entry another word; the entry stays. */
static int exchange_word(struct entry *entry, uint64_t word)
{
    entry->stays = true; /* forget_word is called for the old word */
    int rc = cunei_code_set_word(entry->code, word);
    entry->stays = false;
    return rc;
}

static void renew_all(void *unused)
{
    (void)unused;
    for (uint32_t place = 1; place <= entry_count; place++) {
        struct entry *entry = entry_at(place);
        if (!entry->code || entry->id == 0) /* what is not recorded needs no id */
            continue;
        (void)exchange_word(entry, CUNEI_CODE_STALE | place); /* see reset_all */
    }
}

void cunei_code_renew(void)
{
    cunei_mutex_lock(&lock);
    cunei_world_stop(renew_all, NULL);
    cunei_mutex_unlock(&lock);
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

static bool is_in(const struct collection *collection, const struct entry *entry)
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
        const struct entry *entry = entry_at(place);
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
    entry_at(place_of(word))->muted = true;
    atomic_store(&has_muted, true);
}

bool cunei_code_has_muted(void)
{
    return atomic_load(&has_muted);
}

static uint64_t any_word(PyCodeObject *code)
{
    return cunei_extra_call(code, extra_index);
}

uint64_t cunei_code_word(PyCodeObject *code)
{
    uint64_t word = any_word(code);
    return word & CUNEI_CODE_STALE ? 0 : word;
}

bool cunei_code_is_seen(PyCodeObject *code)
{
    return any_word(code) != 0;
}

const struct cunei_linetable *cunei_code_table(uint64_t word)
{
    return place_of(word) ? entry_at(place_of(word))->table : NULL;
}

void cunei_code_set_table(PyCodeObject *code, struct cunei_linetable *table)
{
    struct entry *entry = entry_at(place_of(any_word(code)));

    free(entry->table);
    entry->table = table;
}

uint32_t cunei_code_id(uint64_t word)
{
    if (word & CUNEI_CODE_COLD)
        return entry_at(place_of(word))->id;
    return cunei_record_class(word);
}

uint32_t cunei_code_cold(uint64_t word, uint32_t *flags)
{
    const struct entry *entry = entry_at(place_of(word));

    *flags = entry->flags;
    return entry->id;
}

uint32_t cunei_code_flags(uint64_t word)
{
    return word & CUNEI_CODE_COLD ? entry_at(place_of(word))->flags : 0;
}

/* The probe does not trace itself: who records a part of a program did not call us. */
static bool is_own(const char *module)
{
    return strcmp(module, "cunei") == 0 || strncmp(module, "cunei.", 6) == 0;
}

/* What the function needs beyond its enter and leave. */
static uint32_t flags_of(const struct entry *entry,
                         const struct cunei_function *function)
{
    uint32_t flags = cunei_argument_flags(function);

    if (entry->id >= CUNEI_FUNCTION_CLASS_END)
        flags |= CUNEI_CODE_CALL;
    if (cunei_task_is_coroutine(entry->code))
        flags |= CUNEI_CODE_COROUTINE;
    if (entry->lined && entry->code->co_flags & CUNEI_GENERATES)
        flags |= CUNEI_CODE_LINES;
    if (cunei_greenlet_is_module(function->module, function->qualname))
        flags |= CUNEI_CODE_GREENLET;
    if (cunei_process_names(entry->code))
        flags |= CUNEI_CODE_NAMES;
    return flags;
}

uint32_t cunei_code_define(const struct cunei_function *function, bool *is_off)
{
    *is_off = is_own(function->module) ||
              !(cunei_lineevent_wants(function) ||
                cunei_patterns_include(selection, function->module, function->qualname,
                                       function->file));
    return *is_off ? 0 : cunei_recorder_define(function);
}

/*
 * The word's upper half, and the rest in `entry`; 0: there is no id.  Lock held, which
 * is also what guards the buffers.
 */
static uint64_t identify(struct entry *entry, const struct names *names)
{
    static char module[CUNEI_NAMES_MAX], qualname[CUNEI_NAMES_MAX],
        file[CUNEI_NAMES_MAX];
    PyCodeObject *code = entry->code;
    uint64_t bits = entry->watched ? CUNEI_CODE_WATCHED : 0;
    bool is_off;

    (void)cunei_names_copy(names->module, module, sizeof(module));
    (void)cunei_names_copy(names->qualname, qualname, sizeof(qualname));
    cunei_names_of_file(code->co_filename, file);
    struct cunei_function function = {
        /* A process that multiprocessing spawned has the program's main module, too. */
        .module = strcmp(module, "__mp_main__") == 0 ? "__main__" : module,
        .qualname = qualname,
        .file = file,
        .line = code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
    };
    entry->lined = !is_own(function.module) && cunei_lineevent_wants(&function);
    if (entry->lined) {
        function.source = cunei_stamp_read(&stamps, file);
        bits |= CUNEI_CODE_LINED;
    }
    entry->id = cunei_code_define(&function, &is_off);
    if (entry->id == 0 && !is_off)
        return 0;
    entry->flags = flags_of(entry, &function);
    if (is_off && !(entry->flags & (CUNEI_CODE_GREENLET | CUNEI_CODE_NAMES)))
        return CUNEI_CODE_OFF | bits;
    return bits |
           (entry->flags ? CUNEI_CODE_COLD : (uint64_t)entry->id << CUNEI_CLASS_SHIFT);
}

static void call_hooks(const struct entry *entry, bool selected)
{
    if (hooks.selected && selected)
        hooks.selected(entry->code);
    if (hooks.watched && entry->watched)
        hooks.watched(entry->code);
    if (hooks.lined && entry->lined)
        hooks.lined(entry->code);
}

/*
 * Give the code object its word and an entry; lock held.  Until its events are on the
 * word is a stale one: a thread that calls the function meanwhile waits for the lock,
 * where it would otherwise run past them.
 */
static uint64_t make_word(PyCodeObject *code, const struct names *names)
{
    struct entry entry = {.code = code,
                          .watched = hooks.watched && cunei_process_watches(code)};
    uint64_t word = identify(&entry, names);
    uint32_t place = word ? add_entry(&entry) : 0;
    bool selected = !(word & CUNEI_CODE_OFF);
    bool waits = (hooks.selected && selected) || entry.watched || entry.lined;

    if (place == 0)
        return 0;
    word |= place;
    if (cunei_code_set_word(code, waits ? CUNEI_CODE_STALE | place : word) < 0) {
        PyErr_Clear();
        forget_word((void *)(uintptr_t)word);
        return 0;
    }
    if (waits) {
        call_hooks(entry_at(place), selected);
        (void)exchange_word(entry_at(place), word); /* cannot fail: there is one */
    }
    return word;
}

/* The same for one that had its entry before a fork. */
static uint64_t renew_word(const struct names *names, uint32_t place)
{
    uint64_t word = identify(entry_at(place), names);

    if (word == 0)
        return 0;
    if (exchange_word(entry_at(place), word | place) == 0)
        return word | place;
    PyErr_Clear();
    return 0;
}

uint64_t cunei_code_resolve(PyCodeObject *code, PyObject *globals)
{
    uint64_t word = cunei_code_word(code);
    if (word)
        return word;

    /* Before the lock: a strange dict may compare its keys with code of its own. */
    struct names names = {
        .module = globals && PyDict_Check(globals)
                      ? cunei_compat_dict_get(globals, "__name__")
                      : NULL,
        .qualname = cunei_qualname_find(code, globals),
    };
    cunei_mutex_lock(&lock);
    uint64_t before = any_word(code);
    if (before == 0)
        word = make_word(code, &names);
    else if (before & CUNEI_CODE_STALE)
        word = renew_word(&names, place_of(before));
    else
        word = before; /* another thread was faster */
    cunei_mutex_unlock(&lock);
    Py_XDECREF(names.module);
    Py_XDECREF(names.qualname);
    return word;
}
