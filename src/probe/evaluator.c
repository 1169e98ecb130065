// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/evaluator.h"

#include <stdint.h>

#include "probe/code.h"
#include "probe/compat.h"
#include "probe/event.h"
#include "probe/passing.h"
#include "probe/process.h"
#include "probe/write.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "rt/stream.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

static struct {
    struct cunei_source source;
    Py_ssize_t extra_index;
    void (*main_begins)(void);
    cunei_older_evaluator before; /* whose place ours has */
    bool is_on;
} own;

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

/* Everything but the hot path: `result` is what the frame returns or yields. */
static __attribute__((noinline, cold)) void tell_cold(PyThreadState *thread,
                                                      cunei_older_frame *frame,
                                                      enum cunei_phase phase,
                                                      PyObject *result)
{
    PyCodeObject *code = frame->f_code;

    if (!own.is_on)
        return;
    /* There is one where it is thrown into a generator. */
    struct cunei_compat_error error = cunei_compat_put_aside();
    bool begins = phase == CUNEI_PHASE_ENTER || phase == CUNEI_PHASE_RESUME;
    uint32_t before = cunei_recorder_begin_event();
    /* Who goes on is the frame below, or this one. */
    if (begins)
        cunei_passing_landed();
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);
    if (!begins)
        cunei_passing_landed();
    cunei_process_event(code);
    uint64_t word = cunei_event_word(code);
    if (word && !(word & CUNEI_CODE_OFF))
        cunei_event_write(code, word, phase, result);
    cunei_recorder_end_event(before);
    cunei_older_pop(thread, &pushed);
    cunei_compat_put_back(&error);
}

/* The frame, recorded or not, ends by an exception. */
static __attribute__((noinline, cold)) void tell_unwind(PyThreadState *thread,
                                                        cunei_older_frame *frame)
{
    PyCodeObject *code = frame->f_code;

    if (!own.is_on)
        return;
    struct cunei_compat_error error = cunei_compat_put_aside();
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);

    cunei_process_event(code);
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_event_word(code);
    cunei_passing_unwound(frame, pushed.below, word, &error);
    if (!(word & CUNEI_CODE_OFF))
        cunei_event_unwind(code, word, NULL, NULL);
    cunei_passing_wait();
    cunei_recorder_end_event(before);
    cunei_older_pop(thread, &pushed);
    cunei_compat_put_back(&error);
}

/* Whether the record could be written at once: a word with an id, a stream with room.
 */
static inline bool put(uint64_t word, enum cunei_phase phase)
{
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_stream_own;

    if (!LIKELY(word > CUNEI_TIME_MASK && cunei_stream_has_room(stream, now, 1)))
        return false;
    uint64_t record = ((now ^ word) & CUNEI_TIME_MASK) ^ word;
    cunei_stream_put(stream, now, record | (uint64_t)phase << CUNEI_PHASE_SHIFT);
    return true;
}

static inline uint64_t word_of(const cunei_older_frame *frame)
{
    return cunei_compat_extra_inline(frame->f_code, own.extra_index);
}

static inline PyObject *record_in(PyThreadState *thread, cunei_older_frame *frame,
                                  int throws)
{
    bool generates = frame->f_code->co_flags & CUNEI_OLDER_GENERATES;
    uint64_t word = word_of(frame);

    if (word & CUNEI_CODE_OFF || !own.is_on ||
        (generates && cunei_older_only_makes(frame))) {
        PyObject *unseen = hand_on(thread, frame, throws, own.before);
        if (!LIKELY(unseen))
            tell_unwind(thread, frame);
        return unseen;
    }
    enum cunei_phase phase = generates && cunei_older_has_begun(frame)
                                 ? CUNEI_PHASE_RESUME
                                 : CUNEI_PHASE_ENTER;
    if (!LIKELY(put(word, phase)))
        tell_cold(thread, frame, phase, NULL);
    PyObject *result = hand_on(thread, frame, throws, own.before);
    if (!LIKELY(result)) {
        tell_unwind(thread, frame);
        return NULL;
    }
    phase = generates && cunei_older_is_suspended(frame) ? CUNEI_PHASE_YIELD
                                                         : CUNEI_PHASE_LEAVE;
    if (!LIKELY(put(word_of(frame), phase)))
        tell_cold(thread, frame, phase, result);
    return result;
}

static PyObject *await_in(PyThreadState *thread, cunei_older_frame *frame, int throws)
{
    struct cunei_older_pushed pushed = cunei_older_push(thread, frame);
    bool is_main = cunei_event_is_main(frame->f_code);

    if (is_main)
        own.main_begins();
    cunei_older_pop(thread, &pushed);
    return hand_on(thread, frame, throws,
                   is_main ? cunei_older_get_evaluator() : own.before);
}

/* What the interpreter calls: while something is recorded, and until __main__ begins.
 */
#if PY_VERSION_HEX >= 0x03090000
static PyObject *record_frame(PyThreadState *thread, cunei_older_frame *frame,
                              int throws)
{
    return record_in(thread, frame, throws);
}

static PyObject *await_frame(PyThreadState *thread, cunei_older_frame *frame,
                             int throws)
{
    return await_in(thread, frame, throws);
}
#else
static PyObject *record_frame(PyFrameObject *frame, int throws)
{
    return record_in(PyThreadState_Get(), frame, throws);
}

static PyObject *await_frame(PyFrameObject *frame, int throws)
{
    return await_in(PyThreadState_Get(), frame, throws);
}
#endif

static bool is_ours(cunei_older_evaluator function)
{
    return function == record_frame || function == await_frame;
}

static int install(cunei_older_evaluator function)
{
    cunei_older_evaluator now = cunei_older_get_evaluator();

    if (!is_ours(now))
        own.before = now;
    cunei_older_set_evaluator(function);
    return 0;
}

static int take(struct cunei_source *source, bool selective)
{
    (void)selective;
    source->is_taken = true;
    return 0;
}

static int await_main(struct cunei_source *source)
{
    (void)source;
    return install(await_frame);
}

static int prepare(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    return 0;
}

static int record(struct cunei_source *source, bool selective)
{
    (void)source;
    (void)selective;
    own.is_on = true;
    return install(record_frame);
}

/* Where another has taken our place since, it goes on calling us. */
static void pause_events(struct cunei_source *source)
{
    (void)source;
    if (own.is_on)
        cunei_passing_landed(); /* who stops it goes on */
    own.is_on = false;
    if (is_ours(cunei_older_get_evaluator()))
        cunei_older_set_evaluator(own.before);
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

static const struct cunei_source_methods methods = {
    .take = take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .release = release,
    .count_others = count_others,
};

struct cunei_source *cunei_evaluator_open(Py_ssize_t extra_index,
                                          void (*main_begins)(void))
{
    own.source.methods = &methods;
    own.extra_index = extra_index;
    own.main_begins = main_begins;
    return &own.source;
}
