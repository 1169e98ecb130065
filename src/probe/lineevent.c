// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/lineevent.h"

#include "probe/code.h"
#include "probe/compat.h"
#include "probe/event.h"
#include "probe/extra.h"
#include "probe/linetable.h"
#include "probe/process.h"
#include "probe/write.h"
#include "rt/clock.h"
#include "rt/recorder.h"
#include "wire/session.h"

#define UNIT              2 /* bytes of an instruction, or of a part of one */
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

static Py_ssize_t extra_index = -1;
static bool extra_inline;
static PyObject *disable;                  /* borrowed */
static const struct cunei_session *chosen; /* borrowed: until the recording ends */

void cunei_lineevent_init(Py_ssize_t index, bool is_inline, PyObject *switch_off)
{
    extra_index = index;
    extra_inline = is_inline;
    disable = switch_off;
}

void cunei_lineevent_choose(const struct cunei_session *session)
{
    chosen = session;
}

/* A function that is written in C has neither a file nor lines. */
bool cunei_lineevent_wants(const struct cunei_function *function)
{
    return chosen && chosen->lines.count && function->file[0] &&
           cunei_patterns_include(&chosen->lines, function->module, function->qualname,
                                  function->file);
}

static void write_line(uint32_t id, enum cunei_phase phase, int line)
{
    uint64_t words[] = {cunei_record(0, CUNEI_CLASS_LINE, phase),
                        (uint64_t)id << 32 | (uint32_t)line};

    if (id && line > 0)
        cunei_write_words(words, 2, true);
}

static void tell_line(PyCodeObject *code, int line, enum cunei_phase phase)
{
    struct cunei_compat_error pending = cunei_compat_put_aside();

    cunei_process_event(code);
    uint32_t before = cunei_recorder_begin_event();
    uint64_t word = cunei_event_word(code);
    if (word && !(word & CUNEI_CODE_OFF))
        write_line(cunei_code_id(word), phase, line);
    cunei_recorder_end_event(before);
    cunei_compat_put_back(&pending);
}

/* What the hot path leaves undone. */
static __attribute__((noinline, cold)) PyObject *line_cold(PyObject *const *args)
{
    tell_line((PyCodeObject *)args[0], cunei_compat_small(args[1]), CUNEI_PHASE_ENTER);
    Py_RETURN_NONE;
}

/*
 * The hot path, as that of calls: see callback.c.  It calls nothing, but for the cold
 * half in its place: a register that had to be saved would cost as much as the stores.
 */
static inline __attribute__((always_inline)) PyObject *line_hot(PyObject *const *args,
                                                                size_t count,
                                                                bool counter,
                                                                bool is_inline)
{
    if (!LIKELY(PyVectorcall_NARGS(count) >= 2 && Py_IS_TYPE(args[0], &PyCode_Type) &&
                PyLong_CheckExact(args[1])))
        Py_RETURN_NONE;
    PyCodeObject *code = (PyCodeObject *)args[0];
    uint64_t word = is_inline ? cunei_extra_inline(code, extra_index)
                              : cunei_extra_call(code, extra_index);
    uint64_t now = counter ? cunei_clock_counter() : cunei_clock_ns(CLOCK_MONOTONIC);
    struct cunei_stream *stream = cunei_stream_own;
    uint32_t line = cunei_compat_digit(args[1]);
    if (!LIKELY(word > CUNEI_TIME_MASK && line > 0 &&
                cunei_stream_has_room(stream, now, 2)))
        return line_cold(args);
    cunei_stream_put_two(stream, now,
                         cunei_record(now, CUNEI_CLASS_LINE, CUNEI_PHASE_ENTER),
                         word >> CUNEI_CLASS_SHIFT << 32 | line);
    Py_RETURN_NONE;
}

#define HOT_CALLBACK(name, counter, is_inline)                                 \
    static PyObject *name(PyObject *self, PyObject *const *args, size_t count, \
                          PyObject *names)                                     \
    {                                                                          \
        (void)self;                                                            \
        (void)names;                                                           \
        return line_hot(args, count, counter, is_inline);                      \
    }

HOT_CALLBACK(counter_inline, true, true)
HOT_CALLBACK(counter_call, true, false)
HOT_CALLBACK(system_inline, false, true)
HOT_CALLBACK(system_call, false, false)

vectorcallfunc cunei_lineevent_on_line(void)
{
    if (cunei_clock_has_counter(NULL))
        return extra_inline ? counter_inline : counter_call;
    return extra_inline ? system_inline : system_call;
}

bool cunei_lineevent_prepare(PyCodeObject *code)
{
    uint64_t word = cunei_code_word(code);
    struct cunei_linetable *table =
        word && cunei_linetable_is_needed(code) ? cunei_linetable_new(code) : NULL;

    if (table)
        cunei_code_set_table(word, table);
    return table != NULL;
}

/* An instruction that no line begins with is not heard of again. */
static PyObject *on_instruction(PyObject *self, PyObject *const *args, size_t count,
                                PyObject *names)
{
    (void)self;
    (void)names;
    if (PyVectorcall_NARGS(count) < 2 || !Py_IS_TYPE(args[0], &PyCode_Type) ||
        !PyLong_CheckExact(args[1]))
        Py_RETURN_NONE;
    PyCodeObject *code = (PyCodeObject *)args[0];
    uint64_t word = cunei_extra_call(code, extra_index);
    const struct cunei_linetable *table = cunei_code_table(word);
    uint32_t unit = (uint32_t)cunei_compat_small(args[1]) / UNIT;
    if (!table || unit >= table->count || table->lines[unit] == 0)
        return Py_NewRef(disable);
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_stream_own;
    uint32_t line = table->lines[unit];
    if (!LIKELY(word > CUNEI_TIME_MASK && cunei_stream_has_room(stream, now, 2)))
        tell_line(code, (int)line, CUNEI_PHASE_YIELD);
    else
        cunei_stream_put_two(stream, now,
                             cunei_record(now, CUNEI_CLASS_LINE, CUNEI_PHASE_YIELD),
                             word >> CUNEI_CLASS_SHIFT << 32 | line);
    Py_RETURN_NONE;
}

vectorcallfunc cunei_lineevent_on_instruction(void)
{
    return on_instruction;
}

void cunei_lineevent_resume(PyCodeObject *code, uint64_t word, int offset)
{
    if (offset >= 0 && cunei_code_word(code) == word)
        write_line(cunei_code_id(word), CUNEI_PHASE_RESUME,
                   PyCode_Addr2Line(code, offset));
}

void cunei_lineevent_tell(PyCodeObject *code, uint64_t word, int line)
{
    uint64_t now = cunei_clock_read();
    struct cunei_stream *stream = cunei_stream_own;

    if (!LIKELY(word > CUNEI_TIME_MASK && line > 0 &&
                cunei_stream_has_room(stream, now, 2)))
        tell_line(code, line, CUNEI_PHASE_ENTER);
    else
        cunei_stream_put_two(stream, now,
                             cunei_record(now, CUNEI_CLASS_LINE, CUNEI_PHASE_ENTER),
                             word >> CUNEI_CLASS_SHIFT << 32 | (uint32_t)line);
}
