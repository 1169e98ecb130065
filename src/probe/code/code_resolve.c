// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/code_resolve.h"

#include <string.h>

#include "base/file_stamp.h"
#include "probe/code/qualname.h"
#include "probe/code/registry.h"
#include "probe/core/compat.h"
#include "probe/core/hot.h"
#include "probe/core/lock.h"
#include "probe/core/names.h"
#include "probe/core/world.h"
#include "rt/clock.h"
#include "rt/recorder.h"

/* The names of a function, owned; either may be NULL. */
struct names {
    PyObject *module;
    PyObject *qualname;
};

/* Guarded by the lock, which is held while a code object gets its tag. */
static struct cunei_file_stamps stamps;
static const struct cunei_patterns everything;
static const struct cunei_patterns *selection = &everything;
static struct cunei_code_hooks hooks;
static cunei_mutex lock;

struct reset {
    const struct cunei_patterns *patterns;
    const struct cunei_code_hooks *hooks;
};

static void reset_all(void *context)
{
    const struct reset *reset = context;

    cunei_code_clear();
    selection = reset->patterns ? reset->patterns : &everything;
    hooks = *reset->hooks;
}

/*
 * With the lock held, so that no thread is giving out a tag, and with the world
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

static void renew_all(void *unused)
{
    (void)unused;
    for (uint32_t place = 1; place <= cunei_registry_count(); place++) {
        struct cunei_entry *entry = cunei_registry_at(place);
        if (!entry->code ||
            entry->id == 0) /* without a recorded function there is no id to renew */
            continue;
        cunei_registry_exchange(entry, CUNEI_CODE_STALE | place);
    }
}

void cunei_code_renew(void)
{
    cunei_mutex_lock(&lock);
    cunei_world_stop(renew_all, NULL);
    cunei_mutex_unlock(&lock);
}

/* The tag of a function that needs nothing but its calls, at its level. */
static uint64_t level_tag(const struct cunei_entry *entry, uint32_t place)
{
    switch (entry->state.level) {
    case CUNEI_LEVEL_COUNTED:
        return CUNEI_CODE_DEMOTED | CUNEI_CODE_COUNTED | place;
    case CUNEI_LEVEL_OFF:
        return CUNEI_CODE_DEMOTED | place;
    default:
        return (uint64_t)entry->id << CUNEI_CLASS_SHIFT | place;
    }
}

/* Whether nothing but its calls is recorded. */
static bool has_levels(const struct cunei_entry *entry)
{
    return entry->code && entry->id && !entry->flags && !entry->watched &&
           !entry->lined && !entry->decorated && Py_REFCNT(entry->code) > 0;
}

void cunei_code_judge_all(cunei_code_judge *judge, void *context)
{
    for (uint32_t place = 1; place <= cunei_registry_count(); place++) {
        struct cunei_entry *entry = cunei_registry_at(place);
        if (!has_levels(entry))
            continue;
        PyCodeObject *code = entry->code;
        Py_INCREF(code);
        judge(code, entry->id, &entry->state, context);
        Py_DECREF(code);
    }
}

void cunei_code_set_level(PyCodeObject *code, enum cunei_level level)
{
    uint32_t place = cunei_registry_place(cunei_registry_tag(code));
    struct cunei_entry *entry = cunei_registry_at(place);

    entry->state.level = level;
    cunei_registry_exchange(entry, level_tag(entry, place));
}

/* The probe does not trace its own package: it is not part of the program. */
static bool is_own(const char *module)
{
    return strcmp(module, "cunei") == 0 || strncmp(module, "cunei.", 6) == 0;
}

/* The flags that the function needs beyond its enter and leave events. */
static uint32_t flags_of(const struct cunei_entry *entry,
                         const struct cunei_function *function)
{
    uint32_t flags = entry->flags & CUNEI_CODE_REGIONS;

    if (hooks.flags)
        flags |= hooks.flags(entry->code, function);
    if (entry->id >= CUNEI_FUNCTION_CLASS_END)
        flags |= CUNEI_CODE_CALL;
    if (entry->lined && entry->code->co_flags & CUNEI_GENERATES)
        flags |= CUNEI_CODE_LINES;
    return flags;
}

static bool is_selected(const struct cunei_function *function)
{
    return !is_own(function->module) &&
           cunei_patterns_include(selection, function->module, function->qualname,
                                  function->file);
}

uint32_t cunei_code_define(const struct cunei_function *function, bool *is_off)
{
    *is_off = !is_selected(function);
    return *is_off ? 0 : cunei_recorder_define(function);
}

/*
 * The upper half of the tag, with the rest in `entry`; 0: there is no id.  Lock held,
 * which also guards the buffers.
 */
static uint64_t identify(struct cunei_entry *entry, const struct names *names)
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
        /*
         * In a process that multiprocessing spawned, this is the program's main module.
         */
        .module = strcmp(module, "__mp_main__") == 0 ? "__main__" : module,
        .qualname = qualname,
        .file = file,
        .line = code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
    };
    entry->lined =
        hooks.has_lines && hooks.has_lines(&function) && is_selected(&function);
    if (entry->lined) {
        function.source = cunei_file_stamp_read(&stamps, file);
        bits |= CUNEI_CODE_LINED;
    }
    entry->id = cunei_code_define(&function, &is_off);
    entry->decorated = hooks.is_decorated && hooks.is_decorated(code);
    if (entry->decorated && is_off) {
        entry->id = cunei_recorder_define(&function);
        is_off = false;
    }
    if (entry->id == 0 && !is_off)
        return 0;
    if (entry->decorated)
        hooks.set_id(code, entry->id);
    entry->flags = flags_of(entry, &function);
    if (is_off && !(entry->flags & (CUNEI_CODE_GREENLET | CUNEI_CODE_NAMES)))
        return CUNEI_CODE_OFF | bits;
    return bits |
           (entry->flags ? CUNEI_CODE_COLD : (uint64_t)entry->id << CUNEI_CLASS_SHIFT);
}

static void call_hooks(const struct cunei_entry *entry, bool selected)
{
    if (hooks.selected && selected)
        hooks.selected(entry->code);
    if (hooks.watched && entry->watched)
        hooks.watched(entry->code);
    if (hooks.lined && entry->lined)
        hooks.lined(entry->code);
}

/*
 * Give the code object its tag and an entry; lock held.  Until its events are on the
 * tag is a stale one: a thread that calls the function meanwhile then waits for the
 * lock, instead of running without events.
 */
static uint64_t make_tag(PyCodeObject *code, const struct names *names)
{
    struct cunei_entry entry = {.code = code,
                                .watched = hooks.is_watched && hooks.is_watched(code)};
    uint64_t tag = identify(&entry, names);
    uint32_t place = tag ? cunei_registry_add(&entry) : 0;
    bool selected = !(tag & CUNEI_CODE_OFF);
    bool waits = (hooks.selected && selected) || entry.watched || entry.lined;

    if (place == 0)
        return 0;
    tag |= place;
    if (cunei_registry_set_tag(code, waits ? CUNEI_CODE_STALE | place : tag) < 0) {
        PyErr_Clear();
        cunei_registry_remove(place);
        return 0;
    }
    if (waits) {
        struct cunei_entry *added = cunei_registry_at(place);
        call_hooks(added, selected);
        if (hooks.level && has_levels(added) && hooks.level(added->id)) {
            added->state.level = hooks.level(added->id);
            tag = level_tag(added, place);
            hooks.levelled(code, added->state.level);
        }
        cunei_registry_exchange(added, tag);
    }
    if (hooks.left_out && !selected)
        hooks.left_out(code);
    return tag;
}

/* The same for a code object that had its entry before a fork. */
static uint64_t renew_tag(const struct names *names, uint32_t place)
{
    uint64_t tag = identify(cunei_registry_at(place), names);

    if (tag == 0)
        return 0;
    cunei_registry_exchange(cunei_registry_at(place), tag | place);
    return tag | place;
}

/* Let its events take the cold path from now on; lock held. */
static void make_cold(struct cunei_entry *entry, uint64_t tag, uint32_t flag)
{
    const uint64_t kept = CUNEI_CODE_WATCHED | CUNEI_CODE_LINED;

    __atomic_fetch_or(&entry->flags, flag, __ATOMIC_RELAXED);
    if (!(tag & CUNEI_CODE_COLD))
        cunei_registry_exchange(entry, (tag & kept) | CUNEI_CODE_COLD |
                                           cunei_registry_place(tag));
}

bool cunei_code_enable_regions(PyCodeObject *code, PyObject *globals)
{
    /*
     * A demoted function is recorded in bursts only: its regions stay with its frame.
     */
    const uint64_t without_events =
        CUNEI_CODE_OFF | CUNEI_CODE_STALE | CUNEI_CODE_DEMOTED;
    uint64_t tag = cunei_code_resolve(code, globals);

    if (cunei_code_id(tag) == 0)
        return false;
    if (cunei_code_flags(tag) & CUNEI_CODE_REGIONS)
        return true;
    cunei_mutex_lock(&lock);
    tag = cunei_registry_tag(code);
    if (tag && !(tag & without_events))
        make_cold(cunei_registry_at(cunei_registry_place(tag)), tag,
                  CUNEI_CODE_REGIONS);
    cunei_mutex_unlock(&lock);
    return true;
}

uint64_t cunei_code_resolve(PyCodeObject *code, PyObject *globals)
{
    uint64_t tag = cunei_code_tag(code);
    if (tag)
        return tag;

    /* Before the lock is taken: a dict subclass may run code to compare its keys. */
    struct names names = {
        .module = globals && PyDict_Check(globals)
                      ? cunei_compat_dict_get(globals, "__name__")
                      : NULL,
        .qualname = cunei_qualname_find(code, globals),
    };
    uint64_t begin = cunei_clock_read();
    cunei_mutex_lock(&lock);
    uint64_t before = cunei_registry_tag(code);
    if (before == 0)
        tag = make_tag(code, &names);
    else if (before & CUNEI_CODE_STALE)
        tag = renew_tag(&names, cunei_registry_place(before));
    else
        tag = before; /* another thread was faster */
    cunei_mutex_unlock(&lock);
    if (hooks.took)
        hooks.took(cunei_clock_read() - begin);
    Py_XDECREF(names.module);
    Py_XDECREF(names.qualname);
    return tag;
}
