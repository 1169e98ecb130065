// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/user/user_event.h"

#include <string.h>

#include "base/vector.h"
#include "probe/code/code.h"
#include "probe/core/arg_parse.h"
#include "probe/core/frame.h"
#include "probe/core/lock.h"
#include "probe/user/decorated.h"
#include "probe/user/region.h"
#include "probe/user/user_name.h"
#include "probe/user/user_state.h"
#include "probe/user/user_value.h"
#include "wire/event.h"

/* How many frames are searched for the function of a parameter. */
#define FRAMES_MAX 64

/* The metadata of the process, the last value of each name; the lock guards it. */
#define METADATA_MAX 256u
static struct {
    struct cunei_named_value value;
    char *memory; /* owned; the texts */
    size_t capacity;
} metadata[METADATA_MAX];
static size_t metadata_count;
static cunei_mutex lock;

/*
 * The id of the region or function that a parameter belongs to: the innermost open
 * region, where a decorated function's call counts as one.
 */
static uint32_t find_target(void)
{
    const void *region_frame = NULL;
    struct cunei_user_name *region = cunei_region_innermost(&region_frame);
    uint32_t innermost = 0, target = 0;

    if (region && !cunei_decorated_is_used())
        return cunei_user_name_id(region);
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    for (int steps = 0; frame && !target && steps < FRAMES_MAX; steps++) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        uint64_t tag = cunei_code_tag(code);
        if (region && cunei_frame_of(frame) == region_frame)
            target = cunei_user_name_id(region);
        else if (cunei_code_is_decorated(tag))
            target = cunei_code_id(tag);
        if (innermost == 0)
            innermost = cunei_code_id(tag);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    if (target)
        return target;
    return region ? cunei_user_name_id(region) : innermost;
}

static void write_value(enum cunei_class class, struct cunei_named_value *value)
{
    uint32_t before = cunei_recorder_begin_event();

    cunei_decorated_write();
    if (class == CUNEI_CLASS_PARAMETER)
        value->target = find_target();
    cunei_user_value_write(class, value, true);
    cunei_recorder_end_event(before);
}

/* Without a recording, wrong arguments still raise. */
static int check_arguments(PyObject *name, PyObject *object, bool may_be_none)
{
    struct cunei_user_number number;

    if (!PyUnicode_Check(name)) {
        PyObject *text = cunei_user_name_text(name, "a name");
        if (!text)
            return -1;
        Py_DECREF(text);
    }
    if (PyUnicode_Check(object) || PyLong_Check(object) || PyFloat_Check(object) ||
        (may_be_none && object == Py_None))
        return 0;
    return cunei_user_value_number(object, &number);
}

static PyObject *record_value(enum cunei_class class, PyObject *name, PyObject *object)
{
    struct cunei_named_value value;
    char texts[CUNEI_USER_VALUE_TEXTS];
    bool may_be_none = class == CUNEI_CLASS_MARK;

    if (!cunei_user_is_recorded())
        return check_arguments(name, object, may_be_none) < 0 ? NULL
                                                              : Py_NewRef(Py_None);
    if (cunei_user_value_parse(name, object, may_be_none, &value, texts) < 0)
        return NULL;
    write_value(class, &value);
    Py_RETURN_NONE;
}

static PyObject *on_mark(PyObject *module, PyObject *const *args, Py_ssize_t count,
                         PyObject *names)
{
    static const struct cunei_args_form form = {"mark", {"name", "value"}, 1, 2};
    PyObject *values[CUNEI_ARGS_MAX];
    (void)module;

    if (cunei_args_parse(&form, args, count, names, values) < 0)
        return NULL;
    return record_value(CUNEI_CLASS_MARK, values[0], values[1] ? values[1] : Py_None);
}

static PyObject *on_parameter(PyObject *module, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    static const struct cunei_args_form form = {"parameter", {"name", "value"}, 2, 2};
    PyObject *values[CUNEI_ARGS_MAX];
    (void)module;

    if (cunei_args_parse(&form, args, count, names, values) < 0)
        return NULL;
    return record_value(CUNEI_CLASS_PARAMETER, values[0], values[1]);
}

/* Lock held.  The index of this name, or the first free one. */
static size_t find_metadata(const struct cunei_named_value *value)
{
    size_t at = 0;

    while (at < metadata_count &&
           (metadata[at].value.name_size != value->name_size ||
            memcmp(metadata[at].value.name, value->name, value->name_size) != 0))
        at++;
    return at;
}

/* Keep it for recordings that begin later. */
static void keep_metadata(const struct cunei_named_value *value)
{
    size_t size = value->name_size + value->text_size;

    cunei_mutex_lock(&lock);
    size_t at = find_metadata(value);
    if (at < METADATA_MAX &&
        CUNEI_VECTOR_RESERVE(metadata[at].memory, metadata[at].capacity, size + 1)) {
        char *memory = metadata[at].memory;
        memcpy(memory, value->name, value->name_size);
        memcpy(memory + value->name_size, value->text, value->text_size);
        metadata[at].value = *value;
        metadata[at].value.name = memory;
        metadata[at].value.text = memory + value->name_size;
        metadata_count += at == metadata_count;
    }
    cunei_mutex_unlock(&lock);
}

static PyObject *on_metadata(PyObject *module, PyObject *const *args, Py_ssize_t count,
                             PyObject *names)
{
    static const struct cunei_args_form form = {"metadata", {"key", "value"}, 2, 2};
    struct cunei_named_value value;
    char texts[CUNEI_USER_VALUE_TEXTS];
    PyObject *values[CUNEI_ARGS_MAX];
    (void)module;

    if (cunei_args_parse(&form, args, count, names, values) < 0 ||
        cunei_user_value_parse(values[0], values[1], false, &value, texts) < 0)
        return NULL;
    if (cunei_user_is_recorded())
        write_value(CUNEI_CLASS_METADATA, &value);
    if (PyInterpreterState_Get() == PyInterpreterState_Main())
        keep_metadata(&value);
    Py_RETURN_NONE;
}

void cunei_user_event_write_metadata(bool top_is_open)
{
    cunei_mutex_lock(&lock);
    for (size_t i = 0; i < metadata_count; i++)
        cunei_user_value_write(CUNEI_CLASS_METADATA, &metadata[i].value, top_is_open);
    cunei_mutex_unlock(&lock);
}

void cunei_user_event_write_error(const char *name, const char *sentence)
{
    const struct cunei_named_value value = {
        .name = name,
        .name_size = strlen(name),
        .kind = CUNEI_VALUE_ERROR,
        .text = sentence,
        .text_size = strlen(sentence),
    };

    cunei_user_value_write(CUNEI_CLASS_MARK, &value, true);
}

static PyMethodDef functions[] = {
    {"mark", CUNEI_METHOD(on_mark), METH_FASTCALL | METH_KEYWORDS,
     "mark($module, name, value=None)\n--\n\nRecord that something happened now, with an "
     "optional value."},
    {"parameter", CUNEI_METHOD(on_parameter), METH_FASTCALL | METH_KEYWORDS,
     "parameter($module, name, value)\n--\n\nRecord a value as a parameter of the "
     "innermost open region, or of the running function if there is none."},
    {"metadata", CUNEI_METHOD(on_metadata), METH_FASTCALL | METH_KEYWORDS,
     "metadata($module, key, value)\n--\n\nRecord a value for the whole process; the last one "
     "of a key counts."},
    {NULL, NULL, 0, NULL},
};

int cunei_user_event_add_functions(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
