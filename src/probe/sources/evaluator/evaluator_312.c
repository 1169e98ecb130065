// SPDX-License-Identifier: MIT
/* The evaluator of frames for CPython 3.12 and later. */
#include <Python.h>

#include <stdint.h>

#include "probe/code/code.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/frame_312.h"
#include "probe/core/hot.h"
#include "probe/events/exit_hooks.h"
#include "probe/events/function_event.h"
#include "probe/events/greenlet.h"
#include "probe/events/process.h"
#include "probe/sources/evaluator/evaluator.h"
#include "probe/sources/evaluator/evaluator_slot.h"
#include "probe/sources/evaluator/open_frames_312.h"
#include "probe/sources/evaluator/stack_segment_312.h"
#include "rt/clock.h"
#include "rt/recorder.h"

static struct {
    struct cunei_evaluator_slot place;
    Py_ssize_t extra_index;
    bool extra_inline;
    bool (*main_begins)(void);
    bool awaits;         /* that __main__ begins */
    bool has_counter;    /* see rt/clock.h */
    unsigned recording;  /* that is on; 0: none */
    unsigned recordings; /* so far */
} own;

/* The recording in which the innermost frame of the calling thread was entered. */
static __attribute__((tls_model("initial-exec"))) _Thread_local unsigned entered;

static inline uint64_t word_of(PyCodeObject *code)
{
    return own.extra_inline ? cunei_code_extra_inline(code, own.extra_index)
                            : cunei_code_word(code);
}

/* Everything but the hot path.  There is an exception where one is thrown into it. */
static __attribute__((noinline, cold)) void tell_start(
    PyThreadState *thread, struct cunei_frame_312_frame *frame, enum cunei_phase phase)
{
    PyCodeObject *code = cunei_frame_312_code(frame);
    struct cunei_compat_error error = cunei_compat_put_aside();
    const void *outer = cunei_frame_312_own.opening;

    cunei_process_event(code); /* another recording may begin with this event */
    struct cunei_frame_312_pushed pushed = cunei_frame_312_push(thread, frame);
    cunei_frame_312_own.opening = frame;
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_function_event_word(code);
    if (word && !(word & CUNEI_CODE_OFF))
        cunei_function_event_write(code, word, phase, NULL);
    cunei_recorder_end_event(before);
    cunei_frame_312_own.opening = outer;
    cunei_frame_312_pop(thread, &pushed);
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

    cunei_frame_312_own.leaving = frame;
    cunei_frame_312_own.function = cunei_code_id(word);
    if (word == 0)
        cunei_recorder_lose(CUNEI_LIVE_LOST_NO_FUNCTION);
    else if (!(word & CUNEI_CODE_OFF) && result)
        cunei_function_event_write(code, word, phase, result);
    else if (!(word & CUNEI_CODE_OFF))
        cunei_function_event_unwind(
            code, word, error.exception ? Py_TYPE(error.exception) : NULL, NULL, NULL);
    cunei_frame_312_own.leaving = NULL;
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&error);
}

/* Let the frame run; it is gone then, unless it is a generator's. */
static PyObject *run(PyThreadState *thread, struct cunei_frame_312_frame *frame,
                     int throws)
{
    return cunei_laterdeep_run(thread, frame, throws, own.place.before);
}

static inline PyObject *record_entered(PyThreadState *thread,
                                       struct cunei_frame_312_frame *frame,
                                       PyCodeObject *code, int throws)
{
    bool generates = code->co_flags & CUNEI_GENERATES;
    unsigned recording = own.recording;
    uint64_t word = word_of(code);

    if (word & CUNEI_CODE_OFF)
        return run(thread, frame, throws);
    enum cunei_phase phase =
        generates && (throws || cunei_frame_312_is_suspended(frame))
            ? CUNEI_PHASE_RESUME
            : CUNEI_PHASE_ENTER;
    if (!CUNEI_LIKELY(cunei_hot_put(word, phase, own.has_counter)))
        tell_start(thread, frame, phase);
    PyObject *result = run(thread, frame, throws);
    if (!CUNEI_LIKELY(own.recording == recording))
        return result;
    if (!CUNEI_LIKELY(result)) {
        tell_end(frame, code, CUNEI_PHASE_LEAVE, NULL);
        return NULL;
    }
    phase = generates && cunei_frame_312_is_suspended(frame) ? CUNEI_PHASE_YIELD
                                                             : CUNEI_PHASE_LEAVE;
    if (!CUNEI_LIKELY(cunei_hot_put(word_of(code), phase, own.has_counter)))
        tell_end(frame, code, phase, result);
    return result;
}

/* Whether a recording begins with this frame. */
static bool begins_main(PyThreadState *thread, struct cunei_frame_312_frame *frame)
{
    struct cunei_frame_312_pushed pushed = cunei_frame_312_push(thread, frame);
    bool is_main =
        own.awaits && cunei_function_event_is_main(cunei_frame_312_code(frame));

    cunei_frame_312_pop(thread, &pushed);
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
    struct cunei_frame_312_frame *frame = (struct cunei_frame_312_frame *)given;
    PyCodeObject *code = cunei_frame_312_code(frame);
    bool only_makes =
        code->co_flags & CUNEI_GENERATES && cunei_frame_312_only_makes(frame);

    if (!CUNEI_LIKELY(own.recording) && own.awaits && !only_makes)
        (void)begins_main(thread, frame);
    if (!CUNEI_LIKELY(own.recording && !only_makes && !thread->tracing &&
                      !is_too_deep(thread)))
        return run(thread, frame, throws);
    unsigned outer = entered;
    if (!CUNEI_LIKELY(outer == own.recording))
        cunei_lateropen_catch_up(thread);
    entered = own.recording;
    Py_INCREF(code);
    PyObject *result = record_entered(thread, frame, code, throws);
    Py_DECREF(code);
    entered = outer;
    return result;
}

static int await_main(struct cunei_source *source)
{
    (void)source;
    if (cunei_evaluator_slot_install(&own.place, record_frame) < 0)
        return -1;
    own.awaits = true;
    return 0;
}

static int record(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    if (cunei_evaluator_slot_install(&own.place, record_frame) < 0)
        return -1;
    cunei_frame_312_is_on = true;
    cunei_lateropen_begin();
    own.recording = ++own.recordings;
    cunei_exit_hooks_watch();
    return 0;
}

static void pause_events(struct cunei_source *source)
{
    (void)source;
    if (own.recording) {
        if (entered != own.recording)
            cunei_lateropen_catch_up(PyThreadState_Get());
        cunei_lateropen_end();
    }
    own.recording = 0;
    own.awaits = cunei_frame_312_is_on = false;
    cunei_exit_hooks_unwatch();
    cunei_evaluator_slot_leave(&own.place);
}

static const struct cunei_source_methods methods = {
    .take = cunei_evaluator_slot_take,
    .await_main = await_main,
    .prepare = cunei_evaluator_slot_prepare,
    .record = record,
    .pause = pause_events,
    .release = cunei_evaluator_slot_release,
    .count_others = cunei_evaluator_slot_count_others,
    .tell_losses = cunei_evaluator_slot_tell_losses,
};

struct cunei_source *cunei_evaluator_open(Py_ssize_t extra_index, bool extra_inline,
                                          bool (*main_begins)(void))
{
    own.place.source.methods = &methods;
    own.place.ours[0] = record_frame;
    own.extra_index = extra_index;
    own.extra_inline = extra_inline;
    own.main_begins = main_begins;
    own.has_counter = cunei_clock_has_counter(NULL);
    return &own.place.source;
}
