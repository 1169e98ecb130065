// SPDX-License-Identifier: MIT
/*
 * CPython 3.8 to 3.11: functions of later versions under the same names, and what is
 * read of frames past the public interface.
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
/* The frame behind a frame object, as in internal/pycore_frame.h. */
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

/* A vectorcall offset among the members becomes that of the type. */
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

/* The frame's local variables; a function's arguments come first. */
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
 * is unbound.  Arguments that inner functions use are in cells, from 3.11 on in their
 * own slots once the function has started.
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

/* The running frame; see cunei_frame_running. */
static inline cunei_compat_311_frame *cunei_compat_311_top(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    return thread->cframe->current_frame;
#else
    return thread->frame;
#endif
}

/* Whether a call of a generator function only creates the generator. */
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

/* The offset of the current instruction, in bytes. */
static inline int cunei_compat_311_offset(cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return (int)(2 * (frame->prev_instr -
                      (_Py_CODEUNIT *)(void *)frame->f_code->co_code_adaptive));
#else
    return PyFrame_GetLasti(frame);
#endif
}

/* The handler for an exception that the current call raises; -1: none. */
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
 * Push a frame that is about to run, or has just run, onto the thread's stack: later
 * versions have it there during its events.
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
    /* A frame before this instruction is hidden from PyThreadState_GetFrame. */
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

/* sys.orig_argv of later versions, a new reference; NULL without an exception. */
PyObject *cunei_compat_311_arguments(void);

/*
 * A frame that was pushed before its start is recorded.  Code that reads the stack in
 * between must know: allocating an object may collect garbage, which runs other code.
 */
struct cunei_compat_311_opening {
    const cunei_compat_311_frame *frame;
    struct cunei_compat_311_opening *outer; /* of this thread; private */
};

void cunei_compat_311_open(struct cunei_compat_311_opening *opening);
void cunei_compat_311_opened(void); /* its start is recorded now */
void cunei_compat_311_close(const struct cunei_compat_311_opening *opening);
bool cunei_compat_311_is_opening(const cunei_compat_311_frame *frame);

/*
 * Set the frame that has just ended or yielded, NULL: none; returns the previous one.
 * Its instruction is still the yield.
 */
const cunei_compat_311_frame *cunei_compat_311_set_ending(
    const cunei_compat_311_frame *frame);
bool cunei_compat_311_is_ending(const cunei_compat_311_frame *frame);

#if PY_VERSION_HEX < 0x03090000
/* Let this interpreter free co_extra slots as the main one does. */
void cunei_compat_311_share_extra(Py_ssize_t first, Py_ssize_t count);
#endif

/* The main interpreter's frame evaluator. */
cunei_compat_311_evaluator cunei_compat_311_get_evaluator(void);
void cunei_compat_311_set_evaluator(cunei_compat_311_evaluator evaluator);

/* The frame behind a frame object. */
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

/* The caller of a running frame; NULL: none. */
static inline cunei_compat_311_frame *cunei_compat_311_below(
    const cunei_compat_311_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return frame->previous;
#else
    return frame->f_back;
#endif
}

/* Whether the interpreter calls the thread's hooks, or should. */
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
 * The thread has another hook, or none: let the interpreter look for it.  While a hook
 * runs, the interpreter does this afterwards.
 */
static inline void cunei_compat_311_update_tracing(PyThreadState *thread)
{
    if (!thread->tracing)
        cunei_compat_311_set_tracing(thread,
                                     thread->c_tracefunc || thread->c_profilefunc);
}

/* Set a thread's hook, or none; the functions of the API would notify audit hooks. */
void cunei_compat_311_set_profile(PyThreadState *thread, Py_tracefunc hook);

#if PY_VERSION_HEX < 0x030a0000
/*
 * So many more threads have a trace hook.  The interpreter looks for hooks only if this
 * counter is above 0; sys.settrace keeps it, and so must we.
 */
void cunei_compat_311_count_tracing(int more);
#endif

/* The same for the trace hook; call cunei_compat_311_update_tracing afterwards. */
static inline void cunei_compat_311_set_trace(PyThreadState *thread, Py_tracefunc hook)
{
#if PY_VERSION_HEX < 0x030a0000
    cunei_compat_311_count_tracing((hook != NULL) - (thread->c_tracefunc != NULL));
#endif
    thread->c_tracefunc = hook;
}

/* All threads with the hook `from` get `to`. */
void cunei_compat_311_replace_profile(Py_tracefunc from, Py_tracefunc to);
void cunei_compat_311_replace_trace(Py_tracefunc from, Py_tracefunc to);

/* The line of a frame, in a trace hook. */
static inline int cunei_compat_311_line(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return PyFrame_GetLineNumber(frame);
#else
    return frame->f_lineno; /* the function would search for it */
#endif
}

/*
 * Around code of the program that must have no events: neither for hooks nor for us.
 * Pass the value to `leave`.
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

/* Call hooks that the code has set. */
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

/* The same by the recursion counter, which also counts recursion in C. */
static inline int cunei_compat_311_depth(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    return thread->recursion_limit - thread->recursion_remaining;
#else
    return thread->recursion_depth;
#endif
}

/* Whether the next frame exceeds the limit: it ends with a RecursionError at once. */
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
