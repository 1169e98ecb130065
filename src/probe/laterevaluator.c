// SPDX-License-Identifier: MIT
/* The evaluator of frames for CPython 3.12 and later. */
#include <Python.h>

#include <stdint.h>

#include "probe/code.h"
#include "probe/compat.h"
#include "probe/evaluator.h"
#include "probe/event.h"
#include "probe/extra.h"
#include "probe/foreign.h"
#include "probe/greenlet.h"
#include "probe/later.h"
#include "probe/laterdeep.h"
#include "probe/lateropen.h"
#include "probe/process.h"
#include "probe/wayout.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/stream.h"
#include "wire/reason.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

#define GENERATES (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)

static struct {
    struct cunei_source source;
    Py_ssize_t extra_index;
    bool extra_inline;
    bool (*main_begins)(void);
    _PyFrameEvalFunction installed; /* of ours; NULL: none */
    _PyFrameEvalFunction before;    /* whose place it has */
    bool awaits;                    /* that __main__ begins */
    bool has_counter;               /* see rt/clock.h */
    unsigned recording;             /* that is on; 0: none */
    unsigned recordings;            /* so far */
} own;

/* The recording in which the innermost frame of the calling thread was entered. */
static __attribute__((tls_model("initial-exec"))) _Thread_local unsigned entered;

static inline uint64_t word_of(PyCodeObject *code)
{
    return own.extra_inline ? cunei_extra_inline(code, own.extra_index)
                            : cunei_code_word(code);
}

/* Whether it could be written at once: a word with an id, a stream with room. */
static inline bool put(uint64_t word, enum cunei_phase phase)
{
    uint64_t now = LIKELY(own.has_counter) ? cunei_clock_counter()
                                           : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;

    if (!LIKELY(word > CUNEI_TIME_MASK && cunei_stream_has_room(stream, now, 1)))
        return false;
    uint64_t record = ((now ^ word) & CUNEI_TIME_MASK) ^ word;
    cunei_stream_put(stream, now, record | (uint64_t)phase << CUNEI_PHASE_SHIFT);
    return true;
}

/* Everything but the hot path.  There is an exception where one is thrown into it. */
static __attribute__((noinline, cold)) void tell_start(PyThreadState *thread,
                                                       struct cunei_later_frame *frame,
                                                       enum cunei_phase phase)
{
    PyCodeObject *code = cunei_later_code(frame);
    struct cunei_compat_error error = cunei_compat_put_aside();
    const void *outer = cunei_later_own.opening;

    cunei_process_event(code); /* another recording may begin with this event */
    struct cunei_later_pushed pushed = cunei_later_push(thread, frame);
    cunei_later_own.opening = frame;
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_event_word(code);
    if (word && !(word & CUNEI_CODE_OFF))
        cunei_event_write(code, word, phase, NULL);
    cunei_recorder_end_event(before);
    cunei_later_own.opening = outer;
    cunei_later_pop(thread, &pushed);
    cunei_compat_put_back(&error);
}

/* `result` NULL: by the exception that is set. */
static __attribute__((noinline, cold)) void tell_end(const void *frame,
                                                     PyCodeObject *code,
                                                     enum cunei_phase phase,
                                                     PyObject *result)
{
    struct cunei_compat_error error = cunei_compat_put_aside();
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_code_word(code);

    cunei_later_own.leaving = frame;
    cunei_later_own.function = cunei_code_id(word);
    if (word == 0)
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
    else if (!(word & CUNEI_CODE_OFF) && result)
        cunei_event_write(code, word, phase, result);
    else if (!(word & CUNEI_CODE_OFF))
        cunei_event_unwind(
            code, word, error.exception ? Py_TYPE(error.exception) : NULL, NULL, NULL);
    cunei_later_own.leaving = NULL;
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&error);
}

/* Let the frame run; it is gone then, unless it is a generator's. */
static PyObject *run(PyThreadState *thread, struct cunei_later_frame *frame, int throws)
{
    return cunei_laterdeep_run(thread, frame, throws, own.before);
}

static inline PyObject *record_entered(PyThreadState *thread,
                                       struct cunei_later_frame *frame,
                                       PyCodeObject *code, int throws)
{
    bool generates = code->co_flags & GENERATES;
    unsigned recording = own.recording;
    uint64_t word = word_of(code);

    if (word & CUNEI_CODE_OFF)
        return run(thread, frame, throws);
    enum cunei_phase phase = generates && (throws || cunei_later_is_suspended(frame))
                                 ? CUNEI_PHASE_RESUME
                                 : CUNEI_PHASE_ENTER;
    if (!LIKELY(put(word, phase)))
        tell_start(thread, frame, phase);
    PyObject *result = run(thread, frame, throws);
    if (!LIKELY(own.recording == recording))
        return result;
    if (!LIKELY(result)) {
        tell_end(frame, code, CUNEI_PHASE_LEAVE, NULL);
        return NULL;
    }
    phase = generates && cunei_later_is_suspended(frame) ? CUNEI_PHASE_YIELD
                                                         : CUNEI_PHASE_LEAVE;
    if (!LIKELY(put(word_of(code), phase)))
        tell_end(frame, code, phase, result);
    return result;
}

/* Whether a recording begins with this frame. */
static bool begins_main(PyThreadState *thread, struct cunei_later_frame *frame)
{
    struct cunei_later_pushed pushed = cunei_later_push(thread, frame);
    bool is_main = own.awaits && cunei_event_is_main(cunei_later_code(frame));

    cunei_later_pop(thread, &pushed);
    if (!is_main)
        return false;
    own.awaits = false;
    (void)own.main_begins();
    return own.recording;
}

/* Whether the next frame is one too many: it ends by a RecursionError at once. */
static inline bool is_too_deep(const PyThreadState *thread)
{
    return thread->py_recursion_remaining <= 0 && !thread->recursion_headroom;
}

/* What the interpreter calls.  What hooks run is not heard of. */
static PyObject *record_frame(PyThreadState *thread, struct _PyInterpreterFrame *given,
                              int throws)
{
    struct cunei_later_frame *frame = (struct cunei_later_frame *)given;
    PyCodeObject *code = cunei_later_code(frame);
    bool only_makes = code->co_flags & GENERATES && cunei_later_only_makes(frame);

    if (!LIKELY(own.recording) && own.awaits && !only_makes)
        (void)begins_main(thread, frame);
    if (!LIKELY(own.recording && !only_makes && !thread->tracing &&
                !is_too_deep(thread)))
        return run(thread, frame, throws);
    unsigned outer = entered;
    if (!LIKELY(outer == own.recording))
        cunei_lateropen_catch_up(thread);
    entered = own.recording;
    Py_INCREF(code);
    PyObject *result = record_entered(thread, frame, code, throws);
    Py_DECREF(code);
    entered = outer;
    return result;
}

static _PyFrameEvalFunction get_evaluator(void)
{
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main());
}

static void set_evaluator(_PyFrameEvalFunction function)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Main(), function);
}

/* -1 with an exception set; nothing where it is 0. */
static int refuse(int reason)
{
    own.source.refusal = reason;
    if (reason == 0)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, cunei_reason_text(reason));
    return -1;
}

/* One that was installed above ours goes on calling it: it must not be above both. */
static void install(void)
{
    _PyFrameEvalFunction now = get_evaluator();

    if (own.installed && now != _PyEval_EvalFrameDefault)
        return;
    own.before = now;
    set_evaluator(record_frame);
    own.installed = record_frame;
}

/* -1 with an exception set: there must be none above what is installed. */
static int check(void)
{
    return refuse(cunei_foreign_refusal((const void *)(uintptr_t)get_evaluator()));
}

static int take(struct cunei_source *source, bool selective)
{
    (void)selective;
    if (check() < 0)
        return -1;
    source->is_taken = true;
    return 0;
}

static int await_main(struct cunei_source *source)
{
    (void)source;
    install();
    own.awaits = true;
    return 0;
}

static int prepare(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    return check();
}

static int record(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    install();
    cunei_later_is_on = true;
    cunei_lateropen_begin();
    own.recording = ++own.recordings;
    cunei_wayout_watch();
    return 0;
}

/* Where another has taken our place since, it goes on calling us. */
static void pause_events(struct cunei_source *source)
{
    (void)source;
    if (own.recording) {
        if (entered != own.recording)
            cunei_lateropen_catch_up(PyThreadState_Get());
        cunei_lateropen_end();
    }
    own.recording = 0;
    own.awaits = cunei_later_is_on = false;
    cunei_wayout_unwatch();
    if (get_evaluator() != record_frame)
        return;
    set_evaluator(own.before);
    own.installed = NULL;
}

static void release(struct cunei_source *source)
{
    if (source->is_taken)
        pause_events(source);
    source->is_taken = false;
}

static int count_others(struct cunei_source *source)
{
    _PyFrameEvalFunction now = get_evaluator();

    (void)source;
    return now != record_frame && now != _PyEval_EvalFrameDefault;
}

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .release = release,
    .count_others = count_others,
};

struct cunei_source *cunei_evaluator_open(Py_ssize_t extra_index, bool extra_inline,
                                          bool (*main_begins)(void))
{
    own.source.methods = &methods;
    own.extra_index = extra_index;
    own.extra_inline = extra_inline;
    own.main_begins = main_begins;
    own.has_counter = cunei_clock_has_counter(NULL);
    return &own.source;
}
