// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception.h"

#include <limits.h>
#include <string.h>

#include "probe/code/code_resolve.h"
#include "probe/code/frames.h"
#include "probe/code/line.h"
#include "probe/core/compat.h"
#include "probe/core/frame.h"
#include "probe/core/names.h"
#include "probe/core/write.h"
#include "probe/events/exception_track.h"
#include "wire/event.h"

/* How far a traceback is searched for the frame that an exception came from. */
#define TRACEBACK_MAX 4096

/* How many frames a thread of threading has when its function is not called yet. */
#define BOOTSTRAP_DEPTH 3u

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

/* The word of the code on top. */
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

/* module.qualname, without the module for builtins. */
static size_t copy_type(PyTypeObject *type,
                        char text[CUNEI_EXCEPTION_TRACK_TYPE_MAX + 1])
{
    const size_t size = CUNEI_EXCEPTION_TRACK_TYPE_MAX + 1;
    size_t used = 0;

    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        /* Types of C are called module.name, but for the builtins. */
        used = strnlen(type->tp_name, CUNEI_EXCEPTION_TRACK_TYPE_MAX);
        memcpy(text, type->tp_name, used);
        return used;
    }
    PyObject *attributes = PyType_GetDict(type);
    PyObject *module =
        attributes ? cunei_compat_dict_get(attributes, "__module__") : NULL;
    PyErr_Clear();
    if (module && PyUnicode_Check(module) &&
        PyUnicode_CompareWithASCIIString(module, "builtins") != 0) {
        used = cunei_names_copy(module, text, size - 1);
        text[used++] = '.';
    }
    PyObject *name = PyType_GetQualName(type);
    used += cunei_names_copy(name, text + used, size - used);
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(attributes);
    return used;
}

void cunei_exception_name(struct cunei_propagating *propagating, PyTypeObject *type)
{
    propagating->type_size = copy_type(type, propagating->type);
}

void cunei_exception_write(enum cunei_phase phase,
                           const struct cunei_propagating *propagating)
{
    const struct cunei_exception_track *track = &propagating->track;
    uint64_t words[] = {
        cunei_record(0, CUNEI_CLASS_EXCEPTION, phase),
        track->function | (uint64_t)track->line << 32,
        track->handler | (uint64_t)track->handler_line << 32,
        track->unwound,
    };

    cunei_write_text(words, 4, propagating->type, propagating->type_size, true);
}

void cunei_exception_caught(struct cunei_exception_tracks *tracks,
                            struct cunei_propagating *propagating, uint32_t handler,
                            uint32_t line)
{
    propagating->track.handler = handler;
    propagating->track.handler_line = line;
    cunei_exception_write(CUNEI_PHASE_LEAVE, propagating);
    cunei_exception_tracks_caught(tracks, propagating);
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

bool cunei_exception_ends_thread(PyCodeObject *code, PyObject *globals, uint32_t depth)
{
    if (depth > BOOTSTRAP_DEPTH ||
        PyUnicode_CompareWithASCIIString(code->co_name, "_bootstrap_inner") != 0)
        return false;
    PyObject *module = globals && PyDict_Check(globals)
                           ? cunei_compat_dict_get(globals, "__name__")
                           : NULL;
    bool yes = module && PyUnicode_Check(module) &&
               PyUnicode_CompareWithASCIIString(module, "threading") == 0;
    Py_XDECREF(module);
    return yes;
}

static void catch_in(struct cunei_exception_tracks *tracks,
                     struct cunei_propagating *propagating, PyCodeObject *code,
                     PyObject *offset, PyObject *exception)
{
    struct cunei_exception_track *track = &propagating->track;

    track->depth = current_depth();
    if (cunei_exception_ends_thread(code, cunei_frames_globals(), track->depth)) {
        cunei_exception_caught(tracks, propagating, 0, CUNEI_EXCEPTION_UNHANDLED);
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
    cunei_exception_caught(tracks, propagating, handler, line);
}

/* Nobody has taken it, unless another thread has. */
static void drop(struct cunei_exception_tracks *tracks,
                 struct cunei_propagating *propagating)
{
    if (propagating->track.is_shared &&
        !cunei_exception_track_remove(propagating->track.exception, tracks))
        cunei_exception_tracks_remove(tracks, propagating);
    else
        cunei_exception_caught(tracks, propagating, 0, 0);
}

static void drop_finished(struct cunei_exception_tracks *tracks, uint32_t depth)
{
    struct cunei_propagating *over;

    while ((over = cunei_exception_tracks_find_finished(tracks, depth)))
        drop(tracks, over);
}

/* Let it fly, in the frame on top. */
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
    cunei_exception_name(propagating, Py_TYPE(exception));
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

    /* What was known at its address was another: the next one there costs less. */
    if (cunei_code_is_silent(tag)) {
        (void)cunei_exception_track_remove(exception, NULL);
        return;
    }
    /* So a generator is closed, or let go: nothing went wrong. */
    if (Py_IS_TYPE(exception, (PyTypeObject *)PyExc_GeneratorExit))
        return;
    track.line = cunei_line_cache_before(&tracks->lines, code, offset_of(offset));
    cunei_exception_write(CUNEI_PHASE_ENTER,
                          begin_track(tracks, &track, code, exception));
}

/* It goes on from where it was. */
static struct cunei_propagating *go_on(struct cunei_exception_tracks *tracks,
                                       const struct cunei_exception_track *known,
                                       PyCodeObject *code, PyObject *exception)
{
    struct cunei_exception_track track = *known;

    (void)cunei_exception_track_remove(known->exception, NULL);
    struct cunei_propagating *propagating =
        begin_track(tracks, &track, code, exception);
    if (known->is_caught)
        cunei_exception_write(CUNEI_PHASE_RESUME, propagating);
    return propagating;
}

static bool is_of(const PyTracebackObject *traceback, const void *code)
{
    PyCodeObject *own = PyFrame_GetCode(traceback->tb_frame);

    Py_DECREF(own); /* its frame keeps it */
    return own == code;
}

/*
 * Whether an exception with this traceback, below the frame on top, is the one that
 * flew, and not another at its address: its traceback has grown from where it was, or
 * was taken back to some frame before that.
 */
static bool is_same_track(const PyTracebackObject *traceback,
                          const struct cunei_exception_track *track)
{
    if (is_of(traceback, track->seen_by))
        return true;
    for (int i = 0; traceback && i < TRACEBACK_MAX; i++) {
        if (is_of(traceback, track->raised_by))
            return true;
        traceback = traceback->tb_next;
    }
    return false;
}

static bool is_stop(PyObject *exception)
{
    return PyObject_TypeCheck(exception, (PyTypeObject *)PyExc_StopIteration);
}

/*
 * Whether a loop, or `yield from`, has consumed it.  Only where it is raised for good
 * the frame on top puts itself into the traceback.
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

/* Whether it only says what an exception that was thrown into a generator led to. */
static bool is_returned(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    return is_stop(exception) && cunei_frame_yields(code, offset_of(offset));
}

/* With the traceback that it has. */
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
        drop(tracks, propagating); /* it died: this is another, or it is raised anew */
    else if (is_older && cunei_exception_track_look_up(exception, &known) &&
             known.type == Py_TYPE(exception) &&
             is_same_track(traceback->tb_next, &known)) {
        (void)go_on(tracks, &known, code, exception);
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
 * Find the group of which this is what `except*` left.  It is made where it is raised
 * again, maybe at the address of one that flew before, and has the traceback of the
 * whole, which lived until then.
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
        drop(tracks, propagating); /* it died, and this is at its address */
    if (is_rest || (cunei_exception_track_look_up(exception, &known) &&
                    known.type == Py_TYPE(exception)))
        (void)go_on(tracks, &known, code, exception);
    else
        begin(tracks, code, offset, exception); /* in place of what was taken */
}

void cunei_exception_handled(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_propagating *propagating =
        tracks ? cunei_exception_tracks_find(tracks, exception) : NULL;

    if (propagating)
        catch_in(tracks, propagating, code, offset, exception);
}

bool cunei_exception_ends_program(PyCodeObject *code)
{
    static const char *const files[] = {"<frozen importlib", "<frozen zipimport"};
    const char *file = PyUnicode_AsUTF8(code->co_filename);

    if (!file)
        PyErr_Clear();
    for (size_t i = 0; file && i < sizeof(files) / sizeof(files[0]); i++) {
        if (strncmp(file, files[i], strlen(files[i])) == 0)
            return false;
    }
    return true;
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
    /* Below the outermost frame there is nobody left to take it. */
    if (current_depth() <= 1)
        cunei_exception_caught(
            tracks, propagating, 0,
            cunei_exception_ends_program(code) ? CUNEI_EXCEPTION_UNHANDLED : 0);
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
    cunei_exception_caught(
        tracks, propagating, handler,
        handler ? cunei_line_cache_after(&tracks->lines, code, offset) : 0);
}

void cunei_exception_ended(PyCodeObject *code)
{
    const struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    const struct cunei_exception_track *last =
        tracks && tracks->count ? &tracks->items[tracks->count - 1].track : NULL;

    /* It has not been taken, so it is alive. */
    if (last && last->seen_by == code && last->depth == current_depth())
        cunei_exception_unwound(code, NULL, (PyObject *)(uintptr_t)last->exception);
}

void cunei_exception_reraised(PyCodeObject *code, PyObject *exception)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();
    struct cunei_exception_track known;

    if (!tracks || cunei_exception_tracks_find(tracks, exception) ||
        !cunei_exception_track_look_up(exception, &known) || !known.is_caught ||
        known.type != Py_TYPE(exception))
        return;
    go_on(tracks, &known, code, exception)->track.unwound +=
        cunei_code_id(tag_of(code)) != 0;
}

void cunei_exception_end(void)
{
    struct cunei_exception_tracks *tracks = cunei_exception_tracks_own();

    if (tracks)
        drop_finished(tracks, 0);
}

void cunei_exception_reset(void)
{
    cunei_exception_tracks_reset();
}
