// SPDX-License-Identifier: MIT
#include <Python.h>

#if PY_VERSION_HEX < 0x03090000
#define Py_BUILD_CORE 1
#include <internal/pycore_pystate.h>
#undef _PyInterpreterState_Get
#elif PY_VERSION_HEX < 0x030a0000
#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED /* which 3.9 defines twice */
#include <internal/pycore_interp.h>
#endif

#include <string.h>

#include "probe/core/compat_311.h"

#if PY_VERSION_HEX >= 0x030b0000
#include "probe/core/exception_table.h"
#endif

#if PY_VERSION_HEX >= 0x030b0000
int cunei_compat_311_handler(cunei_compat_311_frame *frame)
{
    return cunei_exception_table_find(frame->f_code, cunei_compat_311_offset(frame));
}
#else
int cunei_compat_311_handler(cunei_compat_311_frame *frame)
{
    const int bytes = PY_VERSION_HEX >= 0x030a0000 ? 2 : 1;

    for (int i = frame->f_iblock - 1; i >= 0; i--) {
        if (frame->f_blockstack[i].b_type == SETUP_FINALLY)
            return bytes * frame->f_blockstack[i].b_handler;
    }
    return -1;
}
#endif

#if PY_VERSION_HEX < 0x03090000
extern void Py_GetArgcArgv(int *count, wchar_t ***words);

static Py_ssize_t vectorcall_place(const PyType_Spec *spec)
{
    const PyType_Slot *slot = spec->slots;

    while (slot->slot && slot->slot != Py_tp_members)
        slot++;
    const PyMemberDef *member = slot->slot ? slot->pfunc : NULL;
    while (member && member->name) {
        if (strcmp(member->name, "__vectorcalloffset__") == 0)
            return member->offset;
        member++;
    }
    return 0;
}

/* The flag says that the offset is not known yet: no type is created with it. */
PyObject *PyType_FromModuleAndSpec(PyObject *module, PyType_Spec *spec, PyObject *bases)
{
    PyType_Spec plain = *spec;
    Py_ssize_t place = vectorcall_place(spec);

    (void)module;
    plain.flags &= ~(unsigned)Py_TPFLAGS_HAVE_VECTORCALL;
    PyObject *type = PyType_FromSpecWithBases(&plain, bases);
    if (type && place) {
        ((PyTypeObject *)type)->tp_vectorcall_offset = place;
        ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    return type;
}
#endif

PyObject *cunei_compat_311_arguments(void)
{
    int count = 0;
    wchar_t **words = NULL;

    Py_GetArgcArgv(&count, &words);
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *word = PyUnicode_FromWideChar(words[i], -1);
        if (word)
            PyList_SET_ITEM(list, i, word);
        else
            Py_CLEAR(list);
    }
    PyErr_Clear();
    return list;
}

static __attribute__((tls_model(
    "initial-exec"))) _Thread_local struct cunei_compat_311_opening *innermost;

void cunei_compat_311_open(struct cunei_compat_311_opening *opening)
{
    opening->outer = innermost;
    innermost = opening;
}

void cunei_compat_311_opened(void)
{
    if (innermost)
        innermost->frame = NULL;
}

void cunei_compat_311_close(const struct cunei_compat_311_opening *opening)
{
    innermost = opening->outer;
}

static _Thread_local const cunei_compat_311_frame *ending;

const cunei_compat_311_frame *cunei_compat_311_set_ending(
    const cunei_compat_311_frame *frame)
{
    const cunei_compat_311_frame *before = ending;

    ending = frame;
    return before;
}

bool cunei_compat_311_is_ending(const cunei_compat_311_frame *frame)
{
    return frame == ending;
}

bool cunei_compat_311_is_opening(const cunei_compat_311_frame *frame)
{
    const struct cunei_compat_311_opening *opening = innermost;

    while (opening && opening->frame != frame)
        opening = opening->outer;
    return opening != NULL;
}

cunei_compat_311_evaluator cunei_compat_311_get_evaluator(void)
{
#if PY_VERSION_HEX >= 0x03090000
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main());
#else
    return PyInterpreterState_Main()->eval_frame;
#endif
}

void cunei_compat_311_set_evaluator(cunei_compat_311_evaluator evaluator)
{
#if PY_VERSION_HEX >= 0x03090000
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Main(), evaluator);
#else
    PyInterpreterState_Main()->eval_frame = evaluator;
#endif
}

#if PY_VERSION_HEX < 0x03090000
void cunei_compat_311_share_extra(Py_ssize_t first, Py_ssize_t count)
{
    const PyInterpreterState *from = PyInterpreterState_Main();
    PyInterpreterState *own = PyInterpreterState_Get();

    for (Py_ssize_t i = first; own != from && i < first + count; i++) {
        if (own->co_extra_user_count <= i)
            own->co_extra_user_count = i + 1;
        if (!own->co_extra_freefuncs[i])
            own->co_extra_freefuncs[i] = from->co_extra_freefuncs[i];
    }
}

void cunei_compat_311_count_tracing(int more)
{
    _PyRuntime.ceval.tracing_possible += more;
}
#elif PY_VERSION_HEX < 0x030a0000
void cunei_compat_311_count_tracing(int more)
{
    PyInterpreterState_Main()->ceval.tracing_possible += more;
}
#endif

void cunei_compat_311_set_profile(PyThreadState *thread, Py_tracefunc hook)
{
    thread->c_profilefunc = hook;
    cunei_compat_311_update_tracing(thread);
}

void cunei_compat_311_replace_profile(Py_tracefunc from, Py_tracefunc to)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_profilefunc == from)
            cunei_compat_311_set_profile(thread, to);
    }
}

void cunei_compat_311_replace_trace(Py_tracefunc from, Py_tracefunc to)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    for (; thread; thread = PyThreadState_Next(thread)) {
        if (thread->c_tracefunc == from) {
            cunei_compat_311_set_trace(thread, to);
            cunei_compat_311_update_tracing(thread);
        }
    }
}
