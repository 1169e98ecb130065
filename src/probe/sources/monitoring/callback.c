// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/monitoring/callback.h"

#include <stddef.h>

#include "probe/budget/budget.h"
#include "probe/budget/budget_hot.h"
#include "probe/code/code.h"
#include "probe/code/mute.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/hot.h"
#include "probe/core/sealed_type.h"
#include "probe/events/c_call.h"
#include "probe/events/exception_track.h"
#include "probe/events/function_event.h"
#include "probe/events/line_event.h"
#include "probe/events/process.h"
#include "probe/events/task.h"
#include "probe/sources/monitoring/exception_callbacks.h"
#include "probe/sources/monitoring/exception_infer.h"
#include "probe/user/region.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/event.h"

/* What the hot path leaves undone; the arguments are as they should be. */
typedef PyObject *cold_half(PyObject *self, PyObject *const *args);

struct callback {
    PyObject_HEAD vectorcallfunc call;
    vectorcallfunc hot; /* of `call`, which may be the same */
    Py_ssize_t extra_index;
    cold_half *cold; /* of `call` */
    bool extra_inline;
    enum cunei_phase phase;
    PyObject *disable;
    bool (*main_begins)(void);
};

/* `args` as sys.monitoring passes them; the first is `code`. */
typedef PyObject *callback_body(struct callback *self, PyCodeObject *code,
                                PyObject *const *args, Py_ssize_t count);

/* Write the event, and if lines are recorded, the line in which a frame resumes. */
static void write_event(struct callback *self, PyCodeObject *code, uint64_t tag,
                        PyObject *const *args, Py_ssize_t count)
{
    cunei_function_event_write(code, tag, self->phase, count > 2 ? args[2] : NULL);
    if (cunei_budget_is_due())
        cunei_budget_act(self->phase == CUNEI_PHASE_ENTER ||
                         self->phase == CUNEI_PHASE_RESUME);
    if (self->phase == CUNEI_PHASE_RESUME && count > 1 && PyLong_CheckExact(args[1]) &&
        cunei_code_flags(tag) & CUNEI_CODE_LINES)
        cunei_line_event_resume(code, tag, cunei_compat_small(args[1]));
}

static PyObject *record_body(struct callback *self, PyCodeObject *code,
                             PyObject *const *args, Py_ssize_t count)
{
    uint64_t tag = cunei_function_event_tag(code);

    if (tag && !(tag & CUNEI_CODE_OFF))
        write_event(self, code, tag, args, count);
    Py_RETURN_NONE;
}

/*
 * First sight of code whose local events are not on yet: selecting it switches them on,
 * but not for this very call, so its entry is written here.
 */
static PyObject *discover_body(struct callback *self, PyCodeObject *code,
                               PyObject *const *args, Py_ssize_t count)
{

    bool is_new = !cunei_code_is_seen(code);
    uint64_t tag = cunei_function_event_tag(code);

    /* What is not known yet has to be seen again. */
    if (tag == 0)
        Py_RETURN_NONE;
    if (is_new && !(tag & CUNEI_CODE_OFF))
        write_event(self, code, tag, args, count);
    return Py_NewRef(self->disable);
}

/* One tool id does discovery and recording: what is not selected is switched off. */
static PyObject *select_body(struct callback *self, PyCodeObject *code,
                             PyObject *const *args, Py_ssize_t count)
{
    uint64_t tag = cunei_function_event_tag(code);

    if (tag & CUNEI_CODE_OFF)
        return Py_NewRef(self->disable);
    if (tag)
        write_event(self, code, tag, args, count);
    Py_RETURN_NONE;
}

/* Code, offset, what is called, and its first argument. */
static PyObject *call_body(struct callback *self, PyCodeObject *code,
                           PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (count > 3)
        cunei_process_call(code, args[2], args[3]);
    Py_RETURN_NONE;
}

static PyObject *await_main_body(struct callback *self, PyCodeObject *code,
                                 PyObject *const *args, Py_ssize_t count)
{
    if (cunei_function_event_is_main(code)) {
        bool is_wanted = self->main_begins();
        (void)cunei_recorder_begin_event(); /* of the recording that has begun */
        if (is_wanted)
            (void)record_body(self, code, args, count);
    }
    Py_RETURN_NONE;
}

/*
 * Everything but the hot path: check the arguments, leave no exception behind. Inlined,
 * it would have the hot path save registers.
 */
static __attribute__((noinline)) PyObject *run_cold(PyObject *self,
                                                    PyObject *const *args, size_t count,
                                                    callback_body *body)
{
    /* Code that is not a CPython code object may fire events (PyMonitoring_Fire…). */
    if (PyVectorcall_NARGS(count) < 1 || !PyCode_Check(args[0]))
        Py_RETURN_NONE;
    struct cunei_cold_event event = cunei_process_begin_event((PyCodeObject *)args[0]);
    PyObject *result = body((struct callback *)self, (PyCodeObject *)args[0], args,
                            PyVectorcall_NARGS(count));
    cunei_cold_event_end(&event);
    return result;
}

#define COLD_CALLBACK(name)                                                         \
    static PyObject *on_##name(PyObject *self, PyObject *const *args, size_t count, \
                               PyObject *names)                                     \
    {                                                                               \
        (void)names;                                                                \
        return run_cold(self, args, count, name##_body);                            \
    }

COLD_CALLBACK(call)
COLD_CALLBACK(discover)
COLD_CALLBACK(await_main)

static uint64_t any_tag(PyObject *self, PyObject *const *args)
{
    struct callback *callback = (struct callback *)self;
    PyCodeObject *code = (PyCodeObject *)args[0];

    return callback->extra_inline ? cunei_code_extra_inline(code, callback->extra_index)
                                  : cunei_code_tag(code);
}

/*
 * Before 3.15 events of exceptions come from all code and cannot be disabled at one
 * place.  An unknown exception in code that is not recorded must cost next to nothing.
 */
static inline bool is_irrelevant(PyObject *self, PyObject *const *args, size_t count)
{
    return CUNEI_LIKELY(PyVectorcall_NARGS(count) >= 3 &&
                        Py_IS_TYPE(args[0], &PyCode_Type) &&
                        ((struct callback *)self)->extra_inline) &&
           cunei_code_is_silent(cunei_code_extra_inline(
               (PyCodeObject *)args[0], ((struct callback *)self)->extra_index)) &&
           !cunei_exception_track_may_be_known(args[2]);
}

/* The same at greater length, where other exceptions propagate. */
static bool is_unknown(PyObject *self, PyObject *const *args, size_t count)
{
    return PyVectorcall_NARGS(count) >= 3 && PyCode_Check(args[0]) &&
           cunei_code_is_silent(any_tag(self, args)) &&
           !cunei_exception_track_is_known(
               args[2],
               PyObject_TypeCheck(args[2], (PyTypeObject *)PyExc_BaseExceptionGroup));
}

static __attribute__((noinline)) PyObject *run_known(PyObject *self,
                                                     PyObject *const *args,
                                                     size_t count, callback_body *body)
{
    if (is_unknown(self, args, count))
        Py_RETURN_NONE;
    return run_cold(self, args, count, body);
}

#define EXCEPTION_CALLBACK(name, record)                                            \
    static PyObject *name##_body(struct callback *self, PyCodeObject *code,         \
                                 PyObject *const *args, Py_ssize_t count)           \
    {                                                                               \
        (void)self;                                                                 \
        if (count > 2 && PyExceptionInstance_Check(args[2]))                        \
            record(code, args[1], args[2]);                                         \
        Py_RETURN_NONE;                                                             \
    }                                                                               \
    static PyObject *on_##name(PyObject *self, PyObject *const *args, size_t count, \
                               PyObject *names)                                     \
    {                                                                               \
        (void)names;                                                                \
        if (CUNEI_COMPAT_HAS_GIL)                                                   \
            cunei_budget_hot.raised++;                                              \
        if (is_irrelevant(self, args, count))                                       \
            Py_RETURN_NONE;                                                         \
        return run_known(self, args, count, name##_body);                           \
    }

EXCEPTION_CALLBACK(unwind, cunei_exception_callbacks_unwind)
EXCEPTION_CALLBACK(raise, cunei_exception_callbacks_raise)
EXCEPTION_CALLBACK(reraise, cunei_exception_raised_again)
EXCEPTION_CALLBACK(handled, cunei_exception_handled)
EXCEPTION_CALLBACK(local_unwind, cunei_exception_callbacks_local_unwind)
EXCEPTION_CALLBACK(local_handled, cunei_exception_callbacks_local_handled)
EXCEPTION_CALLBACK(infer_unwind, cunei_exception_callbacks_infer_unwind)
EXCEPTION_CALLBACK(infer_handled, cunei_exception_callbacks_infer_handled)

/* Coroutines are cold for their tasks only, and what uses region_begin for regions that
 * outlive its frame: most of their events go a shorter way. */
static bool is_put(PyObject *self, uint64_t tag)
{
    struct callback *callback = (struct callback *)self;
    uint32_t flags = 0;

    uint32_t id = tag & CUNEI_CODE_COLD ? cunei_code_cold(tag, &flags) : 0;
    if (flags == CUNEI_CODE_REGIONS)
        return cunei_region_frame_put(id, callback->phase);
    return flags == CUNEI_CODE_COROUTINE && cunei_task_put(id, callback->phase);
}

/* Code and offset; a return or a yield also has a value. */
static inline Py_ssize_t wanted_count(enum cunei_phase phase)
{
    return phase == CUNEI_PHASE_LEAVE || phase == CUNEI_PHASE_YIELD ? 3 : 2;
}

static PyObject *run_cold_half(PyObject *self, PyObject *const *args, uint64_t tag,
                               callback_body *body)
{
    if (is_put(self, tag))
        Py_RETURN_NONE;
    return run_cold(self, args, (size_t)wanted_count(((struct callback *)self)->phase),
                    body);
}

/* Under a budget. */
static inline void count_event(uint64_t tag, enum cunei_phase phase)
{
    struct cunei_code_state *state = cunei_code_state(tag);

    if (phase == CUNEI_PHASE_ENTER)
        state->calls++;
    else if (phase == CUNEI_PHASE_RESUME)
        state->resumes++;
    if (cunei_budget_counts())
        cunei_budget_act(true);
}

/* Without a GIL, events of code that is not selected come here as well. */
static PyObject *record_cold(PyObject *self, PyObject *const *args)
{
    uint64_t tag = any_tag(self, args);

    if (!CUNEI_COMPAT_HAS_GIL && tag & CUNEI_CODE_OFF)
        return cunei_mute_event(tag, ((struct callback *)self)->disable);
    return run_cold_half(self, args, tag, record_body);
}

/* PY_THROW cannot be switched off at one place before 3.15. */
static PyObject *throw_cold(PyObject *self, PyObject *const *args)
{
    return run_cold_half(self, args, any_tag(self, args), record_body);
}

static PyObject *select_cold(PyObject *self, PyObject *const *args)
{
    return run_cold_half(self, args, any_tag(self, args), select_body);
}

/*
 * The hot path, for code whose tag has an id and a stream that has room: three loads
 * for the tag, the clock, the record, the content size.  Anything else is left to the
 * cold half.
 */
static inline __attribute__((always_inline)) PyObject *record_hot(
    PyObject *self, PyObject *const *args, size_t count, enum cunei_phase phase,
    bool counter, bool is_inline)
{
    /* Code that is not a CPython code object may fire events (PyMonitoring_Fire…). */
    if (!CUNEI_LIKELY(PyVectorcall_NARGS(count) >= wanted_count(phase) &&
                      Py_IS_TYPE(args[0], &PyCode_Type)))
        Py_RETURN_NONE;
    PyCodeObject *code = (PyCodeObject *)args[0];
    Py_ssize_t index = ((struct callback *)self)->extra_index;
    uint64_t tag = is_inline ? cunei_code_extra_inline(code, index)
                             : cunei_code_extra_call(code, index);
    if (!CUNEI_LIKELY(tag > CUNEI_TIME_MASK)) {
        if (tag & CUNEI_CODE_COUNTED) {
            count_event(tag, phase);
            Py_RETURN_NONE;
        }
        return ((struct callback *)self)->cold(self, args);
    }
    uint64_t now = counter ? cunei_clock_counter() : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;
    if (!CUNEI_LIKELY(cunei_stream_has_room(stream, now, 1)))
        return ((struct callback *)self)->cold(self, args);
    /* The word's upper bits and the time's lower ones, without two masks. */
    uint64_t record = ((now ^ tag) & CUNEI_TIME_MASK) ^ tag;
    cunei_stream_put(stream, now, record | (uint64_t)phase << CUNEI_PHASE_SHIFT);
    Py_RETURN_NONE;
}

#define HOT_CALLBACK(name, phase, counter, is_inline)                          \
    static PyObject *name(PyObject *self, PyObject *const *args, size_t count, \
                          PyObject *names)                                     \
    {                                                                          \
        (void)names;                                                           \
        return record_hot(self, args, count, phase, counter, is_inline);       \
    }

#define HOT_CALLBACKS(suffix, counter, is_inline)                                 \
    HOT_CALLBACK(enter_##suffix, CUNEI_PHASE_ENTER, counter, is_inline)           \
    HOT_CALLBACK(leave_##suffix, CUNEI_PHASE_LEAVE, counter, is_inline)           \
    HOT_CALLBACK(resume_##suffix, CUNEI_PHASE_RESUME, counter, is_inline)         \
    HOT_CALLBACK(yield_##suffix, CUNEI_PHASE_YIELD, counter, is_inline)           \
    static const vectorcallfunc hot_##suffix[] = {enter_##suffix, leave_##suffix, \
                                                  resume_##suffix, yield_##suffix};

HOT_CALLBACKS(counter_inline, true, true)
HOT_CALLBACKS(counter_call, true, false)
HOT_CALLBACKS(system_inline, false, true)
HOT_CALLBACKS(system_call, false, false)

static PyMemberDef members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(struct callback, call),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static void callback_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, members},
    {Py_tp_dealloc, callback_dealloc},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "cunei._probe.Callback",
    .basicsize = sizeof(struct callback),
    .flags = CUNEI_SEALED_TYPE_FLAGS | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = slots,
};

PyTypeObject *cunei_callback_type(PyObject *module)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

/* The callback of c_call.h or line_event.h for this kind; NULL: neither has one. */
static vectorcallfunc other_callback(enum cunei_callback_kind kind)
{
    if (kind == CUNEI_CALLBACK_LINE)
        return cunei_line_event_on_line();
    if (kind == CUNEI_CALLBACK_INSTRUCTION)
        return cunei_line_event_on_instruction();
    if (kind == CUNEI_CALLBACK_C_CALL)
        return cunei_c_call_on_call();
    if (kind == CUNEI_CALLBACK_C_RAISE)
        return cunei_c_call_on_raise();
    return kind == CUNEI_CALLBACK_C_RETURN ? cunei_c_call_on_return() : NULL;
}

static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t count,
                          PyObject *names)
{
    if (PyVectorcall_NARGS(count) >= 3 && Py_IS_TYPE(args[0], &PyCode_Type)) {
        cunei_exception_callbacks_throw(args[2]);
        if (any_tag(self, args) & CUNEI_CODE_OFF)
            cunei_exception_infer_thrown((PyCodeObject *)args[0], args[2]);
    }
    return ((struct callback *)self)->hot(self, args, count, names);
}

static vectorcallfunc hot_half(enum cunei_phase phase, bool is_inline)
{
    bool counter = cunei_clock_has_counter(NULL);
    return counter ? (is_inline ? hot_counter_inline : hot_counter_call)[phase]
                   : (is_inline ? hot_system_inline : hot_system_call)[phase];
}

PyObject *cunei_callback_new(PyTypeObject *type, enum cunei_callback_kind kind,
                             const struct cunei_callback_shared *shared)
{
    static const struct {
        enum cunei_phase phase;
        cold_half *cold;     /* of the hot path, where that is gone … */
        vectorcallfunc call; /* … unless by way of this */
    } kinds[CUNEI_CALLBACK_KINDS] = {
        [CUNEI_CALLBACK_ENTER] = {CUNEI_PHASE_ENTER, record_cold, NULL},
        [CUNEI_CALLBACK_LEAVE] = {CUNEI_PHASE_LEAVE, record_cold, NULL},
        [CUNEI_CALLBACK_RESUME] = {CUNEI_PHASE_RESUME, record_cold, NULL},
        [CUNEI_CALLBACK_YIELD] = {CUNEI_PHASE_YIELD, record_cold, NULL},
        [CUNEI_CALLBACK_THROW] = {CUNEI_PHASE_RESUME, throw_cold, on_throw},
        [CUNEI_CALLBACK_UNWIND] = {CUNEI_PHASE_LEAVE, NULL, on_unwind},
        [CUNEI_CALLBACK_RAISE] = {CUNEI_PHASE_LEAVE, NULL, on_raise},
        [CUNEI_CALLBACK_RERAISE] = {CUNEI_PHASE_LEAVE, NULL, on_reraise},
        [CUNEI_CALLBACK_HANDLED] = {CUNEI_PHASE_LEAVE, NULL, on_handled},
        [CUNEI_CALLBACK_LOCAL_UNWIND] = {CUNEI_PHASE_LEAVE, NULL, on_local_unwind},
        [CUNEI_CALLBACK_LOCAL_HANDLED] = {CUNEI_PHASE_LEAVE, NULL, on_local_handled},
        [CUNEI_CALLBACK_INFER_UNWIND] = {CUNEI_PHASE_LEAVE, NULL, on_infer_unwind},
        [CUNEI_CALLBACK_INFER_HANDLED] = {CUNEI_PHASE_LEAVE, NULL, on_infer_handled},
        [CUNEI_CALLBACK_CALL] = {CUNEI_PHASE_ENTER, NULL, on_call},
        [CUNEI_CALLBACK_SELECT_ENTER] = {CUNEI_PHASE_ENTER, select_cold, NULL},
        [CUNEI_CALLBACK_SELECT_RESUME] = {CUNEI_PHASE_RESUME, select_cold, NULL},
        [CUNEI_CALLBACK_DISCOVER_ENTER] = {CUNEI_PHASE_ENTER, NULL, on_discover},
        [CUNEI_CALLBACK_DISCOVER_RESUME] = {CUNEI_PHASE_RESUME, NULL, on_discover},
        [CUNEI_CALLBACK_AWAIT_MAIN] = {CUNEI_PHASE_ENTER, NULL, on_await_main},
    };
    struct callback *callback = PyObject_New(struct callback, type);

    if (!callback)
        return NULL;
    callback->cold = kinds[kind].cold;
    callback->hot = hot_half(kinds[kind].phase, shared->extra_inline);
    callback->call = other_callback(kind);
    if (!callback->call)
        callback->call = kinds[kind].call ? kinds[kind].call : callback->hot;
    callback->extra_index = shared->extra_index;
    callback->extra_inline = shared->extra_inline;
    callback->phase = kinds[kind].phase;
    callback->disable = shared->disable;
    callback->main_begins = shared->main_begins;
    return (PyObject *)callback;
}
