// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/line_table.h"

#include <stdlib.h>

#include "probe/core/compat.h"
#include "probe/core/exception_table.h"

#if CUNEI_COMPAT_SLOW_LINES
#define UNIT 2 /* bytes of an instruction, or of a part of one */

/* Lines further below the first do not fit into CPython's table. */
#define NEAR_LINES 127

/* Called for each range of instructions with the same line; -1: no line. */
typedef void visitor(void *context, int begin, int end, int line);

static void visit_lines(PyCodeObject *code, visitor *visit, void *context)
{
    PyObject *lines = PyObject_CallMethod((PyObject *)code, "co_lines", NULL);
    PyObject *item = NULL;

    while (lines && (item = PyIter_Next(lines))) {
        PyObject *begin = PyTuple_GET_ITEM(item, 0), *end = PyTuple_GET_ITEM(item, 1);
        PyObject *line = PyTuple_GET_ITEM(item, 2);
        visit(context, cunei_compat_small(begin), cunei_compat_small(end),
              Py_IsNone(line) ? -1 : cunei_compat_small(line));
        Py_DECREF(item);
    }
    PyErr_Clear();
    Py_XDECREF(lines);
}

static void find_last(void *context, int begin, int end, int line)
{
    int *last = context;
    (void)begin;
    (void)end;

    if (line > *last)
        *last = line;
}

bool cunei_line_table_is_needed(PyCodeObject *code)
{
    int last = 0;

    if (!cunei_compat_lines_are_slow())
        return false;
    visit_lines(code, find_last, &last);
    return last - code->co_firstlineno > NEAR_LINES;
}

/* A table under construction. */
struct making {
    struct cunei_line_table *table;
    int *lines; /* owned: of each code unit; -1: none */
    const uint8_t *bytes;
};

static void note_lines(void *context, int begin, int end, int line)
{
    struct making *making = context;

    for (int i = begin / UNIT; i >= 0 && i < end / UNIT; i++) {
        if ((uint32_t)i < making->table->count)
            making->lines[i] = line;
    }
}

/*
 * A line may begin at this unit.  One too many does no harm: an instruction of the
 * frame's current line begins nothing.
 */
static void mark(struct making *making, long unit)
{
    if (unit >= 0 && unit < (long)making->table->count && making->lines[unit] > 0 &&
        cunei_compat_begins_lines(making->bytes[unit * UNIT]))
        making->table->lines[unit] = (uint32_t)making->lines[unit];
}

/* The target of a jump, or of an exception; END_FOR and the like are skipped there. */
static void mark_target(struct making *making, long unit)
{
    for (long i = 0; i < 3; i++)
        mark(making, unit + i);
}

static void mark_jumps(struct making *making)
{
    const uint8_t *bytes = making->bytes;
    long count = making->table->count, argument = 0;

    for (long i = 0; i < count; i++) {
        uint8_t opcode = bytes[i * UNIT];
        int way = cunei_compat_jumps(opcode);
        argument = argument << 8 | bytes[i * UNIT + 1];
        if (opcode == EXTENDED_ARG)
            continue;
        long next = i + 1;
        while (next < count && bytes[next * UNIT] == CACHE)
            next++;
        if (way != 0)
            mark_target(making, next + way * argument);
        i = next - 1;
        argument = 0;
    }
}

static void mark_handlers(struct making *making, PyCodeObject *code)
{
    PyObject *text = code->co_exceptiontable;
    if (!text || !PyBytes_Check(text))
        return;
    const uint8_t *at = (const uint8_t *)PyBytes_AS_STRING(text);
    const uint8_t *end = at + PyBytes_GET_SIZE(text);

    while (at && at < end) {
        struct cunei_exception_entry entry;
        at = cunei_exception_table_read(at, end, &entry);
        if (at)
            mark_target(making, entry.handler);
    }
}

struct cunei_line_table *cunei_line_table_new(PyCodeObject *code)
{
    PyObject *bytes = PyCode_GetCode(code);
    size_t count = bytes ? (size_t)PyBytes_GET_SIZE(bytes) / UNIT : 0;
    struct making making = {
        .table = calloc(1, sizeof(struct cunei_line_table) + count * sizeof(uint32_t)),
        .lines = calloc(count + 1, sizeof(int)),
        .bytes = bytes ? (const uint8_t *)PyBytes_AS_STRING(bytes) : NULL,
    };

    if (!bytes || !making.table || !making.lines) {
        free(making.table);
        making.table = NULL;
    } else {
        int before = -1;
        making.table->count = (uint32_t)count;
        visit_lines(code, note_lines, &making);
        for (size_t i = 0; i < count; i++) {
            if (making.lines[i] > 0 && making.lines[i] != before)
                mark(&making, (long)i);
            if (cunei_compat_begins_lines(making.bytes[i * UNIT]))
                before = making.lines[i];
        }
        mark_jumps(&making);
        mark_handlers(&making, code);
    }
    PyErr_Clear();
    Py_XDECREF(bytes);
    free(making.lines);
    return making.table;
}
#else
bool cunei_line_table_is_needed(PyCodeObject *code)
{
    (void)code;
    return false;
}

struct cunei_line_table *cunei_line_table_new(PyCodeObject *code)
{
    (void)code;
    return NULL;
}
#endif
