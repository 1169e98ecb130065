// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/code/line.h"

#include "probe/core/compat.h"

#define STEP      2 /* bytes of an instruction, or of a part of one */
#define STEPS_MAX 32

/* The nearest line in one direction, else the function's own. */
static uint32_t look_up(PyCodeObject *code, int offset, int step)
{
    int line = PyCode_Addr2Line(code, offset);

    for (int i = 0; line < 0 && offset + step >= 0 && i < STEPS_MAX; i++) {
        offset += step;
        line = PyCode_Addr2Line(code, offset);
    }
    if (line < 0)
        line = code->co_firstlineno;
    return line > 0 ? (uint32_t)line : 0;
}

static uint32_t find(struct cunei_line_cache *lines, PyCodeObject *code, int offset,
                     int step)
{
    uint32_t version = cunei_compat_version(code);
    uint32_t place = (version * 31 + (uint32_t)offset / STEP) % CUNEI_LINES_COUNT;

    if (version == 0) /* there is no line, or no other one in this direction */
        return look_up(code, offset, step);
    if (lines->known[place].version != version ||
        lines->known[place].offset != offset) {
        lines->known[place].line = look_up(code, offset, step);
        lines->known[place].version = version;
        lines->known[place].offset = offset;
    }
    return lines->known[place].line;
}

uint32_t cunei_line_cache_before(struct cunei_line_cache *lines, PyCodeObject *code,
                                 int offset)
{
    return find(lines, code, offset, -STEP);
}

uint32_t cunei_line_cache_after(struct cunei_line_cache *lines, PyCodeObject *code,
                                int offset)
{
    return find(lines, code, offset, STEP);
}
