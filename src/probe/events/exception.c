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
static uint64_t word_of(PyCodeObject *code)
{
    uint64_t word = cunei_code_word(code);

    return word ? word : cunei_code_resolve(code, cunei_frames_globals());
}

static int offset_of(PyObject *offset)
{
    long number = PyLong_Check(offset) ? PyLong_AsLong(offset) : 0;

    return number > 0 && number < INT_MAX ? (int)number : 0;
}

/* module.qualname, without the module for builtins. */
static size_t copy_type(PyTypeObject *type, char text[CUNEI_FLIGHT_TYPE_MAX + 1])
{
    const size_t size = CUNEI_FLIGHT_TYPE_MAX + 1;
    size_t used = 0;

    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        /* Types of C are called module.name, but for the builtins. */
        used = strnlen(type->tp_name, CUNEI_FLIGHT_TYPE_MAX);
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

void cunei_exception_name(struct cunei_flying *flying, PyTypeObject *type)
{
    flying->type_size = copy_type(type, flying->type);
}

void cunei_exception_write(enum cunei_phase phase, const struct cunei_flying *flying)
{
    const struct cunei_exception_track *flight = &flying->flight;
    uint64_t words[] = {
        cunei_record(0, CUNEI_CLASS_EXCEPTION, phase),
        flight->function | (uint64_t)flight->line << 32,
        flight->handler | (uint64_t)flight->handler_line << 32,
        flight->unwound,
    };

    cunei_write_text(words, 4, flying->type, flying->type_size, true);
}

void cunei_exception_land(struct cunei_exception_tracks *flights,
                          struct cunei_flying *flying, uint32_t handler, uint32_t line)
{
    flying->flight.handler = handler;
    flying->flight.handler_line = line;
    cunei_exception_write(CUNEI_PHASE_LEAVE, flying);
    cunei_exception_tracks_land(flights, flying);
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

static void land_in(struct cunei_exception_tracks *flights, struct cunei_flying *flying,
                    PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_track *flight = &flying->flight;

    flight->depth = current_depth();
    if (cunei_exception_ends_thread(code, cunei_frames_globals(), flight->depth)) {
        cunei_exception_land(flights, flying, 0, CUNEI_EXCEPTION_UNHANDLED);
        return;
    }
    uint32_t handler = cunei_code_id(word_of(code));
    uint32_t line =
        handler ? cunei_line_cache_after(&flights->lines, code, offset_of(offset)) : 0;

    if (is_group(exception)) {
        PyTracebackObject *traceback = traceback_of(exception);
        flight->traceback = traceback;
        Py_XDECREF(traceback);
    }
    cunei_exception_land(flights, flying, handler, line);
}

/* Nobody has taken it, unless another thread has. */
static void drop(struct cunei_exception_tracks *flights, struct cunei_flying *flying)
{
    if (flying->flight.is_shared &&
        !cunei_exception_track_take(flying->flight.exception, flights))
        cunei_exception_tracks_remove(flights, flying);
    else
        cunei_exception_land(flights, flying, 0, 0);
}

static void drop_over(struct cunei_exception_tracks *flights, uint32_t depth)
{
    struct cunei_flying *over;

    while ((over = cunei_exception_tracks_find_over(flights, depth)))
        drop(flights, over);
}

/* Let it fly, in the frame on top. */
static struct cunei_flying *launch(struct cunei_exception_tracks *flights,
                                   struct cunei_exception_track *flight,
                                   PyCodeObject *code, PyObject *exception)
{
    flight->exception = exception;
    flight->seen_by = code;
    flight->traceback = NULL;
    flight->depth = current_depth();
    flight->is_landed = flight->is_shared = false;
    flight->is_bare = !has_traceback(exception);
    drop_over(flights, flight->depth);
    struct cunei_flying *flying = cunei_exception_tracks_add(flights, flight);
    cunei_exception_name(flying, Py_TYPE(exception));
    return flying;
}

static void begin(struct cunei_exception_tracks *flights, PyCodeObject *code,
                  PyObject *offset, PyObject *exception)
{
    uint64_t word = word_of(code);
    struct cunei_exception_track flight = {
        .type = Py_TYPE(exception),
        .raised_by = code,
        .function = cunei_code_id(word),
    };

    /* What was known at its address was another: the next one there costs less. */
    if (cunei_code_is_silent(word)) {
        (void)cunei_exception_track_take(exception, NULL);
        return;
    }
    /* So a generator is closed, or let go: nothing went wrong. */
    if (Py_IS_TYPE(exception, (PyTypeObject *)PyExc_GeneratorExit))
        return;
    flight.line = cunei_line_cache_before(&flights->lines, code, offset_of(offset));
    cunei_exception_write(CUNEI_PHASE_ENTER, launch(flights, &flight, code, exception));
}

/* It goes on from where it was. */
static struct cunei_flying *go_on(struct cunei_exception_tracks *flights,
                                  const struct cunei_exception_track *known,
                                  PyCodeObject *code, PyObject *exception)
{
    struct cunei_exception_track flight = *known;

    (void)cunei_exception_track_take(known->exception, NULL);
    struct cunei_flying *flying = launch(flights, &flight, code, exception);
    if (known->is_landed)
        cunei_exception_write(CUNEI_PHASE_RESUME, flying);
    return flying;
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
static bool has_flown(const PyTracebackObject *traceback,
                      const struct cunei_exception_track *flight)
{
    if (is_of(traceback, flight->seen_by))
        return true;
    for (int i = 0; traceback && i < TRACEBACK_MAX; i++) {
        if (is_of(traceback, flight->raised_by))
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
static void raise_with(struct cunei_exception_tracks *flights, PyCodeObject *code,
                       PyObject *offset, PyObject *exception,
                       const PyTracebackObject *traceback)
{
    bool has_landed = is_consumed(exception); /* first: it may run other code */
    struct cunei_flying *flying = cunei_exception_tracks_find(flights, exception);
    struct cunei_exception_track known;

    if (has_landed) {
        if (flying)
            land_in(flights, flying, code, offset, exception);
        return;
    }
    bool is_older = traceback && traceback->tb_next;
    if (flying && (is_older || flying->flight.is_bare)) {
        flying->flight.seen_by = code;
        flying->flight.depth = current_depth();
        flying->flight.is_bare = !traceback;
        return;
    }
    if (flying)
        drop(flights, flying); /* it died: this is another, or it is raised anew */
    else if (is_older && cunei_exception_track_look_up(exception, &known) &&
             known.type == Py_TYPE(exception) &&
             has_flown(traceback->tb_next, &known)) {
        (void)go_on(flights, &known, code, exception);
        return;
    }
    if (!is_returned(code, offset, exception))
        begin(flights, code, offset, exception);
}

void cunei_exception_raised(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();

    if (!flights)
        return;
    PyTracebackObject *traceback = traceback_of(exception);
    raise_with(flights, code, offset, exception, traceback);
    Py_XDECREF(traceback);
}

/*
 * Find the group of which this is what `except*` left.  It is made where it is raised
 * again, maybe at the address of one that flew before, and has the traceback of the
 * whole, which lived until then.
 */
static bool find_whole(const struct cunei_exception_tracks *flights, PyCodeObject *code,
                       PyObject *exception, struct cunei_exception_track *whole)
{
    if (!is_group(exception))
        return false;
    PyTracebackObject *traceback = traceback_of(exception);
    const struct cunei_exception_track *group =
        traceback ? cunei_exception_tracks_find_group(flights, traceback) : NULL;
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
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    struct cunei_exception_track known;

    if (!flights)
        return;
    struct cunei_flying *flying = cunei_exception_tracks_find(flights, exception);
    bool is_rest = find_whole(flights, code, exception, &known);
    if (flying && !is_rest)
        return;
    if (flying)
        drop(flights, flying); /* it died, and this is at its address */
    if (is_rest || (cunei_exception_track_look_up(exception, &known) &&
                    known.type == Py_TYPE(exception)))
        (void)go_on(flights, &known, code, exception);
    else
        begin(flights, code, offset, exception); /* in place of what was taken */
}

void cunei_exception_handled(PyCodeObject *code, PyObject *offset, PyObject *exception)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    struct cunei_flying *flying =
        flights ? cunei_exception_tracks_find(flights, exception) : NULL;

    if (flying)
        land_in(flights, flying, code, offset, exception);
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
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    struct cunei_flying *flying =
        flights ? cunei_exception_tracks_find(flights, exception) : NULL;
    (void)offset;

    if (!flying)
        return;
    struct cunei_exception_track *flight = &flying->flight;
    bool is_recorded = cunei_code_id(word_of(code)) != 0;
    if (is_recorded) {
        flight->unwound++;
        flight->depth = current_depth();
        flight->is_bare = !has_traceback(exception);
    }
    /* Below the outermost frame there is nobody left to take it. */
    if (current_depth() <= 1)
        cunei_exception_land(
            flights, flying, 0,
            cunei_exception_ends_program(code) ? CUNEI_EXCEPTION_UNHANDLED : 0);
    else if (is_recorded)
        cunei_exception_tracks_share(flights, flight);
}

void cunei_exception_consumed(PyCodeObject *code, int offset, PyObject *exception)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    struct cunei_flying *flying =
        flights ? cunei_exception_tracks_find(flights, exception) : NULL;

    if (!flying)
        return;
    uint32_t handler = cunei_code_id(cunei_code_word(code));
    flying->flight.depth = current_depth() - 1;
    cunei_exception_land(flights, flying, handler,
                         handler ? cunei_line_cache_after(&flights->lines, code, offset)
                                 : 0);
}

void cunei_exception_ended(PyCodeObject *code)
{
    const struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    const struct cunei_exception_track *last =
        flights && flights->count ? &flights->items[flights->count - 1].flight : NULL;

    /* It has not been taken, so it is alive. */
    if (last && last->seen_by == code && last->depth == current_depth())
        cunei_exception_unwound(code, NULL, (PyObject *)(uintptr_t)last->exception);
}

void cunei_exception_let_go(PyCodeObject *code, PyObject *exception)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();
    struct cunei_exception_track known;

    if (!flights || cunei_exception_tracks_find(flights, exception) ||
        !cunei_exception_track_look_up(exception, &known) || !known.is_landed ||
        known.type != Py_TYPE(exception))
        return;
    go_on(flights, &known, code, exception)->flight.unwound +=
        cunei_code_id(word_of(code)) != 0;
}

void cunei_exception_end(void)
{
    struct cunei_exception_tracks *flights = cunei_exception_tracks_own();

    if (flights)
        drop_over(flights, 0);
}

void cunei_exception_reset(void)
{
    cunei_exception_tracks_reset();
}
