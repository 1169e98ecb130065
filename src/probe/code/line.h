// SPDX-License-Identifier: MIT
/*
 * Lines of instructions, with a small cache: CPython reads a table of the whole
 * function for each.
 */
#ifndef CUNEI_PROBE_CODE_LINE_H
#define CUNEI_PROBE_CODE_LINE_H

#include <Python.h>

#include <stdint.h>

#define CUNEI_LINES_COUNT 32u

/* The last lookups; {0}: none.  Private. */
struct cunei_line_cache {
    struct {
        uint32_t version; /* of the code object: no two ever have the same */
        int offset;
        uint32_t line;
    } known[CUNEI_LINES_COUNT];
};

/*
 * The line of the instruction at this offset in bytes.  Instructions that the compiler
 * adds have none: then that of the nearest one before it, or after it.
 */
uint32_t cunei_line_cache_before(struct cunei_line_cache *lines, PyCodeObject *code,
                                 int offset);
uint32_t cunei_line_cache_after(struct cunei_line_cache *lines, PyCodeObject *code,
                                int offset);

#endif
