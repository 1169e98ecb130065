// SPDX-License-Identifier: MIT
/*
 * CPython 3.8 to 3.11: what later ones have and these do not, under the same names, and
 * what is read of their frames past the public interface.
 */
#ifndef CUNEI_PROBE_CORE_COMPAT_311_H
#define CUNEI_PROBE_CORE_COMPAT_311_H

#include <Python.h>

#include <frameobject.h>
#include <opcode.h>
#include <stdbool.h>
#include <structmember.h>

#include "probe/core/hot.h"

#if PY_VERSION_HEX >= 0x030b0000
/* The frame that a frame object stands for; internal/pycore_frame.h has it. */
typedef struct _PyInterpreterFrame {
    PyFunctionObject *f_func;
    PyObject *f_globals;
    PyObject *f_builtins;
    PyObject *f_locals;
    PyCodeObject *f_code;
    PyFrameObject *frame_obj;
    struct _PyInterpreterFrame *previous;
    _Py_CODEUNIT *prev_instr;
    int stacktop;
    bool is_entry;
    char owner;
    PyObject *localsplus[1];
} cunei_compat_311_frame;
#else
typedef PyFrameObject cunei_compat_311_frame;
#endif

#if PY_VERSION_HEX >= 0x03090000
typedef _PyFrameEvalFunction cunei_compat_311_evaluator;
#else
typedef PyObject *(*cunei_compat_311_evaluator)(PyFrameObject *frame, int throws);
#endif

#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY   READONLY

#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra              _PyCode_GetExtra
#define PyUnstable_Code_SetExtra              _PyCode_SetExtra

#if PY_VERSION_HEX < 0x030a0000
#define Py_TPFLAGS_DISALLOW_INSTANTIATION 0
#define Py_TPFLAGS_IMMUTABLETYPE          0

static inline PyObject *cunei_compat_311_new_ref(PyObject *object)
{
    Py_XINCREF(object);
    return object;
}
#define Py_NewRef(object)  cunei_compat_311_new_ref((PyObject *)(object))
#define Py_XNewRef(object) cunei_compat_311_new_ref((PyObject *)(object))
#define Py_IsNone(object)  ((object) == Py_None)
#endif

#if PY_VERSION_HEX < 0x03090000
#define Py_IS_TYPE(object, type)   (Py_TYPE(object) == (type))
#define Py_TPFLAGS_HAVE_VECTORCALL _Py_TPFLAGS_HAVE_VECTORCALL
#define PyObject_Vectorcall        _PyObject_Vectorcall
#define PyObject_CallNoArgs        _PyObject_CallNoArg
#define PyInterpreterState_Get     _PyInterpreterState_Get

static inline PyObject *PyObject_CallOneArg(PyObject *callable, PyObject *argument)
{
    return _PyObject_Vectorcall(callable, &argument, 1, NULL);
}

static inline PyCodeObject *PyFrame_GetCode(PyFrameObject *frame)
{
    Py_INCREF(frame->f_code);
    return frame->f_code;
}

static inline PyFrameObject *PyFrame_GetBack(PyFrameObject *frame)
{
    Py_XINCREF(frame->f_back);
    return frame->f_back;
}

static inline PyFrameObject *PyThreadState_GetFrame(PyThreadState *thread)
{
    Py_XINCREF(thread->frame);
    return thread->frame;
}

/* A place for vectorcalls among its members is that of the type. */
PyObject *PyType_FromModuleAndSpec(PyObject *module, PyType_Spec *spec,
                                   PyObject *bases);
#endif

#if PY_VERSION_HEX < 0x030b0000
static inline PyObject *PyFrame_GetGlobals(PyFrameObject *frame)
{
    return Py_NewRef(frame->f_globals);
}

/* In bytes. */
static inline int PyFrame_GetLasti(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030a0000
    return frame->f_lasti < 0 ? -1 : frame->f_lasti * 2;
#else
    return frame->f_lasti;
#endif
}

static inline PyObject *PyCode_GetCode(PyCodeObject *code)
{
    return Py_NewRef(code->co_code);
}

static inline PyObject *PyCode_GetVarnames(PyCodeObject *code)
{
    return Py_NewRef(code->co_varnames);
}

static inline PyObject *PyType_GetQualName(PyTypeObject *type)
{
    return Py_NewRef(((PyHeapTypeObject *)type)->ht_qualname);
}
#endif

static inline PyObject *PyType_GetDict(PyTypeObject *type)
{
    return Py_XNewRef(type->tp_dict);
}

/* The frame's variables, of which a function's arguments come first. */
static inline PyObject **cunei_compat_311_variables(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    const struct {
        PyObject_HEAD void *back;
        cunei_compat_311_frame *frame;
    } *object = (const void *)frame;
    return object->frame->localsplus;
#else
    return frame->f_localsplus;
#endif
}

/*
 * An argument of the frame's function, a new reference; NULL without an exception: it
 * is not there.  Those that inner functions use are in cells, from 3.11 on in their own
 * places, once the function has begun.
 */
static inline PyObject *PyFrame_GetVar(PyFrameObject *frame, PyObject *name)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *names = PyCode_GetVarnames(code);
    PyObject **variables = cunei_compat_311_variables(frame), *value = NULL;

    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0)
            value = variables[i];
    }
#if PY_VERSION_HEX < 0x030b0000
    for (Py_ssize_t i = 0; !value && i < PyTuple_GET_SIZE(code->co_cellvars); i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_cellvars, i), name) == 0)
            value = variables[code->co_nlocals + i];
    }
#endif
    if (value && PyCell_Check(value))
        value = PyCell_GET(value);
    Py_XDECREF(names);
    Py_DECREF(code);
    return Py_XNewRef(value);
}

static inline PyObject *PyFrame_GetVarString(PyFrameObject *frame, const char *name)
{
    PyObject *text = PyUnicode_FromString(name);
    PyObject *value = text ? PyFrame_GetVar(frame, text) : NULL;

    Py_XDECREF(text);
    return value;
}

/* The frame that runs; see cunei_frame_running. */
static inline cunei_compat_311_frame *cunei_compat_311_top(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    return thread->cframe->current_frame;
#else
    return thread->frame;
#endif
}

/* Whether a call of a generator's function only makes the generator. */
static inline bool cunei_compat_311_only_makes(const cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    const char owned_by_generator = 1;
    return frame->f_code->co_flags & CUNEI_GENERATES &&
           frame->owner != owned_by_generator;
#else
    (void)frame;
    return false;
#endif
}

/* Whether a generator's frame has run before. */
static inline bool cunei_compat_311_has_begun(const cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return frame->prev_instr -
               (_Py_CODEUNIT *)(void *)frame->f_code->co_code_adaptive >=
           frame->f_code->_co_firsttraceable;
#else
    return frame->f_lasti >= 0;
#endif
}

/* The instruction that it is at, in bytes. */
static inline int cunei_compat_311_offset(cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return (int)(2 * (frame->prev_instr -
                      (_Py_CODEUNIT *)(void *)frame->f_code->co_code_adaptive));
#else
    return PyFrame_GetLasti(frame);
#endif
}

/* Where a frame that is calling goes on if an exception comes back; -1: nowhere. */
int cunei_compat_311_handler(cunei_compat_311_frame *frame);

/* Whether a generator's frame that has just run is suspended. */
static inline bool cunei_compat_311_is_suspended(const cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    const PyGenObject *generator =
        (const void *)((const char *)frame - offsetof(PyGenObject, gi_iframe));
    return generator->gi_frame_state == -1;
#elif PY_VERSION_HEX >= 0x030a0000
    return frame->f_state == FRAME_SUSPENDED;
#else
    return frame->f_stacktop != NULL;
#endif
}

/*
 * Put a frame on top that is about to run, or has just run, as it is for its events in
 * later Pythons.
 */
struct cunei_compat_311_pushed {
    cunei_compat_311_frame *frame, *below;
#if PY_VERSION_HEX >= 0x030b0000
    cunei_compat_311_frame *previous;
    _Py_CODEUNIT *instruction;
#endif
};

static inline struct cunei_compat_311_pushed cunei_compat_311_push(
    PyThreadState *thread, cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    struct cunei_compat_311_pushed pushed = {frame, thread->cframe->current_frame,
                                             frame->previous, frame->prev_instr};
    PyCodeObject *code = frame->f_code;

    frame->previous = pushed.below;
    thread->cframe->current_frame = frame;
    /* One that has not come so far is not shown. */
    if (!cunei_compat_311_has_begun(frame))
        frame->prev_instr =
            (_Py_CODEUNIT *)(void *)code->co_code_adaptive + code->_co_firsttraceable;
#else
    struct cunei_compat_311_pushed pushed = {frame, thread->frame};

    thread->frame = frame;
#endif
    return pushed;
}

static inline void cunei_compat_311_pop(PyThreadState *thread,
                                        const struct cunei_compat_311_pushed *pushed)
{
#if PY_VERSION_HEX >= 0x030b0000
    pushed->frame->previous = pushed->previous;
    pushed->frame->prev_instr = pushed->instruction;
    thread->cframe->current_frame = pushed->below;
#else
    thread->frame = pushed->below;
#endif
}

/* What later ones have as sys.orig_argv, new; NULL without an exception. */
PyObject *cunei_compat_311_arguments(void);

/*
 * A frame that was put on top before its start is told.  What looks at frames meanwhile
 * must know: to allocate an object may collect garbage, and that run other code.
 */
struct cunei_compat_311_opening {
    const cunei_compat_311_frame *frame;
    struct cunei_compat_311_opening *outer; /* of this thread; private */
};

void cunei_compat_311_open(struct cunei_compat_311_opening *opening);
void cunei_compat_311_opened(void); /* its start is told now */
void cunei_compat_311_close(const struct cunei_compat_311_opening *opening);
bool cunei_compat_311_is_opening(const cunei_compat_311_frame *frame);

/*
 * The frame that has just ended, NULL: there is none; returns the one before.  It still
 * stands where it was suspended, if an exception was thrown into it there.
 */
const cunei_compat_311_frame *cunei_compat_311_set_ending(
    const cunei_compat_311_frame *frame);
bool cunei_compat_311_is_ending(const cunei_compat_311_frame *frame);

#if PY_VERSION_HEX < 0x03090000
/* The words that the main interpreter frees so are freed so by this one, too. */
void cunei_compat_311_share_extra(Py_ssize_t first, Py_ssize_t count);
#endif

/* The main interpreter's evaluator of frames. */
cunei_compat_311_evaluator cunei_compat_311_get_evaluator(void);
void cunei_compat_311_set_evaluator(cunei_compat_311_evaluator evaluator);

/* The frame that an object stands for. */
static inline cunei_compat_311_frame *cunei_compat_311_frame_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    const struct {
        PyObject_HEAD void *back;
        cunei_compat_311_frame *frame;
    } *object = (const void *)frame;
    return object->frame;
#else
    return frame;
#endif
}

/* A frame's code, borrowed. */
static inline PyCodeObject *cunei_compat_311_code(PyFrameObject *frame)
{
    return cunei_compat_311_frame_of(frame)->f_code;
}

/* The frame that has called it, while it runs; NULL: none. */
static inline cunei_compat_311_frame *cunei_compat_311_below(
    const cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return frame->previous;
#else
    return frame->f_back;
#endif
}

/* Whether the interpreter looks for hooks in what the thread runs next, or should. */
static inline bool cunei_compat_311_is_traced(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030a0000
    return thread->cframe->use_tracing;
#else
    return thread->use_tracing;
#endif
}

static inline void cunei_compat_311_set_tracing(PyThreadState *thread, bool is_traced)
{
#if PY_VERSION_HEX >= 0x030b0000
    thread->cframe->use_tracing = is_traced ? 255 : 0;
#elif PY_VERSION_HEX >= 0x030a0000
    thread->cframe->use_tracing = is_traced;
#else
    thread->use_tracing = is_traced;
#endif
}

/*
 * The thread has another hook, or none any more: whether the interpreter looks for one.
 * It does not while one is called, and sees to it afterwards.
 */
static inline void cunei_compat_311_update_tracing(PyThreadState *thread)
{
    if (!thread->tracing)
        cunei_compat_311_set_tracing(thread,
                                     thread->c_tracefunc || thread->c_profilefunc);
}

/*
 * That many threads more have a hook for tracing, which the interpreter looks for only
 * while it knows of one: past sys.settrace it must be told.
 */
#if PY_VERSION_HEX >= 0x030a0000
static inline void cunei_compat_311_count_tracing(int more)
{
    (void)more;
}
#else
void cunei_compat_311_count_tracing(int more);
#endif

/* The line of a frame, while a hook is told of it. */
static inline int cunei_compat_311_line(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return PyFrame_GetLineNumber(frame);
#else
    return frame->f_lineno; /* the function would search for it */
#endif
}

/*
 * Around code of the program's that nobody is to hear of: neither hooks nor ourselves.
 * The value is what `leave` takes.
 */
struct cunei_compat_311_silence {
    bool is_traced;
    Py_tracefunc profile, trace;
};

static inline struct cunei_compat_311_silence cunei_compat_311_enter_silence(
    PyThreadState *thread)
{
    struct cunei_compat_311_silence before = {
        cunei_compat_311_is_traced(thread), thread->c_profilefunc, thread->c_tracefunc};

    thread->tracing++;
    cunei_compat_311_set_tracing(thread, false);
    return before;
}

/* Hooks that it has set are to be heard from now on. */
static inline void cunei_compat_311_leave_silence(
    PyThreadState *thread, const struct cunei_compat_311_silence *before)
{
    thread->tracing--;
    cunei_compat_311_set_tracing(thread, before->is_traced);
    if (thread->c_profilefunc != before->profile ||
        thread->c_tracefunc != before->trace)
        cunei_compat_311_update_tracing(thread);
}

/* How many Python frames the thread has. */
static inline size_t cunei_compat_311_count(const PyThreadState *thread)
{
    const cunei_compat_311_frame *frame = cunei_compat_311_top(thread);
    size_t count = 0;

    for (; frame; frame = cunei_compat_311_below(frame))
        count++;
    return count;
}

/* The same by the counter that limits them, and other recursion, too. */
static inline int cunei_compat_311_depth(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    return thread->recursion_limit - thread->recursion_remaining;
#else
    return thread->recursion_depth;
#endif
}

/* Whether the next frame is one too many: it ends by a RecursionError at once. */
static inline bool cunei_compat_311_is_too_deep(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    return thread->recursion_remaining <= 0 && thread->recursion_headroom == 0 &&
           cunei_compat_311_depth(thread) + 1 >= Py_GetRecursionLimit();
#elif PY_VERSION_HEX >= 0x030a0000
    return thread->recursion_headroom == 0 &&
           cunei_compat_311_depth(thread) + 1 > Py_GetRecursionLimit();
#else
    return !thread->recursion_critical && !thread->overflowed &&
           cunei_compat_311_depth(thread) + 1 > Py_GetRecursionLimit();
#endif
}

#endif
