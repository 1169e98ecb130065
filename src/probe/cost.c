// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/cost.h"

#include <signal.h>
#include <stdlib.h>

#include "probe/code.h"
#include "probe/compat.h"
#include "probe/world.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/event.h"

#define EVENTS UINT64_C(2000) /* of a thousand calls */
#define ROUNDS 5

/* Events go where nobody reads: a stream over private memory stands in for ours. */
struct scratch {
    struct cunei_stream stream;
    struct cunei_stream *before;
};

static int scratch_init(struct scratch *scratch)
{
    scratch->before = cunei_stream_own;
    scratch->stream = (struct cunei_stream){.packet = calloc(1, CUNEI_PACKET_SIZE)};
    return scratch->stream.packet ? 0 : -1;
}

static void scratch_begin(struct scratch *scratch)
{
    scratch->stream.content_bits = 8 * sizeof(struct cunei_packet);
    scratch->stream.last = cunei_clock_read();
    scratch->stream.deadline = scratch->stream.last + CUNEI_SPAN_MAX;
    cunei_stream_own = &scratch->stream;
}

static void scratch_end(struct scratch *scratch)
{
    cunei_stream_own = scratch->before;
}

/* One run of the loop, in nanoseconds; 0: it failed. */
static uint64_t time_loop(PyObject *loop)
{
    uint64_t start_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    PyObject *result = PyObject_CallNoArgs(loop);
    uint64_t elapsed_ns = cunei_clock_ns(CLOCK_MONOTONIC) - start_ns;

    Py_XDECREF(result);
    return result ? elapsed_ns : 0;
}

/* The same with events on; 0: it failed. */
static uint64_t time_traced(struct cunei_source *source, PyObject *loop,
                            struct scratch *scratch)
{
    uint64_t ns = 0;

    scratch_begin(scratch);
    if (source->methods->record(source, false) == 0)
        ns = time_loop(loop);
    scratch_end(scratch);
    struct cunei_compat_error error = cunei_compat_put_aside();
    source->methods->pause(source);
    cunei_compat_put_back(&error);
    return ns;
}

static uint64_t measure(struct cunei_source *source, PyObject *loop)
{
    struct scratch scratch;
    uint64_t plain_ns = UINT64_MAX, traced_ns = UINT64_MAX;

    if (scratch_init(&scratch) < 0)
        return 0;
    for (int i = 0; i < ROUNDS && plain_ns && traced_ns; i++) {
        uint64_t ns = time_loop(loop);
        plain_ns = ns < plain_ns ? ns : plain_ns;
        ns = ns ? time_traced(source, loop, &scratch) : 0;
        traced_ns = ns < traced_ns ? ns : traced_ns;
    }
    free(scratch.stream.packet);
    return traced_ns > plain_ns ? (traced_ns - plain_ns) * 1000 / EVENTS : 0;
}

/* Words without a definition behind them: no trace will ever hold their records. */
static int set_words(PyObject *loop, PyObject *leaf)
{
    const uint64_t word = (uint64_t)CUNEI_FUNCTION_FIRST << CUNEI_CLASS_SHIFT;
    PyObject *functions[] = {loop, leaf};

    for (size_t i = 0; i < 2; i++) {
        PyObject *code = functions[i] && PyFunction_Check(functions[i])
                             ? PyFunction_GetCode(functions[i])
                             : NULL;
        if (!code || cunei_code_set_word((PyCodeObject *)code, word) < 0)
            return -1;
    }
    return 0;
}

/*
 * The same with signals kept for later: the loop is no place for their handlers, which
 * may raise.
 */
static uint64_t measure_undisturbed(struct cunei_source *source, PyObject *loop)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return 0;
    uint64_t cost_ps = measure(source, loop);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return cost_ps;
}

/* Whether sys.settrace or sys.setprofile is in use; an error counts as yes. */
static bool is_traced(void)
{
    static const char *const names[] = {"gettrace", "getprofile"};
    bool traced = false;

    for (size_t i = 0; i < 2; i++) {
        PyObject *function = cunei_compat_sys(names[i]);
        PyObject *hook = function ? PyObject_CallNoArgs(function) : NULL;
        traced |= hook != Py_None;
        Py_XDECREF(hook);
        Py_XDECREF(function);
    }
    return traced;
}

uint64_t cunei_cost_measure(struct cunei_source *source)
{
    /* No builtins in it: the program may have put others in their place. */
    static const char text[] = "def leaf(): pass\n"
                               "def loop():\n"
                               "    for _ in b'.' * 1000: leaf()\n";
    uint64_t cost_ps = 0;

    /*
     * Other tools would see these calls among the program's, and the events of other
     * threads would come before there is a recording for them.
     */
    if (cunei_world_has_other_threads() || source->methods->count_others(source) != 0 ||
        is_traced()) {
        PyErr_Clear();
        return 0;
    }
    PyObject *globals = PyDict_New();
    PyObject *code = Py_CompileString(text, "<cunei>", Py_file_input);
    PyObject *done = globals && code ? PyEval_EvalCode(code, globals, globals) : NULL;
    PyObject *loop = done ? PyDict_GetItemString(globals, "loop") : NULL; /* borrowed */
    PyObject *leaf = done ? PyDict_GetItemString(globals, "leaf") : NULL; /* borrowed */
    if (!done || set_words(loop, leaf) < 0)
        PyErr_Clear();
    else if (source->methods->prepare(source, false) == 0)
        cost_ps = measure_undisturbed(source, loop);
    Py_XDECREF(done);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    return cost_ps;
}
