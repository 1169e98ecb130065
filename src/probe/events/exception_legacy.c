// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception_legacy.h"

#include <stdbool.h>

#include "probe/code/code.h"
#include "probe/code/line.h"
#include "probe/code/qualname.h"
#include "probe/core/frame.h"
#include "probe/core/hot.h"
#include "probe/events/exception_record.h"
#include "probe/events/exception_track.h"
#include "rt/stream.h"
#include "wire/event.h"

/* How many entries a traceback gains in a frame that reraises it. */
#define ENTRIES_MAX 8

static bool is_a(PyObject *type, PyObject *wanted)
{
    return PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)wanted);
}

/* An exception that is not normalized yet has no object to compare. */
static const void *object_of(const struct cunei_compat_error *error)
{
    return error->value && PyExceptionInstance_Check(error->value) ? error->value
                                                                   : NULL;
}

static bool is_same(const struct cunei_exception_track *track,
                    const struct cunei_compat_error *error)
{
    const void *object = object_of(error);

    return track->type == error->type &&
           (!track->object || !object || track->object == object);
}

/* The one that has just ended the frame above. */
static struct cunei_propagating *find_propagating(
    struct cunei_exception_tracks *tracks, const struct cunei_compat_error *error)
{
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;
    struct cunei_propagating *last = cunei_exception_tracks_last(tracks);

    if (!last || !is_same(&last->track, error))
        return NULL;
    for (int i = 0; traceback && i < ENTRIES_MAX; i++) {
        if (traceback == last->track.head)
            return last;
        traceback = traceback->tb_next;
    }
    return NULL;
}

static struct cunei_propagating *begin_track(struct cunei_exception_tracks *tracks,
                                             const struct cunei_exception_track *track,
                                             const struct cunei_compat_error *error,
                                             enum cunei_phase phase)
{
    struct cunei_propagating *propagating = cunei_exception_tracks_add(tracks, track);

    propagating->track.exception =
        cunei_exception_record_innermost((const PyTracebackObject *)error->traceback);
    propagating->track.object = object_of(error);
    propagating->track.is_caught = propagating->track.is_shared = false;
    cunei_exception_record_type(propagating, (PyTypeObject *)error->type);
    cunei_exception_record_write(phase, propagating);
    return propagating;
}

/* One that was tracked before, was kept or thought to be finished, and continues. */
static struct cunei_propagating *resume(struct cunei_exception_tracks *tracks,
                                        const struct cunei_compat_error *error)
{
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;
    const void *key = cunei_exception_record_innermost(traceback);
    struct cunei_exception_track known;

    if (key == traceback || !cunei_exception_track_look_up(key, &known) ||
        !is_same(&known, error) ||
        !cunei_exception_record_passed(traceback->tb_next, known.raised_by))
        return NULL;
    (void)cunei_exception_track_remove(key, NULL);
    return begin_track(tracks, &known, error, CUNEI_PHASE_RESUME);
}

static uint32_t line_of(struct cunei_exception_tracks *tracks, PyCodeObject *code,
                        const PyTracebackObject *traceback)
{
    return cunei_line_cache_before(&tracks->lines, code, traceback->tb_lasti);
}

static struct cunei_propagating *begin(struct cunei_exception_tracks *tracks,
                                       PyCodeObject *code, uint32_t function,
                                       const struct cunei_compat_error *error)
{
    struct cunei_exception_track track = {
        .type = error->type,
        .raised_by = code,
        .function = function,
        .is_stop = is_a(error->type, PyExc_StopIteration),
        .line = line_of(tracks, code, (const PyTracebackObject *)error->traceback),
    };

    return begin_track(tracks, &track, error, CUNEI_PHASE_ENTER);
}

/* Whether the interpreter replaces it when it leaves a generator. */
static bool is_replaced(const PyCodeObject *code, PyObject *type)
{
    return (code->co_flags & CUNEI_GENERATES && is_a(type, PyExc_StopIteration)) ||
           (code->co_flags & CO_ASYNC_GENERATOR &&
            is_a(type, PyExc_StopAsyncIteration));
}

/*
 * Counted up to the frames of a thread of threading below its function, and one more.
 */
static uint32_t count_frames(const cunei_compat_311_frame *frame)
{
    uint32_t count = 0;

    for (; frame && count <= 3; frame = cunei_compat_311_below(frame))
        count++;
    return count;
}

/* The handler, if it propagates no further.  A task keeps what ends its coroutine. */
static void find_handler(struct cunei_exception_tracks *tracks,
                         struct cunei_exception_track *track,
                         cunei_compat_311_frame *below)
{
    const PyCodeObject *ended = track->seen_by;
    int handler = cunei_compat_311_handler(below);

    if (ended && ended->co_flags & CO_COROUTINE &&
        cunei_qualname_is(below->f_code, "Handle._run"))
        return;
    if (cunei_exception_record_ends_thread(below->f_code, below->f_globals,
                                           count_frames(below))) {
        track->handler_line = CUNEI_EXCEPTION_UNHANDLED;
        return;
    }
    if (track->is_stop &&
        cunei_exception_record_iterates(below->f_code, cunei_compat_311_offset(below)))
        handler = cunei_compat_311_offset(below);
    if (handler < 0)
        return;
    track->handler = cunei_code_id(cunei_code_tag(below->f_code));
    if (track->handler)
        track->handler_line =
            cunei_line_cache_after(&tracks->lines, below->f_code, handler);
}

static void record_caught(struct cunei_exception_tracks *tracks,
                          struct cunei_propagating *propagating)
{
    cunei_exception_record_caught(tracks, propagating, propagating->track.handler,
                                  propagating->track.handler_line);
}

/* It has ended a frame: find the next possible handler. */
static void frame_ended(struct cunei_exception_tracks *tracks,
                        struct cunei_propagating *propagating, PyCodeObject *ended,
                        cunei_compat_311_frame *below, bool is_recorded)
{
    struct cunei_exception_track *track = &propagating->track;

    track->seen_by = ended;
    track->unwound += is_recorded;
    track->handler = track->handler_line = 0;
    if (below) {
        find_handler(tracks, track, below);
        return;
    }
    /* No handler is left. */
    if (cunei_exception_record_ends_program(ended))
        track->handler_line = CUNEI_EXCEPTION_UNHANDLED;
    record_caught(tracks, propagating);
}

void cunei_exception_legacy_unwound(cunei_compat_311_frame *frame,
                                    cunei_compat_311_frame *below, uint64_t tag,
                                    const struct cunei_compat_error *error)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;
    uint32_t function = cunei_code_id(tag);

    /* The former closes a generator: it is not an error. */
    if (!tracks || !error->type || error->type == PyExc_GeneratorExit ||
        !PyExceptionClass_Check(error->type))
        return;
    /* One that ends a frame before its start belongs to the caller. */
    if (!traceback || cunei_frame_of(traceback->tb_frame) != frame)
        return;
    struct cunei_propagating *propagating = find_propagating(tracks, error);
    if (!propagating) {
        cunei_exception_legacy_caught();
        propagating = resume(tracks, error);
    }
    /*
     * If its function has no id, for lack of space, it is written, and counted as lost.
     */
    if (!propagating && !(tag & CUNEI_CODE_OFF))
        propagating = begin(tracks, frame->f_code, function, error);
    if (!propagating)
        return;
    if (is_replaced(frame->f_code, error->type)) {
        propagating->track.handler = function;
        propagating->track.handler_line = line_of(tracks, frame->f_code, traceback);
        record_caught(tracks, propagating);
        return;
    }
    propagating->track.head = traceback;
    frame_ended(tracks, propagating, frame->f_code, below, function != 0);
}

/* One that closes a generator, or propagates already, is known. */
void cunei_exception_legacy_handled(cunei_compat_311_frame *frame, uint64_t tag,
                                    const struct cunei_compat_error *error, int handler)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;

    cunei_exception_legacy_caught();
    if (!tracks || traceback->tb_next || tag & CUNEI_CODE_OFF ||
        error->type == PyExc_GeneratorExit || !PyExceptionClass_Check(error->type))
        return;
    struct cunei_propagating *propagating =
        begin(tracks, frame->f_code, cunei_code_id(tag), error);
    propagating->track.handler = cunei_code_id(tag);
    propagating->track.handler_line =
        cunei_line_cache_after(&tracks->lines, frame->f_code, handler);
    record_caught(tracks, propagating);
}

void cunei_exception_legacy_reraised(PyCodeObject *code, cunei_compat_311_frame *frame,
                                     const struct cunei_compat_error *error)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();

    if (!tracks || find_propagating(tracks, error))
        return;
    cunei_exception_legacy_caught();
    struct cunei_propagating *propagating = resume(tracks, error);
    if (!propagating)
        return;
    struct cunei_exception_track *track = &propagating->track;
    track->head = ((const PyTracebackObject *)error->traceback)->tb_next;
    track->unwound += code && cunei_code_id(cunei_code_tag(code)) != 0;
    track->handler = track->handler_line = 0;
    find_handler(tracks, track, frame);
}

void cunei_exception_legacy_unwound_unknown(PyCodeObject *code,
                                            cunei_compat_311_frame *below, uint64_t tag)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_propagating *last =
        tracks ? cunei_exception_tracks_last(tracks) : NULL;

    if (last)
        frame_ended(tracks, last, code, below, cunei_code_id(tag) != 0);
}

void cunei_exception_legacy_wait(void)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (stream)
        atomic_store(&stream->deadline, stream->last);
}

void cunei_exception_legacy_caught(void)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_propagating *last;

    while (tracks && (last = cunei_exception_tracks_last(tracks)))
        record_caught(tracks, last);
}
