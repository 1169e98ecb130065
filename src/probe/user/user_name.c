// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/user_name.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core/compat.h"
#include "probe/core/names.h"
#include "probe/core/write.h"
#include "rt/recorder.h"
#include "wire/user_event.h"

#define KIND_COUNT (CUNEI_DEFINITION_TOKENS + 1)

struct cunei_user_name {
    _Atomic unsigned references;
    _Atomic uint64_t known; /* the number of a recording, and the id in it */
    const char *file;
    char text[];
};

/* How many names and bytes are defined in the recording of this number. */
static struct {
    pthread_mutex_t lock; /* the interpreter is not called under it */
    uint32_t recording;
    uint32_t last; /* the highest id so far */
    struct {
        uint32_t count;
        size_t bytes;
    } kinds[KIND_COUNT];
} taken = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct cunei_user_name *cunei_user_name_new(PyObject *text, const char *file)
{
    size_t most = (size_t)PyUnicode_GET_LENGTH(text) * 4 + 1;
    bool is_short = PyUnicode_IS_COMPACT_ASCII(text) && most <= CUNEI_NAMES_MAX;
    struct cunei_user_name *user_name =
        malloc(sizeof(*user_name) + (is_short ? most : CUNEI_NAMES_MAX));

    if (!user_name) {
        PyErr_NoMemory();
        return NULL;
    }
    size_t size =
        cunei_names_copy(text, user_name->text, is_short ? most : CUNEI_NAMES_MAX) + 1;
    atomic_init(&user_name->references, 1);
    atomic_init(&user_name->known, 0);
    user_name->file = file;
    struct cunei_user_name *fitting = realloc(user_name, sizeof(*user_name) + size);
    return fitting ? fitting : user_name;
}

struct cunei_user_name *cunei_user_name_keep(struct cunei_user_name *user_name)
{
    atomic_fetch_add_explicit(&user_name->references, 1, memory_order_relaxed);
    return user_name;
}

void cunei_user_name_free(struct cunei_user_name *user_name)
{
    /* The last owner must see what the others have done. */
    if (user_name &&
        atomic_fetch_sub_explicit(&user_name->references, 1, memory_order_acq_rel) == 1)
        free(user_name);
}

/* Lock held.  A name without an id gets a higher one than any before. */
static uint32_t define(const struct cunei_function *function, uint32_t number)
{
    enum cunei_definition kind = cunei_definition_of(function);

    if (taken.recording != number) {
        taken.recording = number;
        taken.last = 0;
        memset(taken.kinds, 0, sizeof(taken.kinds));
    }
    if (taken.kinds[kind].count >= CUNEI_USER_NAMES_MAX ||
        taken.kinds[kind].bytes >= CUNEI_USER_NAMES_MAX_BYTES)
        return cunei_recorder_find(function);
    uint32_t id = cunei_recorder_define(function);
    if (id > taken.last) {
        taken.last = id;
        taken.kinds[kind].count++;
        taken.kinds[kind].bytes += strlen(function->qualname);
    }
    return id;
}

uint32_t cunei_user_name_id(struct cunei_user_name *user_name)
{
    uint64_t known = atomic_load_explicit(&user_name->known, memory_order_relaxed);
    uint32_t number = cunei_recorder_number();

    if (known >> 32 == number)
        return (uint32_t)known;
    const struct cunei_function function = {
        .module = "", .qualname = user_name->text, .file = user_name->file};
    (void)pthread_mutex_lock(&taken.lock);
    uint32_t id = define(&function, number);
    (void)pthread_mutex_unlock(&taken.lock);
    atomic_store_explicit(&user_name->known, (uint64_t)number << 32 | id,
                          memory_order_relaxed);
    return id;
}

void cunei_user_name_write(struct cunei_user_name *user_name, uint64_t *words,
                           unsigned count)
{
    uint32_t before = cunei_recorder_begin_event();
    uint32_t id = cunei_user_name_id(user_name);

    words[count - 1] |= id;
    if (id)
        cunei_write_words(words, count, true);
    else
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
    cunei_recorder_end_event(before);
}

bool cunei_user_name_is_same(const struct cunei_user_name *a,
                             const struct cunei_user_name *b)
{
    return strcmp(a->text, b->text) == 0;
}

const char *cunei_user_name_utf8(const struct cunei_user_name *user_name)
{
    return user_name->text;
}

PyObject *cunei_user_name_text(PyObject *name, const char *what)
{
    if (PyUnicode_Check(name))
        return PyUnicode_FromObject(name);
    if (PyBytes_Check(name))
        return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name),
                                    "surrogateescape");
    PyErr_Format(PyExc_TypeError, "%s must be a str or bytes, not %.100s", what,
                 Py_TYPE(name)->tp_name);
    return NULL;
}

PyObject *cunei_user_name_object(const struct cunei_user_name *user_name)
{
    return PyUnicode_DecodeUTF8(user_name->text, (Py_ssize_t)strlen(user_name->text),
                                "surrogateescape");
}
