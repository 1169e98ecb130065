// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/sources/evaluator/evaluator.h"

#include <stdint.h>

#include "probe/code/code_tag.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/hot.h"
#include "probe/events/c_call.h"
#include "probe/events/exception_legacy.h"
#include "probe/events/function_event.h"
#include "probe/events/greenlet.h"
#include "probe/events/process_call_hooks.h"
#include "probe/sources/evaluator/c_call_hook.h"
#include "probe/sources/evaluator/evaluator_slot.h"
#include "probe/sources/evaluator/frame_event.h"
#include "probe/sources/evaluator/getitem_311.h"
#include "probe/sources/evaluator/line_hook.h"
#include "probe/sources/evaluator/open_frames.h"
#include "probe/sources/evaluator/stack_segment.h"
#include "rt/clock.h"

static struct {
    struct cunei_evaluator_slot slot;
    Py_ssize_t extra_index;
    bool extra_inline;
    bool (*main_begins)(void);
    bool awaits;         /* that __main__ begins */
    bool has_counter;    /* see rt/clock.h */
    unsigned recording;  /* that is on; 0: none */
    unsigned recordings; /* so far */
} own;

/* Frames below this are known to be far from the limit of recursion. */
#define SHALLOW 150
/* From here on they may come to the end of a C stack. */
#define DEEP 500

/* The calling thread's stack is known to be none of the smallest. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool has_room;

/* Let the frame run. */
static inline PyObject *hand_on(PyThreadState *thread, cunei_compat_311_frame *frame,
                                int throws, cunei_compat_311_evaluator to)
{
#if PY_VERSION_HEX >= 0x03090000
    return to(thread, frame, throws);
#else
    (void)thread;
    return to(frame, throws);
#endif
}

static inline uint64_t tag_of(const cunei_compat_311_frame *frame)
{
    return CUNEI_LIKELY(own.extra_inline)
               ? cunei_code_extra_inline(frame->f_code, own.extra_index)
               : cunei_code_extra_call(frame->f_code, own.extra_index);
}

/* What an evaluator of ours records besides functions. */
enum wanted {
    C_CALLS = 1,
    LINES = 2,
};

static enum wanted wanted_now(void)
{
    return (own.slot.source.config.c_calls ? C_CALLS : 0) |
           (own.slot.source.config.lines ? LINES : 0);
}

/* Run the frame with the line hook on or off. */
static __attribute__((noinline)) PyObject *run_switched(PyThreadState *thread,
                                                        cunei_compat_311_frame *frame,
                                                        int throws, bool is_lined)
{
    unsigned recording = own.recording;
    bool was_on = cunei_line_hook_is_on(thread);
    bool was_traced = cunei_compat_311_is_traced(thread);

    cunei_line_hook_set(thread, is_lined, false);
    PyObject *result = hand_on(thread, frame, throws, own.slot.before);
    cunei_line_hook_set(thread, was_on && own.recording == recording, was_traced);
    return result;
}

static inline PyObject *run(PyThreadState *thread, cunei_compat_311_frame *frame,
                            int throws, enum wanted wanted)
{
    if (wanted & LINES) {
        bool is_lined = tag_of(frame) & CUNEI_CODE_LINED && own.recording;
        if (!CUNEI_LIKELY(!is_lined && !cunei_line_hook_is_on(thread)))
            return run_switched(thread, frame, throws, is_lined);
    }
    return hand_on(thread, frame, throws, own.slot.before);
}

static inline __attribute__((always_inline)) PyObject *record_frame_in(
    PyThreadState *thread, cunei_compat_311_frame *frame, int throws,
    enum wanted wanted)
{
    bool generates = frame->f_code->co_flags & CUNEI_GENERATES;
    uint64_t tag = tag_of(frame);
    unsigned recording = own.recording;

    if (generates && cunei_compat_311_only_makes(frame))
        return hand_on(thread, frame, throws, own.slot.before);
    if (tag & CUNEI_CODE_OFF) {
        PyObject *unseen = run(thread, frame, throws, wanted);
        if (!CUNEI_LIKELY(own.recording == recording)) {
            if (own.recording)
                cunei_frame_event_record_older(thread, frame, unseen);
        } else if (!CUNEI_LIKELY(unseen))
            cunei_frame_event_record_unwind(thread, frame);
        return unseen;
    }
    /* What is thrown into a generator resumes it, even if it has not begun. */
    enum cunei_phase phase = generates && (throws || cunei_compat_311_has_begun(frame))
                                 ? CUNEI_PHASE_RESUME
                                 : CUNEI_PHASE_ENTER;
    if (wanted & C_CALLS && own.recording)
        cunei_c_call_hook_ensure(thread);
    if (!CUNEI_LIKELY(cunei_hot_put(tag, phase, own.has_counter)))
        cunei_frame_event_record(thread, frame, phase, NULL);
    PyObject *result = run(thread, frame, throws, wanted);
    if (!CUNEI_LIKELY(own.recording == recording)) {
        if (own.recording)
            cunei_frame_event_record_older(thread, frame, result);
        return result;
    }
    if (!CUNEI_LIKELY(result)) {
        cunei_frame_event_record_unwind(thread, frame);
        return NULL;
    }
    phase = generates && cunei_compat_311_is_suspended(frame) ? CUNEI_PHASE_YIELD
                                                              : CUNEI_PHASE_LEAVE;
    if (wanted & C_CALLS && cunei_c_call_is_inside(frame))
        cunei_frame_event_end_c_calls(thread, frame);
    if (!CUNEI_LIKELY(cunei_hot_put(tag_of(frame), phase, own.has_counter)))
        cunei_frame_event_record(thread, frame, phase, result);
    return result;
}

/* What runs was called by something that came here. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool is_inside;
/* See cunei_open_frames_catch_up. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool is_lost;

struct special {
    PyThreadState *thread;
    cunei_compat_311_frame *frame;
    int throws;
    enum wanted wanted;
    PyObject *result;
};

/* If a frame that was open at the start has called this one, its hook is muted
 * meanwhile. */
static void record_muting(void *context)
{
    struct special *special = context;
    PyThreadState *thread = special->thread;
    bool is_muted = cunei_open_frames_mute(thread), was_inside = is_inside;

    is_inside = true;
    special->result =
        record_frame_in(thread, special->frame, special->throws, special->wanted);
    is_inside = was_inside;
    if (is_muted)
        cunei_open_frames_unmute(thread);
}

/* Whether a recording begins with this frame. */
static bool begins_main(PyThreadState *thread, cunei_compat_311_frame *frame)
{
    struct cunei_compat_311_pushed pushed = cunei_compat_311_push(thread, frame);
    bool is_main = own.awaits && cunei_function_event_is_main(frame->f_code);

    cunei_compat_311_pop(thread, &pushed);
    if (!is_main)
        return false;
    own.awaits = false;
    (void)own.main_begins();
    return own.recording;
}

/* Where nothing is recorded, at great depth, or called by a frame of open_frames.h. */
static __attribute__((noinline)) PyObject *record_specially(
    PyThreadState *thread, cunei_compat_311_frame *frame, int throws,
    enum wanted wanted)
{
    if (own.awaits && begins_main(thread, frame))
        wanted = wanted_now();
    struct special special = {thread, frame, throws, wanted, NULL};

    /* Code that hooks run is not recorded.  A frame that is too deep does not begin. */
    if (!own.recording || thread->tracing || cunei_compat_311_is_too_deep(thread))
        return hand_on(thread, frame, throws, own.slot.before);
    if (!is_inside && !(wanted & C_CALLS))
        is_lost = cunei_open_frames_catch_up(thread);
    has_room = !cunei_stack_segment_is_small() && !is_lost;
    if ((!cunei_stack_segment_is_small() && cunei_compat_311_depth(thread) < DEEP) ||
        !cunei_stack_segment_is_at_end() || cunei_greenlet_is_loaded() ||
        !cunei_stack_segment_run(record_muting, &special))
        record_muting(&special);
    return special.result;
}

static inline __attribute__((always_inline)) PyObject *record_in(
    PyThreadState *thread, cunei_compat_311_frame *frame, int throws,
    enum wanted wanted)
{
    if (!CUNEI_LIKELY(
            own.recording && has_room && cunei_compat_311_depth(thread) < SHALLOW &&
            !thread->tracing &&
            (wanted & C_CALLS || !cunei_compat_311_is_traced(thread) ||
             (wanted & LINES && thread->c_profilefunc != cunei_open_frames_hook))))
        return record_specially(thread, frame, throws, wanted);
    return record_frame_in(thread, frame, throws, wanted);
}

/* What the interpreter calls, by what is recorded. */
#if PY_VERSION_HEX >= 0x03090000
static PyObject *record_frame(PyThreadState *thread, cunei_compat_311_frame *frame,
                              int throws)
{
    return record_in(thread, frame, throws, 0);
}

static PyObject *record_calls(PyThreadState *thread, cunei_compat_311_frame *frame,
                              int throws)
{
    return record_in(thread, frame, throws, C_CALLS);
}

static PyObject *record_lines(PyThreadState *thread, cunei_compat_311_frame *frame,
                              int throws)
{
    if (own.slot.source.config.c_calls)
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
                     own.slot.source.config.c_calls ? C_CALLS | LINES : LINES);
}
#endif

static int await_main(struct cunei_source *source)
{
    (void)source;
    if (cunei_evaluator_slot_install(&own.slot, record_frame) < 0)
        return -1;
    own.awaits = true;
    return 0;
}

static int prepare(struct cunei_source *source,
                   const struct cunei_source_config *config)
{
    if (cunei_evaluator_slot_prepare(source, config) < 0)
        return -1;
    return cunei_getitem_311_record_all();
}

static cunei_compat_311_evaluator evaluator_for(const struct cunei_source *source)
{
    if (source->config.lines)
        return record_lines;
    return source->config.c_calls ? record_calls : record_frame;
}

static int record(struct cunei_source *source)
{
    if (cunei_evaluator_slot_install(&own.slot, evaluator_for(source)) < 0)
        return -1;
    own.recording = ++own.recordings;
    if (source->config.lines)
        cunei_line_hook_begin();
    cunei_process_call_hooks_watch();
    if (source->config.c_calls)
        cunei_c_call_hook_begin();
    cunei_open_frames_begin(cunei_line_hook_resume);
    return 0;
}

static void pause_events(struct cunei_source *source)
{
    (void)source;
    if (own.recording) {
        cunei_exception_legacy_caught(); /* the frame that stops recording has caught it
                                          */
        cunei_open_frames_end();
    }
    own.recording = 0;
    own.awaits = false;
    cunei_process_call_hooks_unwatch();
    cunei_c_call_hook_end();
    cunei_line_hook_end();
    cunei_evaluator_slot_leave(&own.slot);
}

static void find_lines(struct cunei_source *source, PyCodeObject *code)
{
    (void)source;
    if (own.recording)
        cunei_line_hook_add_code(code);
}

static const struct cunei_source_methods methods = {
    .take = cunei_evaluator_slot_take,
    .await_main = await_main,
    .prepare = prepare,
    .record = record,
    .pause = pause_events,
    .release = cunei_evaluator_slot_release,
    .count_others = cunei_evaluator_slot_count_others,
    .record_losses = cunei_evaluator_slot_record_losses,
    .add_lines = find_lines,
};

static struct cunei_source *open_source(PyObject *module,
                                        const struct cunei_source_setup *setup)
{
    (void)module;
    cunei_c_call_init(setup->extra_index, setup->extra_inline, NULL, NULL);
    cunei_line_hook_init(setup->extra_index, setup->extra_inline);
    own.slot.ours[0] = record_frame;
    own.slot.ours[1] = record_calls;
    own.slot.ours[2] = record_lines;
    own.extra_index = setup->extra_index;
    own.extra_inline = setup->extra_inline;
    own.main_begins = setup->main_begins;
    own.has_counter = cunei_clock_has_counter(NULL);
    return &own.slot.source;
}

const struct cunei_source_kind cunei_source_frame = {
    .instrumenter = CUNEI_INSTRUMENTER_FRAME,
    .methods = &methods,
    .open = open_source,
};
