// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/budget/event_cost.h"

#include <signal.h>
#include <stdlib.h>

#include "probe/code/registry.h"
#include "probe/core/compat.h"
#include "probe/core/world.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/event.h"

#define CALLS      1000.0
#define ROUNDS     5
#define ROUNDS_MAX 20 /* under a budget, which is kept by it */

/* Events go to a stream over private memory, which replaces ours meanwhile. */
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
static double time_loop(PyObject *loop)
{
    uint64_t start_ns = cunei_clock_ns(CLOCK_MONOTONIC);
    PyObject *result = PyObject_CallNoArgs(loop);
    uint64_t elapsed_ns = cunei_clock_ns(CLOCK_MONOTONIC) - start_ns;

    Py_XDECREF(result);
    return result ? (double)elapsed_ns : 0;
}

/* The same with events on; 0: it failed. */
static double time_traced(struct cunei_source *source, PyObject *loop,
                          struct scratch *scratch)
{
    double ns = 0;

    scratch_begin(scratch);
    if (source->methods->record(source) == 0)
        ns = time_loop(loop);
    scratch_end(scratch);
    struct cunei_compat_error error = cunei_compat_put_aside();
    source->methods->pause(source);
    cunei_compat_put_back(&error);
    return ns;
}

/* The same with calls of the leaf counted, as they are under a budget. */
static double time_counted(struct cunei_source *source, PyObject *loop,
                           PyCodeObject *leaf, bool twice)
{
    source->methods->set_level(source, leaf, CUNEI_LEVEL_COUNTED, twice);
    (void)time_loop(loop); /* the first call behind a switch is another one's */
    double ns = time_loop(loop);
    source->methods->set_level(source, leaf, CUNEI_LEVEL_OFF, false);
    return ns;
}

/* Words without a definition behind them: no trace will ever hold their records. */
static int set_tags(PyObject *loop, PyObject *leaf, uint64_t tag)
{
    PyObject *functions[] = {loop, leaf};

    for (size_t i = 0; i < 2; i++) {
        PyObject *code = functions[i] && PyFunction_Check(functions[i])
                             ? PyFunction_GetCode(functions[i])
                             : NULL;
        if (!code || cunei_registry_set_tag((PyCodeObject *)code, tag) < 0)
            return -1;
    }
    return 0;
}

/* One round, in nanoseconds: what each kind of loop took. */
struct round {
    double plain_ns, counted_ns, twice_ns, traced_ns;
};

/* false: one of them failed. */
static bool measure_round(struct cunei_source *source, PyObject *loop, PyObject *leaf,
                          struct scratch *scratch, bool counts, struct round *round)
{
    *round = (struct round){.plain_ns = time_loop(loop)};
    if (counts) {
        if (set_tags(loop, leaf, CUNEI_CODE_DEMOTED | CUNEI_CODE_COUNTED) < 0)
            return false;
        PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(leaf);
        round->counted_ns = time_counted(source, loop, code, false);
        round->twice_ns = time_counted(source, loop, code, true);
    }
    if (set_tags(loop, leaf, (uint64_t)CUNEI_FUNCTION_FIRST << CUNEI_CLASS_SHIFT) < 0)
        return false;
    round->traced_ns = time_traced(source, loop, scratch);
    return round->plain_ns > 0 && round->traced_ns > 0 &&
           (!counts || (round->counted_ns > 0 && round->twice_ns > 0));
}

static int compare(const void *a, const void *b)
{
    const double *one = a, *two = b;

    return *one < *two ? -1 : *one > *two;
}

static double middle(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return values[count / 2] > 0 ? values[count / 2] : 0;
}

/*
 * Plain, counted and recorded in turns.  Only what one round has taken is compared: the
 * machine may be slower or faster in the next.  The functions' own words make the
 * difference.
 */
static void measure(struct cunei_source *source, PyObject *loop, PyObject *leaf,
                    struct cunei_event_cost *cost)
{
    bool counts = source->config.has_budget && source->methods->set_level;
    int rounds = counts ? ROUNDS_MAX : ROUNDS;
    double event_ns[ROUNDS_MAX], count_ns[ROUNDS_MAX], end_part[ROUNDS_MAX];
    struct scratch scratch;
    struct round round;
    bool is_good = scratch_init(&scratch) == 0;

    for (int i = 0; i < rounds && is_good; i++) {
        is_good = measure_round(source, loop, leaf, &scratch, counts, &round);
        event_ns[i] = (round.traced_ns - round.plain_ns) / (2 * CALLS);
        count_ns[i] = (round.counted_ns - round.plain_ns) / CALLS;
        end_part[i] = (round.twice_ns - round.counted_ns) / CALLS / (count_ns[i] + 0.1);
    }
    free(scratch.stream.packet);
    if (!is_good)
        return;
    cost->event_ps = (uint64_t)(1000 * middle(event_ns, rounds));
    if (!counts)
        return;
    cost->count_ps = (uint64_t)(1000 * middle(count_ns, rounds));
    cost->end_part = middle(end_part, rounds);
}

/*
 * The same with signals kept for later: the loop is no place for their handlers, which
 * may raise.
 */
static void measure_undisturbed(struct cunei_source *source, PyObject *loop,
                                PyObject *leaf, struct cunei_event_cost *cost)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    measure(source, loop, leaf, cost);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
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

void cunei_event_cost_measure(struct cunei_source *source,
                              struct cunei_event_cost *cost)
{
    /* No builtins in it: the program may have put others in their place. */
    static const char text[] = "def leaf(): pass\n"
                               "def loop():\n"
                               "    for _ in b'.' * 1000: leaf()\n";
    /*
     * A source that is silent has none.  Other tools would see these calls among the
     * program's, and the events of other threads would come before there is a recording
     * for them.
     */
    if (source->kind->only_decorated || cunei_world_has_other_threads() ||
        source->methods->count_others(source) != 0 || is_traced()) {
        PyErr_Clear();
        return;
    }
    struct cunei_source_config config = source->config;
    config.is_selective = false;
    PyObject *globals = PyDict_New();
    PyObject *code = Py_CompileString(text, "<cunei>", Py_file_input);
    PyObject *done = globals && code ? PyEval_EvalCode(code, globals, globals) : NULL;
    PyObject *loop = done ? PyDict_GetItemString(globals, "loop") : NULL; /* borrowed */
    PyObject *leaf = done ? PyDict_GetItemString(globals, "leaf") : NULL; /* borrowed */
    if (!done)
        PyErr_Clear();
    else if (source->methods->prepare(source, &config) == 0)
        measure_undisturbed(source, loop, leaf, cost);
    Py_XDECREF(done);
    Py_XDECREF(code);
    Py_XDECREF(globals);
}
