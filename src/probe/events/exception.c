// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception.h"

#include <limits.h>

#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/code/line.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/events/exception_record.h"
#include "probe/events/exception_track.h"
#include "wire/event.h"

/* A new reference: other threads may raise the same exception. */
static PyTracebackObject *traceback_of(PyObject *exception)
{
    return (PyTracebackObject *)PyException_GetTraceback(exception);
}

static bool has_traceback(PyObject *exception)
{
    PyTracebackObject *traceback = traceback_of(exception);

    Py_XDECREF(traceback);
    return traceback != NULL;
}

static uint32_t current_depth(void)
{
    return (uint32_t)cunei_frame_depth(PyThreadState_Get());
}

/* The tag of the code on top. */
static uint64_t tag_of(PyCodeObject *code)
{
    uint64_t tag = cunei_code_tag(code);

    return tag ? tag : cunei_code_resolve(code, cunei_frames_globals());
}

static int offset_of(PyObject *offset)
{
    long number = PyLong_Check(offset) ? PyLong_AsLong(offset) : 0;

    return number > 0 && number < INT_MAX ? (int)number : 0;
}

static bool is_group(PyObject *exception)
{
#if PY_VERSION_HEX >= 0x030b0000
    return PyObject_TypeCheck(exception, (PyTypeObject *)PyExc_BaseExceptionGroup);
#else
    (void)exception;
    return false;
#endif
}

static void catch_in(struct cunei_exception_tracks *tracks,
                     struct cunei_propagating *propagating, PyCodeObject *code,
                     PyObject *offset, PyObject *exception)
{
    struct cunei_exception_track *track = &propagating->track;

    track->depth = current_depth();
    if (cunei_exception_record_ends_thread(code, cunei_frames_globals(),
                                           track->depth)) {
        cunei_exception_record_caught(tracks, propagating, 0,
                                      CUNEI_EXCEPTION_UNHANDLED);
        return;
    }
    uint32_t handler = cunei_code_id(tag_of(code));
    uint32_t line =
        handler ? cunei_line_cache_after(&tracks->lines, code, offset_of(offset)) : 0;

    if (is_group(exception)) {
        PyTracebackObject *traceback = traceback_of(exception);
        track->traceback = traceback;
        Py_XDECREF(traceback);
    }
    cunei_exception_record_caught(tracks, propagating, handler, line);
}

/* It was not caught, or another thread has taken it over. */
static void drop(struct cunei_exception_tracks *tracks,
                 struct cunei_propagating *propagating)
{
    if (propagating->track.is_shared &&
        !cunei_exception_track_remove(propagating->track.exception, tracks))
        cunei_exception_tracks_remove(tracks, propagating);
    else
        cunei_exception_record_caught(tracks, propagating, 0, 0);
}

static void drop_finished(struct cunei_exception_tracks *tracks, uint32_t depth)
{
    struct cunei_propagating *over;

    while ((over = cunei_exception_tracks_find_finished(tracks, depth)))
        drop(tracks, over);
}

/* Track it from now on, in the frame on top. */
static struct cunei_propagating *begin_track(struct cunei_exception_tracks *tracks,
                                             struct cunei_exception_track *track,
                                             PyCodeObject *code, PyObject *exception)
{
    track->exception = exception;
    track->seen_by = code;
    track->traceback = NULL;
    track->depth = current_depth();
    track->is_caught = track->is_shared = false;
    track->is_bare = !has_traceback(exception);
    drop_finished(tracks, track->depth);
    struct cunei_propagating *propagating = cunei_exception_tracks_add(tracks, track);
    cunei_exception_record_type(propagating, Py_TYPE(exception));
    return propagating;
}

static void begin(struct cunei_exception_tracks *tracks, PyCodeObject *code,
                  PyObject *offset, PyObject *exception)
{
    uint64_t tag = tag_of(code);
    struct cunei_exception_track track = {
        .type = Py_TYPE(exception),
        .raised_by = code,
        .function = cunei_code_id(tag),
    };

    /* A track at its address was another exception's: the next lookup costs less. */
    if (cunei_code_is_silent(tag)) {
        (void)cunei_exception_track_remove(exception, NULL);
        return;
    }
    /* This closes a generator: it is not an error. */
    if (Py_IS_TYPE(exception, (PyTypeObject *)PyExc_GeneratorExit))
        return;
    track.line = cunei_line_cache_before(&tracks->lines, code, offset_of(offset));
    cunei_exception_record_write(CUNEI_PHASE_ENTER,
                                 begin_track(tracks, &track, code, exception));
}

/* Continue a known track. */
static struct cunei_propagating *resume(struct cunei_exception_tracks *tracks,
                                        const struct cunei_exception_track *known,
                                        PyCodeObject *code, PyObject *exception)
{
    struct cunei_exception_track track = *known;

    (void)cunei_exception_track_remove(known->exception, NULL);
    struct cunei_propagating *propagating =
        begin_track(tracks, &track, code, exception);
    if (known->is_caught)
        cunei_exception_record_write(CUNEI_PHASE_RESUME, propagating);
    return propagating;
}

/*
 * Whether an exception with this traceback, below the frame on top, is the tracked one,
 * and not another at its address: its traceback has grown from where it was, or was
 * reset to an earlier frame.
 */
static bool is_same_track(const PyTracebackObject *traceback,
                          const struct cunei_exception_track *track)
{
    return cunei_exception_record_is_of(traceback, track->seen_by) ||
           cunei_exception_record_passed(traceback, track->raised_by);
}

static bool is_stop(PyObject *exception)
{
    return PyObject_TypeCheck(exception, (PyTypeObject *)PyExc_StopIteration);
}

/*
 * Whether a loop, or `yield from`, has consumed it.  The frame on top adds itself to
 * the traceback only if it is really raised.
 */
static bool is_consumed(PyObject *exception)
{
    if (!is_stop(exception))
        return false;
    PyTracebackObject *traceback = traceback_of(exception);
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    bool is_added = traceback && traceback->tb_frame == frame;
    Py_XDECREF(frame);
    Py_XDECREF(traceback);
    return !is_added;
}

/* Whether it is only the result of an exception that was thrown into a generator. */
static bool is_returned(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    return is_stop(exception) && cunei_frame_yields(code, offset_of(offset));
}

/* With its traceback. */
static void raise_with(struct cunei_exception_tracks *tracks, PyCodeObject *code,
                       PyObject *offset, PyObject *exception,
                       const PyTracebackObject *traceback)
{
    bool was_caught = is_consumed(exception); /* first: it may run other code */
    struct cunei_propagating *propagating =
        cunei_exception_tracks_find(tracks, exception);
    struct cunei_exception_track known;

    if (was_caught) {
        if (propagating)
            catch_in(tracks, propagating, code, offset, exception);
        return;
    }
    bool is_older = traceback && traceback->tb_next;
    if (propagating && (is_older || propagating->track.is_bare)) {
        propagating->track.seen_by = code;
        propagating->track.depth = current_depth();
        propagating->track.is_bare = !traceback;
        return;
    }
    if (propagating)
        drop(tracks,
             propagating); /* that one is dead: this is another, or it is raised anew */
    else if (is_older && cunei_exception_track_look_up(exception, &known) &&
             known.type == Py_TYPE(exception) &&
             is_same_track(traceback->tb_next, &known)) {
        (void)resume(tracks, &known, code, exception);
        return;
    }
    if (!is_returned(code, offset, exception))
        begin(tracks, code, offset, exception);
}

void cunei_exception_raised(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();

    if (!tracks)
        return;
    PyTracebackObject *traceback = traceback_of(exception);
    raise_with(tracks, code, offset, exception, traceback);
    Py_XDECREF(traceback);
}

/*
 * Find the group of which this is the rest that `except*` did not handle.  It is
 * created where it is reraised, maybe at the address of an older exception, and has the
 * traceback of the group, which lived until then.
 */
static bool find_whole(const struct cunei_exception_tracks *tracks, PyCodeObject *code,
                       PyObject *exception, struct cunei_exception_track *whole)
{
    if (!is_group(exception))
        return false;
    PyTracebackObject *traceback = traceback_of(exception);
    const struct cunei_exception_track *group =
        traceback ? cunei_exception_tracks_find_group(tracks, traceback) : NULL;
    Py_XDECREF(traceback);
    if (!group || group->exception == exception || group->type != Py_TYPE(exception) ||
        group->seen_by != code || group->depth != current_depth())
        return false;
    *whole = *group;
    return true;
}

void cunei_exception_raised_again(PyCodeObject *code, PyObject *offset,
                                  PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_exception_track known;

    if (!tracks)
        return;
    struct cunei_propagating *propagating =
        cunei_exception_tracks_find(tracks, exception);
    bool is_rest = find_whole(tracks, code, exception, &known);
    if (propagating && !is_rest)
        return;
    if (propagating)
        drop(tracks, propagating); /* that one is dead, and had the same address */
    if (is_rest || (cunei_exception_track_look_up(exception, &known) &&
                    known.type == Py_TYPE(exception)))
        (void)resume(tracks, &known, code, exception);
    else
        begin(tracks, code, offset, exception); /* instead of the one that was caught */
}

void cunei_exception_handled(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_propagating *propagating =
        tracks ? cunei_exception_tracks_find(tracks, exception) : NULL;

    if (propagating)
        catch_in(tracks, propagating, code, offset, exception);
}

void cunei_exception_unwound(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_propagating *propagating =
        tracks ? cunei_exception_tracks_find(tracks, exception) : NULL;
    (void)offset;

    if (!propagating)
        return;
    struct cunei_exception_track *track = &propagating->track;
    bool is_recorded = cunei_code_id(tag_of(code)) != 0;
    if (is_recorded) {
        track->unwound++;
        track->depth = current_depth();
        track->is_bare = !has_traceback(exception);
    }
    /* Below the outermost frame there is no handler left. */
    if (current_depth() <= 1)
        cunei_exception_record_caught(
            tracks, propagating, 0,
            cunei_exception_record_ends_program(code) ? CUNEI_EXCEPTION_UNHANDLED : 0);
    else if (is_recorded)
        cunei_exception_tracks_share(tracks, track);
}

void cunei_exception_consumed(PyCodeObject *code, int offset, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_propagating *propagating =
        tracks ? cunei_exception_tracks_find(tracks, exception) : NULL;

    if (!propagating)
        return;
    uint32_t handler = cunei_code_id(cunei_code_tag(code));
    propagating->track.depth = current_depth() - 1;
    cunei_exception_record_caught(
        tracks, propagating, handler,
        handler ? cunei_line_cache_after(&tracks->lines, code, offset) : 0);
}

void cunei_exception_ended(PyCodeObject *code)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    const struct cunei_propagating *last =
        tracks ? cunei_exception_tracks_last(tracks) : NULL;

    /* It was not caught, so it is alive. */
    if (last && last->track.seen_by == code && last->track.depth == current_depth())
        cunei_exception_unwound(code, NULL,
                                (PyObject *)(uintptr_t)last->track.exception);
}

void cunei_exception_reraised(PyCodeObject *code, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_exception_track known;

    if (!tracks || cunei_exception_tracks_find(tracks, exception) ||
        !cunei_exception_track_look_up(exception, &known) || !known.is_caught ||
        known.type != Py_TYPE(exception))
        return;
    resume(tracks, &known, code, exception)->track.unwound +=
        cunei_code_id(tag_of(code)) != 0;
}

void cunei_exception_end(void)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();

    if (tracks)
        drop_finished(tracks, 0);
}
