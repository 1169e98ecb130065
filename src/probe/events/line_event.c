// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/events/line_event.h"

#include <stdatomic.h>

#include "probe/code/code.h"
#include "probe/code/line_table.h"
#include "probe/code/registry.h"
#include "probe/core/code_extra.h"
#include "probe/core/compat.h"
#include "probe/core/hot.h"
#include "probe/core/write.h"
#include "probe/events/function_event.h"
#include "probe/events/process.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/record_env.h"

#define UNIT 2 /* bytes of an instruction, or of a part of one */
static Py_ssize_t extra_index = -1;
static bool extra_inline;
static bool has_counter;                      /* see rt/clock.h */
static PyObject *disable;                     /* borrowed */
static const struct cunei_record_env *chosen; /* borrowed: until the recording ends */

void cunei_line_event_choose(const struct cunei_record_env *session)
{
    chosen = session;
}

/* A C function has neither a file nor lines. */
bool cunei_line_event_is_selected(const struct cunei_function *function)
{
    return chosen && chosen->lines.count && function->file[0] &&
           cunei_patterns_include(&chosen->lines, function->module, function->qualname,
                                  function->file);
}

/* Changes whenever a code object is freed whose lines were recorded. */
static _Atomic uint32_t epoch;

static void forget_code(void)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
}

void cunei_line_event_init(Py_ssize_t index, bool is_inline, PyObject *switch_off)
{
    extra_index = index;
    extra_inline = is_inline;
    has_counter = cunei_clock_has_counter(NULL);
    disable = switch_off;
    cunei_registry_watch_lined(forget_code);
}

static inline uint32_t read_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_relaxed);
}

/* The library call took 10 ns of a line. */
static inline uint64_t read_clock(void)
{
    return CUNEI_LIKELY(has_counter) ? cunei_clock_counter()
                                     : cunei_clock_ns(CLOCK_MONOTONIC);
}

static void write_line(PyCodeObject *code, uint32_t id, enum cunei_phase phase,
                       int line)
{
    uint64_t now;
    struct cunei_stream *stream =
        id && line > 0 ? cunei_write_room(&now, 2, true) : NULL;

    if (stream)
        cunei_stream_put_line(stream, now, phase, id, (uint32_t)line, code,
                              read_epoch());
}

/* The cold path. */
static __attribute__((noinline, cold)) void record_line(PyCodeObject *code, int line,
                                                        enum cunei_phase phase)
{
    struct cunei_cold_event event = cunei_process_begin_event(code);
    uint64_t tag = cunei_function_event_tag(code);
    if (tag && !(tag & CUNEI_CODE_OFF))
        write_line(code, cunei_code_id(tag), phase, line);
    cunei_cold_event_end(&event);
}

/* A line of the code object with this tag that is not near the last one. */
static __attribute__((noinline)) void put_far(PyCodeObject *code, uint64_t tag,
                                              uint64_t now, int line,
                                              enum cunei_phase phase)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (tag > CUNEI_TIME_MASK && line > 0 && cunei_stream_has_room(stream, now, 2))
        cunei_stream_put_line(stream, now, phase, cunei_record_class(tag),
                              (uint32_t)line, code, read_epoch());
    else
        record_line(code, line, phase);
}

/* Write the line if it is near the last one; else false. */
static inline __attribute__((always_inline)) bool put_near(const void *code,
                                                           uint64_t now, uint32_t line,
                                                           enum cunei_phase phase)
{
    struct cunei_stream *stream = cunei_stream_own;

    if (!CUNEI_LIKELY(line > 0 &&
                      cunei_stream_is_near(stream, code, read_epoch(), line) &&
                      cunei_stream_has_room(stream, now, 1)))
        return false;
    cunei_stream_put_near(stream, now, phase, line);
    return true;
}

static uint64_t tag_of(PyCodeObject *code)
{
    return extra_inline ? cunei_code_extra_inline(code, extra_index)
                        : cunei_code_extra_call(code, extra_index);
}

static __attribute__((noinline)) PyObject *far_line(PyObject *const *args, uint64_t now)
{
    PyCodeObject *code = (PyCodeObject *)args[0];

    if (Py_IS_TYPE(args[0], &PyCode_Type))
        put_far(code, tag_of(code), now, cunei_compat_small(args[1]),
                CUNEI_PHASE_ENTER);
    Py_RETURN_NONE;
}

/*
 * The hot path.  The code object is compared with that of the last line, and not read.
 * There are no calls but the tail call of the other half: saving a register would cost
 * as much as the stores.
 */
static inline __attribute__((always_inline)) PyObject *line_hot(PyObject *const *args,
                                                                size_t count,
                                                                bool counter)
{
    if (!CUNEI_LIKELY(PyVectorcall_NARGS(count) >= 2 && PyLong_CheckExact(args[1])))
        Py_RETURN_NONE;
    uint64_t now = counter ? cunei_clock_counter() : cunei_clock_ns(CLOCK_MONOTONIC);
    if (!put_near(args[0], now, cunei_compat_digit(args[1]), CUNEI_PHASE_ENTER))
        return far_line(args, now);
    Py_RETURN_NONE;
}

#define HOT_CALLBACK(name, counter)                                            \
    static PyObject *name(PyObject *self, PyObject *const *args, size_t count, \
                          PyObject *names)                                     \
    {                                                                          \
        (void)self;                                                            \
        (void)names;                                                           \
        return line_hot(args, count, counter);                                 \
    }

HOT_CALLBACK(on_line_counter, true)
HOT_CALLBACK(on_line_system, false)

vectorcallfunc cunei_line_event_on_line(void)
{
    return has_counter ? on_line_counter : on_line_system;
}

bool cunei_line_event_prepare(PyCodeObject *code)
{
    struct cunei_line_table *table =
        cunei_code_is_seen(code) && cunei_line_table_is_needed(code)
            ? cunei_line_table_new(code)
            : NULL;

    if (table)
        cunei_code_set_table(code, table);
    return table != NULL;
}

/* Disable an instruction that begins no line. */
static PyObject *on_instruction(PyObject *self, PyObject *const *args, size_t count,
                                PyObject *names)
{
    (void)self;
    (void)names;
    if (PyVectorcall_NARGS(count) < 2 || !Py_IS_TYPE(args[0], &PyCode_Type) ||
        !PyLong_CheckExact(args[1]))
        Py_RETURN_NONE;
    PyCodeObject *code = (PyCodeObject *)args[0];
    uint64_t tag = cunei_code_extra_call(code, extra_index);
    const struct cunei_line_table *table = cunei_code_table(tag);
    uint32_t unit = (uint32_t)cunei_compat_small(args[1]) / UNIT;
    if (!table || unit >= table->count || table->lines[unit] == 0)
        return Py_NewRef(disable);
    uint64_t now = read_clock();
    uint32_t line = table->lines[unit];
    if (!put_near(code, now, line, CUNEI_PHASE_YIELD))
        put_far(code, tag, now, (int)line, CUNEI_PHASE_YIELD);
    Py_RETURN_NONE;
}

vectorcallfunc cunei_line_event_on_instruction(void)
{
    return on_instruction;
}

/* Where code begins: a generator that has not started is before that, in no line. */
static int first_offset(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
    return code->_co_firsttraceable * (int)UNIT;
#else
    (void)code;
    return 0;
#endif
}

void cunei_line_event_resume(PyCodeObject *code, uint64_t tag, int offset)
{
    if (offset >= first_offset(code) && cunei_code_tag(code) == tag)
        write_line(code, cunei_code_id(tag), CUNEI_PHASE_RESUME,
                   PyCode_Addr2Line(code, offset));
}

/* In a forked child the tag may be the parent's: it is made anew. */
void cunei_line_event_record(PyCodeObject *code, int line)
{
    uint64_t now = read_clock(), tag;

    if (CUNEI_LIKELY(line > 0 &&
                     put_near(code, now, (uint32_t)line, CUNEI_PHASE_ENTER)))
        return;
    tag = tag_of(code);
    if (tag & (CUNEI_CODE_LINED | CUNEI_CODE_STALE))
        put_far(code, tag, now, line, CUNEI_PHASE_ENTER);
}
