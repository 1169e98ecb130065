// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/exception_legacy.h"

#include <stdbool.h>

#include "probe/code/code.h"
#include "probe/code/line.h"
#include "probe/code/qualname.h"
#include "probe/core/frame.h"
#include "probe/core/hot.h"
#include "probe/events/exception.h"
#include "probe/events/exception_track.h"
#include "rt/stream.h"
#include "wire/event.h"

/* How far a traceback is searched. */
#define TRACEBACK_MAX 4096
/* By how many entries it grows in a frame that raises it again. */
#define ENTRIES_MAX 8

static bool is_a(PyObject *type, PyObject *wanted)
{
    return PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)wanted);
}

static const PyTracebackObject *innermost(const PyTracebackObject *traceback)
{
    for (int i = 0; traceback->tb_next && i < TRACEBACK_MAX; i++)
        traceback = traceback->tb_next;
    return traceback;
}

static bool is_of(const PyTracebackObject *traceback, const void *code)
{
    PyCodeObject *own = PyFrame_GetCode(traceback->tb_frame);

    Py_DECREF(own); /* its frame keeps it */
    return own == code;
}

/* Whether the function that it was raised in is below the frame on top. */
static bool has_flown(const PyTracebackObject *traceback, const void *raised_by)
{
    traceback = traceback->tb_next;
    for (int i = 0; traceback && i < TRACEBACK_MAX; i++) {
        if (is_of(traceback, raised_by))
            return true;
        traceback = traceback->tb_next;
    }
    return false;
}

/* An exception that is not an object yet has none to be compared with. */
static const void *object_of(const struct cunei_compat_error *error)
{
    return error->value && PyExceptionInstance_Check(error->value) ? error->value
                                                                   : NULL;
}

static bool is_same(const struct cunei_exception_track *flight,
                    const struct cunei_compat_error *error)
{
    const void *object = object_of(error);

    return flight->type == error->type &&
           (!flight->object || !object || flight->object == object);
}

/* The one that has just ended the frame above. */
static struct cunei_flying *find_flying(struct cunei_exception_tracks *flights,
                                        const struct cunei_compat_error *error)
{
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;
    struct cunei_flying *last =
        flights->count ? &flights->items[flights->count - 1] : NULL;

    if (!last || !is_same(&last->flight, error))
        return NULL;
    for (int i = 0; traceback && i < ENTRIES_MAX; i++) {
        if (traceback == last->flight.head)
            return last;
        traceback = traceback->tb_next;
    }
    return NULL;
}

static struct cunei_flying *launch(struct cunei_exception_tracks *flights,
                                   const struct cunei_exception_track *flight,
                                   const struct cunei_compat_error *error,
                                   enum cunei_phase phase)
{
    struct cunei_flying *flying = cunei_exception_tracks_add(flights, flight);

    flying->flight.exception = innermost((const PyTracebackObject *)error->traceback);
    flying->flight.object = object_of(error);
    flying->flight.is_landed = flying->flight.is_shared = false;
    cunei_exception_name(flying, (PyTypeObject *)error->type);
    cunei_exception_write(phase, flying);
    return flying;
}

/* One that flew before, was kept or thought to be over, and goes on. */
static struct cunei_flying *go_on(struct cunei_exception_tracks *flights,
                                  const struct cunei_compat_error *error)
{
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;
    const void *key = innermost(traceback);
    struct cunei_exception_track known;

    if (key == traceback || !cunei_exception_track_look_up(key, &known) ||
        !is_same(&known, error) || !has_flown(traceback, known.raised_by))
        return NULL;
    (void)cunei_exception_track_take(key, NULL);
    return launch(flights, &known, error, CUNEI_PHASE_RESUME);
}

static uint32_t line_of(struct cunei_exception_tracks *flights, PyCodeObject *code,
                        const PyTracebackObject *traceback)
{
    return cunei_line_cache_before(&flights->lines, code, traceback->tb_lasti);
}

static struct cunei_flying *begin(struct cunei_exception_tracks *flights,
                                  PyCodeObject *code, uint32_t function,
                                  const struct cunei_compat_error *error)
{
    struct cunei_exception_track flight = {
        .type = error->type,
        .raised_by = code,
        .function = function,
        .is_stop = is_a(error->type, PyExc_StopIteration),
        .line = line_of(flights, code, (const PyTracebackObject *)error->traceback),
    };

    return launch(flights, &flight, error, CUNEI_PHASE_ENTER);
}

/* Whether the frame's instruction is one that a StopIteration ends. */
static bool iterates(cunei_compat_311_frame *frame)
{
    static const int ends[] = {
        FOR_ITER,
#if PY_VERSION_HEX >= 0x030b0000
        SEND,
#else
        YIELD_FROM,
#endif
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (cunei_frame_is_at(frame->f_code, cunei_compat_311_offset(frame), ends[i]))
            return true;
    }
    return false;
}

/* Whether the interpreter puts another in its place when it leaves a generator. */
static bool is_replaced(const PyCodeObject *code, PyObject *type)
{
    return (code->co_flags & CUNEI_GENERATES && is_a(type, PyExc_StopIteration)) ||
           (code->co_flags & CO_ASYNC_GENERATOR &&
            is_a(type, PyExc_StopAsyncIteration));
}

/* Counted up to what a thread of threading has below its function, and one more. */
static uint32_t count_frames(const cunei_compat_311_frame *frame)
{
    uint32_t count = 0;

    for (; frame && count <= 3; frame = cunei_compat_311_below(frame))
        count++;
    return count;
}

/* Who takes it, if it goes no further.  A task keeps what ends its coroutine. */
static void find_taker(struct cunei_exception_tracks *flights,
                       struct cunei_exception_track *flight,
                       cunei_compat_311_frame *below)
{
    const PyCodeObject *ended = flight->seen_by;
    int handler = cunei_compat_311_handler(below);

    if (ended && ended->co_flags & CO_COROUTINE &&
        cunei_qualname_is(below->f_code, "Handle._run"))
        return;
    if (cunei_exception_ends_thread(below->f_code, below->f_globals,
                                    count_frames(below))) {
        flight->handler_line = CUNEI_EXCEPTION_UNHANDLED;
        return;
    }
    if (flight->is_stop && iterates(below))
        handler = cunei_compat_311_offset(below);
    if (handler < 0)
        return;
    flight->handler = cunei_code_id(cunei_code_word(below->f_code));
    if (flight->handler)
        flight->handler_line =
            cunei_line_cache_after(&flights->lines, below->f_code, handler);
}

static void land(struct cunei_exception_tracks *flights, struct cunei_flying *flying)
{
    cunei_exception_land(flights, flying, flying->flight.handler,
                         flying->flight.handler_line);
}

/* It has ended a frame: who is next to take it. */
static void fall(struct cunei_exception_tracks *flights, struct cunei_flying *flying,
                 PyCodeObject *ended, cunei_compat_311_frame *below, bool is_recorded)
{
    struct cunei_exception_track *flight = &flying->flight;

    flight->seen_by = ended;
    flight->unwound += is_recorded;
    flight->handler = flight->handler_line = 0;
    if (below) {
        find_taker(flights, flight, below);
        return;
    }
    /* Nobody is left to take it. */
    if (cunei_exception_ends_program(ended))
        flight->handler_line = CUNEI_EXCEPTION_UNHANDLED;
    land(flights, flying);
}

void cunei_exception_legacy_unwound(cunei_compat_311_frame *frame,
                                    cunei_compat_311_frame *below, uint64_t word,
                                    const struct cunei_compat_error *error)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;
    uint32_t function = cunei_code_id(word);

    /* By the former a generator is closed, or let go: nothing went wrong. */
    if (!flights || !error->type || error->type == PyExc_GeneratorExit ||
        !PyExceptionClass_Check(error->type))
        return;
    /* One that a frame ends by before it has begun is its caller's. */
    if (!traceback || cunei_frame_of(traceback->tb_frame) != frame)
        return;
    struct cunei_flying *flying = find_flying(flights, error);
    if (!flying) {
        cunei_exception_legacy_landed();
        flying = go_on(flights, error);
    }
    /* One whose function has no id, for want of space, is told, and counted as lost. */
    if (!flying && !(word & CUNEI_CODE_OFF))
        flying = begin(flights, frame->f_code, function, error);
    if (!flying)
        return;
    if (is_replaced(frame->f_code, error->type)) {
        flying->flight.handler = function;
        flying->flight.handler_line = line_of(flights, frame->f_code, traceback);
        land(flights, flying);
        return;
    }
    flying->flight.head = traceback;
    fall(flights, flying, frame->f_code, below, function != 0);
}

/* What is thrown into a generator to close it, and what flies already, is known. */
void cunei_exception_legacy_taken(cunei_compat_311_frame *frame, uint64_t word,
                                  const struct cunei_compat_error *error, int handler)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    const PyTracebackObject *traceback = (const PyTracebackObject *)error->traceback;

    cunei_exception_legacy_landed();
    if (!flights || traceback->tb_next || word & CUNEI_CODE_OFF ||
        error->type == PyExc_GeneratorExit || !PyExceptionClass_Check(error->type))
        return;
    struct cunei_flying *flying =
        begin(flights, frame->f_code, cunei_code_id(word), error);
    flying->flight.handler = cunei_code_id(word);
    flying->flight.handler_line =
        cunei_line_cache_after(&flights->lines, frame->f_code, handler);
    land(flights, flying);
}

void cunei_exception_legacy_let_go(PyCodeObject *code, cunei_compat_311_frame *frame,
                                   const struct cunei_compat_error *error)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();

    if (!flights || find_flying(flights, error))
        return;
    cunei_exception_legacy_landed();
    struct cunei_flying *flying = go_on(flights, error);
    if (!flying)
        return;
    struct cunei_exception_track *flight = &flying->flight;
    flight->head = ((const PyTracebackObject *)error->traceback)->tb_next;
    flight->unwound += code && cunei_code_id(cunei_code_word(code)) != 0;
    flight->handler = flight->handler_line = 0;
    find_taker(flights, flight, frame);
}

void cunei_exception_legacy_fell(PyCodeObject *code, cunei_compat_311_frame *below,
                                 uint64_t word)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();

    if (flights && flights->count)
        fall(flights, &flights->items[flights->count - 1], code, below,
             cunei_code_id(word) != 0);
}

void cunei_exception_legacy_wait(void)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (stream)
        atomic_store(&stream->deadline, stream->last);
}

void cunei_exception_legacy_landed(void)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();

    while (flights && flights->count)
        land(flights, &flights->items[flights->count - 1]);
}
