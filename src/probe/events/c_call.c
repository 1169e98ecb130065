// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/c_call.h"

#include <stdatomic.h>

#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/code/mute.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/hot.h"
#include "probe/core/write.h"
#include "probe/events/c_call_thread.h"
#include "probe/events/c_function.h"
#include "probe/events/process.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/event.h"

#define LOOK_AHEAD 256u

/* Calls of this code take the cold path. */
#define SPECIAL (CUNEI_CODE_OFF | CUNEI_CODE_STALE | CUNEI_CODE_WATCHED)

static _Atomic uint64_t recording = 1; /* the number of the current one */
static Py_ssize_t extra_index;
static bool extra_inline;
static bool reads_frames; /* cunei_frame_of can be used */
static const PyObject *missing;
static PyObject *disable;
static vectorcallfunc hook_call, hook_return;

void cunei_c_call_init(Py_ssize_t index, bool is_inline, PyObject *no_argument,
                       PyObject *switch_off)
{
    disable = switch_off;
    extra_index = index;
    extra_inline = is_inline;
    missing = no_argument;
    hook_call = cunei_c_call_on_call();
    hook_return = cunei_c_call_on_return();
}

void cunei_c_call_reset(void)
{
    reads_frames = cunei_frame_is_readable();
    atomic_fetch_add_explicit(&recording, 1, memory_order_relaxed);
}

static inline bool is_current(const struct cunei_c_call_thread *thread)
{
    return thread->recording == atomic_load_explicit(&recording, memory_order_relaxed);
}

/* A builtin function or method. */
static inline void take_builtin(PyObject *callable, struct cunei_c_function *function)
{
    PyObject *self = ((PyCFunctionObject *)callable)->m_self;

    function->method = ((PyCFunctionObject *)callable)->m_ml;
    if (!self)
        function->owner = Py_TYPE(callable);
    else
        function->owner = PyType_Check(self) ? (PyTypeObject *)self : Py_TYPE(self);
}

/* A method of a type, called with an object. */
static inline void take_method(PyObject *callable, struct cunei_c_function *function)
{
    function->owner = PyDescr_TYPE(callable);
    function->method = ((PyMethodDescrObject *)callable)->d_method;
}

/* Whether the callable is a C function, by the rules of cProfile. */
static bool find_function(PyObject *callable, PyObject *argument,
                          struct cunei_c_function *function)
{
    if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
        take_method(callable, function);
        return argument != missing && PyObject_TypeCheck(argument, function->owner);
    }
    if (!PyCFunction_Check(callable))
        return false;
    take_builtin(callable, function);
    return true;
}

/* The types of most callables that are not C functions; a subtype check takes long. */
static inline bool is_common(const PyTypeObject *type)
{
    return type == &PyFunction_Type || type == &PyType_Type || type == &PyMethod_Type;
}

static inline bool is_valid(uint64_t tag, const PyTypeObject *owner)
{
    return tag & CUNEI_C_CALL_FOREVER ||
           (uint32_t)tag == cunei_compat_type_version(owner);
}

/* The bits of a tag besides the version; 0: there is no id. */
static uint64_t tag_of(uint32_t id, bool off, enum cunei_c_function_life life)
{
    uint64_t ever = life == CUNEI_C_FUNCTION_FOREVER ? CUNEI_C_CALL_FOREVER : 0;

    if (id == 0 && !off)
        return 0;
    if (id >= CUNEI_FUNCTION_CLASS_END || life == CUNEI_C_FUNCTION_BY_TEXT)
        return CUNEI_CODE_COLD | ever;
    if (off)
        return CUNEI_CODE_OFF | ever;
    return (uint64_t)id << CUNEI_CLASS_SHIFT | ever;
}

/*
 * What is known of the function; a tag of 0: it has no id.  It is kept if the same key
 * finds it again.
 */
static struct cunei_c_call_thread_known resolve(struct cunei_c_call_thread *thread,
                                                const struct cunei_c_function *function)
{
    struct cunei_c_call_thread_known known =
        *cunei_c_call_thread_find(thread, function->method, function->owner);
    enum cunei_c_function_life life;
    bool off = false;

    if (known.tag && is_valid(known.tag, function->owner) &&
        (!known.text || cunei_c_function_has_text(function, known.text)))
        return known;
    known = (struct cunei_c_call_thread_known){.method = function->method,
                                               .owner = function->owner};
    known.id = cunei_c_function_define(function, &off, &life);
    known.tag = tag_of(known.id, off, life);
    if (known.tag == 0 || life == CUNEI_C_FUNCTION_ONCE)
        return known;
    known.tag |= cunei_compat_type_version(function->owner);
    if (life == CUNEI_C_FUNCTION_BY_TEXT)
        known.text = cunei_c_function_text(function);
    if (known.text || life != CUNEI_C_FUNCTION_BY_TEXT)
        cunei_c_call_thread_add(thread, &known);
    return known;
}

/* The calling frame is on top, and entered. */
static void write_event(uint32_t id, enum cunei_phase phase)
{
    bool is_class = id < CUNEI_FUNCTION_CLASS_END;
    uint64_t words[] = {cunei_record(0, is_class ? id : CUNEI_CLASS_CALL, phase), id};

    cunei_write_words(words, is_class ? 1 : 2, true);
}

static bool is_off(const struct cunei_c_call_thread_known *known)
{
    return known->tag && !known->id;
}

static void enter_cold(const struct cunei_c_function *function)
{
    struct cunei_c_call_thread *thread =
        cunei_c_call_thread_get(atomic_load_explicit(&recording, memory_order_relaxed));
    struct cunei_c_call_thread_known known = {0};

    if (thread)
        known = resolve(thread, function);
    if (is_off(&known))
        return;
    struct cunei_c_call_thread_open open = {
        .frame = cunei_frame_running(PyThreadState_Get()),
        .tag = known.id < CUNEI_FUNCTION_CLASS_END
                   ? (uint64_t)known.id << CUNEI_CLASS_SHIFT
                   : known.id,
    };
    /* A packet that begins with this event has the stack before the call. */
    if (known.tag)
        write_event(known.id, CUNEI_PHASE_ENTER);
    if (!known.tag || !cunei_c_call_thread_push(thread, &open))
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
}

static __attribute__((noinline, cold)) PyObject *call_cold(PyObject *const *args)
{
    PyCodeObject *code = (PyCodeObject *)args[0];
    struct cunei_c_function function = {.callable = args[2]};
    struct cunei_cold_event event = cunei_process_begin_event(code);
    uint64_t tag = cunei_code_resolve(code, cunei_frames_globals());
    if (tag && !(tag & CUNEI_CODE_OFF) && find_function(args[2], args[3], &function))
        enter_cold(&function);
    if (tag & CUNEI_CODE_WATCHED && args[3])
        cunei_process_call(code, args[2], args[3]);
    cunei_cold_event_end(&event);
    Py_RETURN_NONE;
}

static uint32_t id_of(const struct cunei_c_call_thread_open *open)
{
    return open->tag > CUNEI_TIME_MASK ? cunei_record_class(open->tag)
                                       : (uint32_t)open->tag;
}

/* Calls above it belong to another greenlet of this thread. */
static void leave(struct cunei_c_call_thread *thread,
                  struct cunei_c_call_thread_open *open, bool raises)
{
    if (raises)
        cunei_write_unwind(id_of(open), CUNEI_PHASE_ENTER, 0);
    else
        write_event(id_of(open), CUNEI_PHASE_LEAVE);
    cunei_c_call_thread_remove(thread, open);
}

static __attribute__((noinline, cold)) PyObject *end_cold(PyObject *const *args,
                                                          bool raises)
{
    struct cunei_c_function function = {.callable = args[2]};
    struct cunei_c_call_thread *thread = cunei_c_call_thread_own;
    struct cunei_cold_event event = cunei_process_begin_event((PyCodeObject *)args[0]);
    if (is_current(thread) && find_function(args[2], args[3], &function) &&
        !is_off(cunei_c_call_thread_find(thread, function.method, function.owner))) {
        struct cunei_c_call_thread_open *open = cunei_c_call_thread_find_open(
            thread, cunei_frame_running(PyThreadState_Get()));
        if (open)
            leave(thread, open, raises);
    }
    cunei_cold_event_end(&event);
    Py_RETURN_NONE;
}

bool cunei_c_call_is_inside(const void *frame)
{
    const struct cunei_c_call_thread *thread = cunei_c_call_thread_own;

    return is_current(thread) && thread->top->frame == frame;
}

/* The innermost open call of the frame; those of other greenlets may be above it. */
static struct cunei_c_call_thread_open *find_near(const void *frame)
{
    const struct cunei_c_call_thread *thread = cunei_c_call_thread_own;

    if (!is_current(thread))
        return NULL;
    for (struct cunei_c_call_thread_open *open = thread->top;
         open > thread->opens && thread->top - open < LOOK_AHEAD; open--) {
        if (open->frame == frame)
            return open;
    }
    return NULL;
}

static void leave_all(const void *frame, bool raises)
{
    struct cunei_c_call_thread_open *open;

    while ((open = find_near(frame)))
        leave(cunei_c_call_thread_own, open, raises);
}

void cunei_c_call_unwind(void)
{
    leave_all(cunei_frame_running(PyThreadState_Get()), true);
}

void cunei_c_call_close(const void *frame)
{
    leave_all(frame, false);
}

uint32_t cunei_c_call_next(struct cunei_c_call_walk *walk, PyFrameObject *frame)
{
    const struct cunei_c_call_thread *thread = cunei_c_call_thread_own;
    const void *wanted = cunei_frame_of(frame);

    if (!is_current(thread) || !reads_frames)
        return 0;
    size_t count = (size_t)(thread->top - thread->opens);
    if (walk->frame != wanted) {
        walk->frame = wanted;
        walk->from = walk->passed;
    }
    /*
     * The next call is this frame's, or this frame has none.  Only greenlets mix calls.
     */
    for (size_t i = walk->from; i < count && i < walk->passed + LOOK_AHEAD; i++) {
        if (thread->top[-(ptrdiff_t)i].frame != wanted)
            continue;
        walk->from = i + 1;
        walk->passed += i == walk->passed;
        return id_of(&thread->top[-(ptrdiff_t)i]);
    }
    return 0;
}

size_t cunei_c_call_left(const struct cunei_c_call_walk *walk)
{
    const struct cunei_c_call_thread *thread = cunei_c_call_thread_own;

    return is_current(thread) ? (size_t)(thread->top - thread->opens) - walk->passed
                              : 0;
}

/*
 * The hot path of an entry: the code is selected, the function is known, the stream and
 * the list of open calls have room.  Otherwise the cold path is taken.
 */
static inline __attribute__((always_inline)) PyObject *enter_hot(
    PyObject *const *args, const struct cunei_c_function *function, bool counter)
{
    const void *frame = cunei_frame_running(PyThreadState_GetUnchecked());
    struct cunei_c_call_thread *thread = cunei_c_call_thread_own;
    uint64_t tag =
        cunei_c_call_thread_find(thread, function->method, function->owner)->tag;
    uint64_t now = counter ? cunei_clock_counter() : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;
    struct cunei_c_call_thread_open *top = thread->top + 1;

    if (!CUNEI_LIKELY(is_current(thread) && is_valid(tag, function->owner)))
        return call_cold(args);
    if (!CUNEI_LIKELY(tag > CUNEI_TIME_MASK && top <= thread->last &&
                      cunei_stream_has_room(stream, now, 1)))
        return tag & CUNEI_CODE_OFF ? Py_NewRef(Py_None) : call_cold(args);
    top->frame = frame;
    top->tag = tag;
    thread->top = top;
    uint64_t record = ((now ^ tag) & CUNEI_TIME_MASK) ^ tag;
    cunei_stream_put(stream, now,
                     record | (uint64_t)CUNEI_PHASE_ENTER << CUNEI_PHASE_SHIFT);
    Py_RETURN_NONE;
}

/* A method of a base type, or not a C function. */
static __attribute__((noinline)) PyObject *call_other(PyObject *const *args,
                                                      bool counter)
{
    struct cunei_c_function function;

    if (!find_function(args[2], args[3], &function))
        Py_RETURN_NONE;
    return counter ? enter_hot(args, &function, true)
                   : enter_hot(args, &function, false);
}

static inline __attribute__((always_inline)) PyObject *call_hot(PyObject *const *args,
                                                                size_t count,
                                                                bool counter,
                                                                bool is_inline)
{
    struct cunei_c_function function;

    if (!CUNEI_LIKELY(PyVectorcall_NARGS(count) >= 4 &&
                      Py_IS_TYPE(args[0], &PyCode_Type)))
        Py_RETURN_NONE;
    PyCodeObject *code = (PyCodeObject *)args[0];
    uint64_t code_tag = is_inline ? cunei_code_extra_inline(code, extra_index)
                                  : cunei_code_extra_call(code, extra_index);
    if (!CUNEI_LIKELY(code_tag && !(code_tag & SPECIAL)))
        return !CUNEI_COMPAT_HAS_GIL && (code_tag & SPECIAL) == CUNEI_CODE_OFF
                   ? cunei_mute_event(code_tag, disable)
                   : call_cold(args);
    PyTypeObject *type = Py_TYPE(args[2]);
    if (is_common(type))
        Py_RETURN_NONE;
    if (type == &PyCFunction_Type)
        take_builtin(args[2], &function);
    else if (type == &PyMethodDescr_Type && args[3] != missing &&
             Py_IS_TYPE(args[3], PyDescr_TYPE(args[2])))
        take_method(args[2], &function);
    else
        return call_other(args, counter);
    return enter_hot(args, &function, counter);
}

/*
 * The hot path of a leave.  The innermost open call is this frame's, or this frame has
 * none: then what returned was not a C function, or is not recorded.
 */
static inline __attribute__((always_inline)) PyObject *return_hot(PyObject *const *args,
                                                                  size_t count,
                                                                  bool counter)
{
    if (!CUNEI_LIKELY(PyVectorcall_NARGS(count) >= 4) || is_common(Py_TYPE(args[2])))
        Py_RETURN_NONE;
    const void *frame = cunei_frame_running(PyThreadState_GetUnchecked());
    struct cunei_c_call_thread *thread = cunei_c_call_thread_own;
    struct cunei_c_call_thread_open *top = thread->top;
    uint64_t now = counter ? cunei_clock_counter() : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;
    uint64_t tag = top->tag;

    if (!CUNEI_LIKELY(top->frame == frame && is_current(thread) &&
                      tag > CUNEI_TIME_MASK && cunei_stream_has_room(stream, now, 1)))
        return end_cold(args, false);
    thread->top = top - 1;
    uint64_t record = ((now ^ tag) & CUNEI_TIME_MASK) ^ tag;
    cunei_stream_put(stream, now,
                     record | (uint64_t)CUNEI_PHASE_LEAVE << CUNEI_PHASE_SHIFT);
    Py_RETURN_NONE;
}

/* With an exception, time is not that short. */
static inline PyObject *raise_any(PyObject *const *args, size_t count)
{
    if (PyVectorcall_NARGS(count) < 4 || !PyCode_Check(args[0]) ||
        is_common(Py_TYPE(args[2])))
        Py_RETURN_NONE;
    return end_cold(args, true);
}

#define CALLBACK(name, body)                                                   \
    static PyObject *name(PyObject *self, PyObject *const *args, size_t count, \
                          PyObject *names)                                     \
    {                                                                          \
        (void)self;                                                            \
        (void)names;                                                           \
        return body;                                                           \
    }

CALLBACK(call_counter_inline, call_hot(args, count, true, true))
CALLBACK(call_counter_call, call_hot(args, count, true, false))
CALLBACK(call_system_inline, call_hot(args, count, false, true))
CALLBACK(call_system_call, call_hot(args, count, false, false))
CALLBACK(return_counter, return_hot(args, count, true))
CALLBACK(return_system, return_hot(args, count, false))
CALLBACK(on_raise, raise_any(args, count))

vectorcallfunc cunei_c_call_on_call(void)
{
    if (cunei_clock_has_counter(NULL))
        return extra_inline ? call_counter_inline : call_counter_call;
    return extra_inline ? call_system_inline : call_system_call;
}

vectorcallfunc cunei_c_call_on_return(void)
{
    return cunei_clock_has_counter(NULL) ? return_counter : return_system;
}

vectorcallfunc cunei_c_call_on_raise(void)
{
    return on_raise;
}

/*
 * From a profile hook.  Another tool may have had the hook when the frame's last call
 * returned: a frame is in one call at a time.
 */
void cunei_c_call_enter(PyCodeObject *code, PyObject *callable)
{
    PyObject *args[] = {(PyObject *)code, Py_None, callable, Py_None};
    const void *frame = cunei_frame_running(PyThreadState_GetUnchecked());

    if (cunei_c_call_is_inside(frame))
        cunei_c_call_close(frame);
    /* Code that has a tag, but is not recorded. */
    uint64_t tag = extra_inline ? cunei_code_extra_inline(code, extra_index)
                                : cunei_code_extra_call(code, extra_index);
    if (tag & CUNEI_CODE_COLD && cunei_code_id(tag) == 0)
        return;
    Py_DECREF(hook_call(NULL, args, 4, NULL));
}

void cunei_c_call_leave(PyCodeObject *code, PyObject *callable, bool raises)
{
    PyObject *args[] = {(PyObject *)code, Py_None, callable, Py_None};

    Py_DECREF((raises ? on_raise : hook_return)(NULL, args, 4, NULL));
}
