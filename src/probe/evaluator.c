// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/evaluator.h"

#include <stdint.h>

#include "probe/ccall.h"
#include "probe/code.h"
#include "probe/compat.h"
#include "probe/deep.h"
#include "probe/event.h"
#include "probe/extra.h"
#include "probe/foreign.h"
#include "probe/frameevent.h"
#include "probe/greenlet.h"
#include "probe/linehook.h"
#include "probe/open.h"
#include "probe/passing.h"
#include "probe/profile.h"
#include "probe/wayout.h"
#include "rt/clock.h"
#include "rt/stream.h"
#include "wire/reason.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

static struct {
    struct cunei_source source;
    Py_ssize_t extra_index;
    bool extra_inline;
    bool (*main_begins)(void);
    cunei_older_evaluator installed; /* of ours; NULL: none */
    cunei_older_evaluator before;    /* whose place it has */
    bool awaits;                     /* that __main__ begins */
    bool has_counter;                /* see rt/clock.h */
    unsigned recording;              /* that is on; 0: none */
    unsigned recordings;             /* so far */
} own;

/* Frames below this are known to be far from the limit of recursion. */
#define SHALLOW 150
/* From here on they may come to the end of a C stack. */
#define DEEP 500

/* The calling thread's stack is known to be none of the smallest. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool has_room;

/* Let the frame run. */
static inline PyObject *hand_on(PyThreadState *thread, cunei_older_frame *frame,
                                int throws, cunei_older_evaluator to)
{
#if PY_VERSION_HEX >= 0x03090000
    return to(thread, frame, throws);
#else
    (void)thread;
    return to(frame, throws);
#endif
}

/* Whether it could be written at once: a word with an id, a stream with room. */
static inline bool put(uint64_t word, enum cunei_phase phase)
{
    /* In another library, and asked each time, it took 10 ns of a call. */
    uint64_t now = LIKELY(own.has_counter) ? cunei_clock_counter()
                                           : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;

    if (!LIKELY(word > CUNEI_TIME_MASK && cunei_stream_has_room(stream, now, 1)))
        return false;
    uint64_t record = ((now ^ word) & CUNEI_TIME_MASK) ^ word;
    cunei_stream_put(stream, now, record | (uint64_t)phase << CUNEI_PHASE_SHIFT);
    return true;
}

static inline uint64_t word_of(const cunei_older_frame *frame)
{
    return LIKELY(own.extra_inline) ? cunei_extra_inline(frame->f_code, own.extra_index)
                                    : cunei_extra_call(frame->f_code, own.extra_index);
}

/* What an evaluator of ours records besides functions. */
enum wanted {
    C_CALLS = 1,
    LINES = 2,
};

static enum wanted wanted_now(void)
{
    return (own.source.c_calls ? C_CALLS : 0) | (own.source.lines ? LINES : 0);
}

/* Let the frame run, and see to it that its lines are told, or that they are not. */
static __attribute__((noinline)) PyObject *run_switched(PyThreadState *thread,
                                                        cunei_older_frame *frame,
                                                        int throws, bool is_lined)
{
    unsigned recording = own.recording;
    bool was_on = cunei_linehook_is_on(thread);
    bool was_heard = cunei_older_is_traced(thread);

    cunei_linehook_set(thread, is_lined, false);
    PyObject *result = hand_on(thread, frame, throws, own.before);
    cunei_linehook_set(thread, was_on && own.recording == recording, was_heard);
    return result;
}

static inline PyObject *run(PyThreadState *thread, cunei_older_frame *frame, int throws,
                            enum wanted wanted)
{
    if (wanted & LINES) {
        bool is_lined = word_of(frame) & CUNEI_CODE_LINED && own.recording;
        if (!LIKELY(!is_lined && !cunei_linehook_is_on(thread)))
            return run_switched(thread, frame, throws, is_lined);
    }
    return hand_on(thread, frame, throws, own.before);
}

static inline __attribute__((always_inline)) PyObject *record_frame_in(
    PyThreadState *thread, cunei_older_frame *frame, int throws, enum wanted wanted)
{
    bool generates = frame->f_code->co_flags & CUNEI_OLDER_GENERATES;
    uint64_t word = word_of(frame);
    unsigned recording = own.recording;

    if (generates && cunei_older_only_makes(frame))
        return hand_on(thread, frame, throws, own.before);
    if (word & CUNEI_CODE_OFF) {
        PyObject *unseen = run(thread, frame, throws, wanted);
        if (!LIKELY(own.recording == recording)) {
            if (own.recording)
                cunei_frameevent_tell_older(thread, frame, unseen);
        } else if (!LIKELY(unseen))
            cunei_frameevent_tell_unwind(thread, frame);
        return unseen;
    }
    /* What is thrown into a generator resumes it, even if it has not begun. */
    enum cunei_phase phase = generates && (throws || cunei_older_has_begun(frame))
                                 ? CUNEI_PHASE_RESUME
                                 : CUNEI_PHASE_ENTER;
    if (wanted & C_CALLS && own.recording)
        cunei_profile_keep(thread);
    if (!LIKELY(put(word, phase)))
        cunei_frameevent_tell(thread, frame, phase, NULL);
    PyObject *result = run(thread, frame, throws, wanted);
    if (!LIKELY(own.recording == recording)) {
        if (own.recording)
            cunei_frameevent_tell_older(thread, frame, result);
        return result;
    }
    if (!LIKELY(result)) {
        cunei_frameevent_tell_unwind(thread, frame);
        return NULL;
    }
    phase = generates && cunei_older_is_suspended(frame) ? CUNEI_PHASE_YIELD
                                                         : CUNEI_PHASE_LEAVE;
    if (wanted & C_CALLS && cunei_ccall_is_inside(frame))
        cunei_frameevent_leave_calls(thread, frame);
    if (!LIKELY(put(word_of(frame), phase)))
        cunei_frameevent_tell(thread, frame, phase, result);
    return result;
}

/* What runs was called by something that came here. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool is_inside;
/* See cunei_open_catch_up. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool is_lost;

struct special {
    PyThreadState *thread;
    cunei_older_frame *frame;
    int throws;
    enum wanted wanted;
    PyObject *result;
};

/* Where a frame of open.h's has called it, that hook does not hear of what it runs. */
static void record_muting(void *context)
{
    struct special *special = context;
    PyThreadState *thread = special->thread;
    bool is_muted = cunei_open_mute(thread), was_inside = is_inside;

    is_inside = true;
    special->result =
        record_frame_in(thread, special->frame, special->throws, special->wanted);
    is_inside = was_inside;
    if (is_muted)
        cunei_open_unmute(thread);
}

/* Whether a recording begins with this frame. */
static bool begins_main(PyThreadState *thread, cunei_older_frame *frame)
{
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);
    bool is_main = own.awaits && cunei_event_is_main(frame->f_code);

    cunei_older_pop(thread, &pushed);
    if (!is_main)
        return false;
    own.awaits = false;
    (void)own.main_begins();
    return own.recording;
}

/* Where nothing is recorded, at great depth, or called by a frame of open.h's. */
static __attribute__((noinline)) PyObject *record_specially(PyThreadState *thread,
                                                            cunei_older_frame *frame,
                                                            int throws,
                                                            enum wanted wanted)
{
    if (own.awaits && begins_main(thread, frame))
        wanted = wanted_now();
    struct special special = {thread, frame, throws, wanted, NULL};

    /* What hooks run is not heard of.  What is too deep does not begin. */
    if (!own.recording || thread->tracing || cunei_older_is_too_deep(thread))
        return hand_on(thread, frame, throws, own.before);
    if (!is_inside && !(wanted & C_CALLS))
        is_lost = cunei_open_catch_up(thread);
    has_room = !cunei_deep_is_small() && !is_lost;
    if ((!cunei_deep_is_small() && cunei_older_depth(thread) < DEEP) ||
        !cunei_deep_is_at_end() || cunei_greenlet_is_loaded() ||
        !cunei_deep_run(record_muting, &special))
        record_muting(&special);
    return special.result;
}

static inline __attribute__((always_inline)) PyObject *record_in(
    PyThreadState *thread, cunei_older_frame *frame, int throws, enum wanted wanted)
{
    if (!LIKELY(own.recording && has_room && cunei_older_depth(thread) < SHALLOW &&
                !thread->tracing &&
                (wanted & C_CALLS || !cunei_older_is_traced(thread) ||
                 (wanted & LINES && thread->c_profilefunc != cunei_open_hook))))
        return record_specially(thread, frame, throws, wanted);
    return record_frame_in(thread, frame, throws, wanted);
}

/* What the interpreter calls, by what is recorded. */
#if PY_VERSION_HEX >= 0x03090000
static PyObject *record_frame(PyThreadState *thread, cunei_older_frame *frame,
                              int throws)
{
    return record_in(thread, frame, throws, 0);
}

static PyObject *record_calls(PyThreadState *thread, cunei_older_frame *frame,
                              int throws)
{
    return record_in(thread, frame, throws, C_CALLS);
}

static PyObject *record_lines(PyThreadState *thread, cunei_older_frame *frame,
                              int throws)
{
    if (own.source.c_calls)
        return record_in(thread, frame, throws, C_CALLS | LINES);
    return record_in(thread, frame, throws, LINES);
}

#else
static PyObject *record_frame(PyFrameObject *frame, int throws)
{
    return record_in(PyThreadState_Get(), frame, throws, 0);
}

static PyObject *record_calls(PyFrameObject *frame, int throws)
{
    return record_in(PyThreadState_Get(), frame, throws, C_CALLS);
}

static PyObject *record_lines(PyFrameObject *frame, int throws)
{
    return record_in(PyThreadState_Get(), frame, throws,
                     own.source.c_calls ? C_CALLS | LINES : LINES);
}
#endif

static bool is_ours(cunei_older_evaluator function)
{
    return function == record_frame || function == record_calls ||
           function == record_lines;
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
static int install(cunei_older_evaluator function)
{
    cunei_older_evaluator now = cunei_older_get_evaluator();
    bool is_below = own.installed && !is_ours(now) && now != _PyEval_EvalFrameDefault;

    if (is_below && function == own.installed)
        return 0;
    if (is_below)
        return refuse(CUNEI_REASON_ABOVE);
    if (!is_ours(now))
        own.before = now;
    cunei_older_set_evaluator(function);
    own.installed = function;
    return 0;
}

/* -1 with an exception set: there must be none above what is installed. */
static int check(void)
{
    return refuse(
        cunei_foreign_refusal((const void *)(uintptr_t)cunei_older_get_evaluator()));
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
    if (install(record_frame) < 0)
        return -1;
    own.awaits = true;
    return 0;
}

static int prepare(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    return check();
}

static cunei_older_evaluator evaluator_for(const struct cunei_source *source)
{
    if (source->lines)
        return record_lines;
    return source->c_calls ? record_calls : record_frame;
}

static int record(struct cunei_source *source, bool selective)
{
    (void)selective;
    if (install(evaluator_for(source)) < 0)
        return -1;
    own.recording = ++own.recordings;
    if (source->lines)
        cunei_linehook_begin();
    cunei_wayout_watch();
    if (source->c_calls)
        cunei_profile_begin();
    cunei_open_begin();
    return 0;
}

/* Where another has taken our place since, it goes on calling us. */
static void pause_events(struct cunei_source *source)
{
    (void)source;
    if (own.recording) {
        cunei_passing_landed(); /* who stops it goes on */
        cunei_open_end();
    }
    own.recording = 0;
    own.awaits = false;
    cunei_wayout_unwatch();
    cunei_profile_end();
    cunei_linehook_end();
    if (!is_ours(cunei_older_get_evaluator()))
        return;
    cunei_older_set_evaluator(own.before);
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
    (void)source;
    return !is_ours(cunei_older_get_evaluator()) &&
           cunei_older_get_evaluator() != _PyEval_EvalFrameDefault;
}

static void find_lines(struct cunei_source *source, PyCodeObject *code)
{
    (void)source;
    if (own.recording)
        cunei_linehook_found(code);
}

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .release = release,
    .count_others = count_others,
    .line = find_lines,
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
