// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/compat.h"
#include "rt/recorder.h"
#include "wire/event.h"

#define TEXT_MAX 4096

#define CHUNK_SIZE  1024u
#define CHUNK_COUNT 4096u

struct entry {
    PyCodeObject *code; /* borrowed: until forget_word is called for it; NULL: free */
    uint32_t id;        /* or the next free place */
    uint32_t flags;     /* of enum cunei_code_flag */
};

static Py_ssize_t extra_index = -1;

/* Entries never move: other threads look them up while one is added.  Owned. */
static struct entry *chunks[CHUNK_COUNT];
static uint32_t entry_count, first_free;
static const struct cunei_patterns everything;
static const struct cunei_patterns *selection = &everything;
static cunei_code_visitor *when_selected;
static cunei_compat_mutex lock;

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

    cunei_compat_lock(&lock);
    if (place > 0 && place <= entry_count && entry_at(place)->code) {
        *entry_at(place) = (struct entry){.id = first_free};
        first_free = place;
    }
    cunei_compat_unlock(&lock);
}

/* The place of a new entry; 0: there is none to be had.  Lock held. */
static uint32_t add_entry(const struct entry *entry)
{
    uint32_t place = first_free;

    if (place)
        first_free = entry_at(place)->id;
    else {
        struct entry **chunk = &chunks[entry_count / CHUNK_SIZE];
        if (entry_count == CHUNK_SIZE * CHUNK_COUNT)
            return 0;
        if (!*chunk)
            *chunk = calloc(CHUNK_SIZE, sizeof(**chunk));
        if (!*chunk)
            return 0;
        place = ++entry_count;
    }
    *entry_at(place) = *entry;
    return place;
}

int cunei_code_set_word(PyCodeObject *code, uint64_t word)
{
    return PyUnstable_Code_SetExtra((PyObject *)code, extra_index,
                                    (void *)(uintptr_t)word);
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
    *is_inline = cunei_compat_reads_extra(code, extra_index, probe_word);
    *index = extra_index;
    Py_DECREF(code);
    return 0;
}

void cunei_code_reset(const struct cunei_patterns *patterns,
                      cunei_code_visitor *selected)
{
    for (uint32_t place = 1; place <= entry_count; place++) {
        PyCodeObject *code = entry_at(place)->code;
        if (code && cunei_code_set_word(code, 0) < 0)
            PyErr_Clear();
    }
    selection = patterns;
    when_selected = selected;
}

void cunei_code_visit(cunei_code_visitor *visit)
{
    for (uint32_t place = 1; place <= entry_count; place++) {
        if (entry_at(place)->code)
            visit(entry_at(place)->code);
    }
}

uint64_t cunei_code_word(PyCodeObject *code)
{
    return cunei_compat_extra_call(code, extra_index);
}

uint32_t cunei_code_id(uint64_t word)
{
    if (word & CUNEI_CODE_COLD)
        return entry_at(place_of(word))->id;
    return cunei_record_class(word);
}

uint32_t cunei_code_flags(uint64_t word)
{
    return word & CUNEI_CODE_COLD ? entry_at(place_of(word))->flags : 0;
}

/*
 * The text of a str as UTF-8, cut to what a definition takes; empty for anything else.
 * File names may hold any byte, as surrogates, and those come out as they went in.
 */
static void copy_text(PyObject *text, char out[TEXT_MAX])
{
    Py_ssize_t size = 0;
    const char *bytes = NULL;
    PyObject *encoded = NULL;

    out[0] = '\0';
    if (!text || !PyUnicode_Check(text))
        return;
    if (PyUnicode_IS_COMPACT_ASCII(text)) {
        bytes = PyUnicode_AsUTF8AndSize(text, &size);
    } else {
        static const char *const ways[] = {"surrogateescape", "backslashreplace"};
        for (size_t i = 0; i < 2 && !encoded; i++) {
            PyErr_Clear();
            encoded = PyUnicode_AsEncodedString(text, "utf-8", ways[i]);
        }
        if (encoded) {
            bytes = PyBytes_AS_STRING(encoded);
            size = PyBytes_GET_SIZE(encoded);
        }
    }
    if (bytes) {
        size_t length = cunei_text_cut(bytes, (size_t)size, TEXT_MAX - 1);
        memcpy(out, bytes, length);
        out[length] = '\0';
    }
    PyErr_Clear();
    Py_XDECREF(encoded);
}

/* The probe does not trace itself: who records a part of a program did not call us. */
static bool is_own(const char *module)
{
    return strcmp(module, "cunei") == 0 || strncmp(module, "cunei.", 6) == 0;
}

/* What the function needs beyond its enter and leave. */
static uint32_t flags_of(uint32_t id)
{
    return id >= CUNEI_FUNCTION_CLASS_END ? CUNEI_CODE_CALL : 0;
}

/*
 * The word's upper half, and the rest in `entry`; 0: there is no id.  Lock held, which
 * is also what guards the buffers.
 */
static uint64_t identify(struct entry *entry, PyObject *globals)
{
    static char module[TEXT_MAX], qualname[TEXT_MAX], file[TEXT_MAX];
    PyCodeObject *code = entry->code;
    PyObject *name = NULL;

    if (globals && PyDict_Check(globals))
        name = PyDict_GetItemString(globals, "__name__"); /* borrowed */
    copy_text(name, module);
    copy_text(code->co_qualname, qualname);
    copy_text(code->co_filename, file);
    if (is_own(module) || !cunei_patterns_include(selection, module, qualname, file))
        return CUNEI_CODE_OFF;

    struct cunei_function function = {
        .module = module,
        .qualname = qualname,
        .file = file,
        .line = code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
    };
    entry->id = cunei_recorder_define(&function);
    if (entry->id == 0)
        return 0;
    entry->flags = flags_of(entry->id);
    return entry->flags ? CUNEI_CODE_COLD : (uint64_t)entry->id << CUNEI_CLASS_SHIFT;
}

/* Give the code object its word; lock held. */
static uint64_t make_word(PyCodeObject *code, PyObject *globals)
{
    struct entry entry = {.code = code};
    uint64_t word = identify(&entry, globals);
    uint32_t place = word ? add_entry(&entry) : 0;

    return place ? word | place : 0;
}

uint64_t cunei_code_resolve(PyCodeObject *code, PyObject *globals)
{
    uint64_t word = cunei_code_word(code);
    if (word)
        return word;

    cunei_compat_lock(&lock);
    word = cunei_code_word(code);
    if (word) { /* another thread was faster */
        cunei_compat_unlock(&lock);
        return word;
    }
    word = make_word(code, globals);
    int rc = word ? cunei_code_set_word(code, word) : -1;
    cunei_compat_unlock(&lock);
    if (rc < 0) {
        PyErr_Clear();
        forget_word((void *)(uintptr_t)word);
        return 0;
    }
    if (when_selected && !(word & CUNEI_CODE_OFF))
        when_selected(code);
    return word;
}
