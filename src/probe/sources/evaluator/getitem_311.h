// SPDX-License-Identifier: MIT
/*
 * CPython 3.11.0 to 3.11.3 ask no evaluator of frames where a subscript is specialized
 * to the `__getitem__` that is written in Python (gh-104405; later ones do not
 * specialize it while there is an evaluator).
 *
 * Such a place holds its function's version in 16 bits, and is none for a function
 * whose version takes more.  So all versions of 16 bits are used up, once in a process,
 * and functions that have one already lose it, as they do when they are changed:
 * places that are specialized do not know them again, and no other can become so.
 * Calls are specialized by versions of 32 bits, and go on to be.
 */
#ifndef CUNEI_PROBE_SOURCES_EVALUATOR_GETITEM_311_H
#define CUNEI_PROBE_SOURCES_EVALUATOR_GETITEM_311_H

#include <Python.h>

/*
 * See to it that evaluators hear of every `__getitem__` from now on, in all threads.
 * 0, or -1 with an exception set: that of a handler of a signal, or no memory.
 */
#if PY_VERSION_HEX >= 0x030b0000
int cunei_getitem_311_record_all(void);
#else
static inline int cunei_getitem_311_record_all(void)
{
    return 0;
}
#endif

#endif
