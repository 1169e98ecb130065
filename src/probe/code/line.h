// SPDX-License-Identifier: MIT
/*
 * Lines of instructions, with a small memory: CPython walks through a table of the
 * whole function for each.
 */
#ifndef CUNEI_PROBE_CODE_LINE_H
#define CUNEI_PROBE_CODE_LINE_H

#include <Python.h>

#include <stdint.h>

#define CUNEI_LINES_COUNT 32u

/* What was looked up last; {0}: nothing.  Private. */
struct cunei_line_cache {
    struct {
        uint32_t version; /* of the code object: no two ever have the same */
        int offset;
        uint32_t line;
    } known[CUNEI_LINES_COUNT];
};

/*
 * The line of the instruction at this offset in bytes.  Some have none, because the
 * compiler made them up: then that of the one before it, or after it, that has.
 */
uint32_t cunei_line_cache_before(struct cunei_line_cache *lines, PyCodeObject *code,
                                 int offset);
uint32_t cunei_line_cache_after(struct cunei_line_cache *lines, PyCodeObject *code,
                                int offset);

#endif
